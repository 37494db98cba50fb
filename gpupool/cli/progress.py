"""Progress on standard error: live lines on a terminal, a line for each change elsewhere."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from gpupool.reports.apply.progress import format_address, format_line
from gpupool.reports.escaping import encodable, one_line

if TYPE_CHECKING:
    import rich.progress

    from gpupool.rollout.watch.waiting import Progress


_WITHOUT_CURSOR = ("dumb", "unknown")


class ProgressDisplay:
    """Display of progress, on a stream or a terminal; thread-safe."""

    def __init__(self, stream: TextIO, bars: "rich.progress.Progress | None" = None) -> None:
        """Write to a stream, or to a terminal through `bars`."""
        self._stream = stream
        self._bars = bars
        self._shown: dict[tuple[str, str], rich.progress.TaskID] = {}
        self._printed: set[str] = set()
        self._lock = threading.Lock()

    def __call__(self, progress: "Progress") -> None:
        """Show the state of an object."""
        with self._lock:
            if self._bars is None:
                self._print(format_line(progress))
            else:
                self._show(progress, self._bars)

    def print_line(self, text: str) -> None:
        """Print a permanent line, above the live ones."""
        with self._lock:
            self._print(one_line(text))

    def _show(self, progress: "Progress", bars: "rich.progress.Progress") -> None:
        """Update the line of an object that is waited for; print the last line of any other once."""
        key = progress.kind, progress.name
        if progress.readiness.is_ready or progress.readiness.is_hopeless:
            if key in self._shown:
                bars.remove_task(self._shown.pop(key))
                bars.refresh()
            if (last_line := format_line(progress)) not in self._printed:
                self._printed.add(last_line)
                self._print(last_line)
            return
        text = encodable(f"{format_address(progress)}: {one_line(progress.readiness.reason)}")
        if key in self._shown:
            bars.update(self._shown[key], description=text)
        else:
            self._shown[key] = bars.add_task(text, total=None)

    def _print(self, text: str) -> None:
        if self._bars is not None:
            self._bars.console.print(
                encodable(text), markup=False, emoji=False, highlight=False, soft_wrap=True
            )
            return
        self._stream.write(encodable(f"{text}\n"))
        self._stream.flush()


@contextmanager
def show_progress(stream: TextIO | None = None) -> Iterator[ProgressDisplay]:
    """Show progress while the block runs; the cursor is restored however it ends."""
    output = stream or sys.stderr
    if not output.isatty() or os.environ.get("TERM") in _WITHOUT_CURSOR:
        yield ProgressDisplay(output)
        return
    with _build_bars(output) as bars:
        yield ProgressDisplay(output, bars)


def _build_bars(stream: TextIO) -> "rich.progress.Progress":
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    # A plain spinner and no ellipsis, for terminals that support only ASCII.
    column = Column(no_wrap=True, overflow="crop", ratio=1)
    text = TextColumn("{task.description}", markup=False, table_column=column)
    return Progress(
        SpinnerColumn("line"),
        TimeElapsedColumn(),
        text,
        console=Console(file=stream),
        transient=True,
        expand=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
