"""Real shells on a terminal, asked what they complete a line to."""

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.run import SECONDS

_ALL, _TAB, _REPORT = "\x18i", "\t", "\x18d"
"""Keys that the start-up files bind: insert every match; complete; write the line to the report, and empty it."""

_END = "\x01\n"

_BASH = r"""
eval "$(gpupool completion bash)"
bind 'set enable-bracketed-paste off'
bind 'set completion-query-items 0'
bind 'set page-completions off'
report() {
    printf '%s\001\n' "$READLINE_LINE" > "$REPORT.new"; mv "$REPORT.new" "$REPORT"
    READLINE_LINE= READLINE_POINT=0
}
bind -x '"\C-xd": report'
bind '"\C-xi": insert-completions'
printf '\001\n' > "$REPORT"
"""
_ZSH = r"""
autoload -Uz compinit; compinit -u -d "$REPORT.dump"
eval "$(gpupool completion zsh)"
unset zle_bracketed_paste
LISTMAX=10000
report() { print -rn -- "$BUFFER" > "$REPORT.new"; printf '\001\n' >> "$REPORT.new"; mv "$REPORT.new" "$REPORT"; BUFFER= }
zle -N report
bindkey '^Xd' report
zle -C all-matches complete-word _generic
bindkey '^Xi' all-matches
zstyle ':completion:all-matches:*' completer _all_matches _complete
zstyle ':completion:all-matches:*' insert true
printf '\001\n' > "$REPORT"
"""
_START = {"bash": (["bash", "--norc", "--noprofile", "-i"], _BASH), "zsh": (["zsh", "-f", "-i"], _ZSH)}


def installed(shell: str) -> str:
    """Return the shell's program; without it the test is skipped, but fails in CI, which installs it."""
    program = shutil.which(shell)
    if program is not None:
        return program
    if os.environ.get("CI") == "true":
        pytest.fail(f"{shell} is not installed; .ci/packages installs it")
    pytest.skip(f"{shell} is not installed")


def surroundings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a shell that finds this Python's gpupool."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HISTFILE": "", **environment}


class Shell:
    """An interactive shell with gpupool's completion."""

    def __init__(self, terminal: int, report: Path) -> None:
        self._terminal = terminal
        self._report = report
        self._shown = b""

    def words(self, line: str) -> list[str]:
        """Return the words that the shell offers for the last one of a line, as it writes them."""
        kept = line.rpartition(" ")[0]
        completed = self.press(line + _ALL)
        assert completed.startswith(kept), completed
        offered = completed.removeprefix(kept).split()
        return [] if offered == line.removeprefix(kept).split() and not completed.endswith(" ") else offered

    def completed(self, line: str) -> str:
        """Return what the line becomes when Tab is pressed once."""
        return self.press(line + _TAB)

    def press(self, keys: str) -> str:
        """Return the line that some keys leave behind."""
        os.write(self._terminal, (keys + _REPORT).encode())
        return self.read_report()

    def read_report(self) -> str:
        """Wait until the shell has written the report, and return it."""
        end = time.monotonic() + SECONDS
        while not self._report.exists():
            # What the shell shows has to be taken away, or it waits for that.
            if select.select([self._terminal], [], [], 0.01)[0]:
                self._shown += os.read(self._terminal, 65536)
            assert time.monotonic() < end, self._shown.decode(errors="replace")
        text = self._report.read_text("utf-8")
        self._report.unlink()
        assert text.endswith(_END)
        return text.removesuffix(_END)


@contextmanager
def interactive(name: str, folder: Path, place: Path, environment: Mapping[str, str]) -> Iterator[Shell]:
    """Start a shell in `folder`; its own files are in `place`."""
    program = installed(name)
    (_, *arguments), start = _START[name]
    report = place / "report"
    (place / "start").write_text(start, "utf-8")
    process, terminal = pty.fork()
    if process == 0:  # pragma: no cover - the other process
        os.chdir(folder)
        os.execvpe(  # noqa: S606 - the shell is what is tested
            program, [name, *arguments], surroundings({"TERM": "xterm", "REPORT": str(report), **environment})
        )
    try:
        os.write(terminal, f". '{place / 'start'}'\n".encode())
        shell = Shell(terminal, report)
        shell.read_report()
        yield shell
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


def fish_words(lines: Sequence[str], folder: Path, environment: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the words that fish offers for the last one of each line."""
    code = "gpupool completion fish | source; for line in $argv; echo \\t$line; complete -C $line; end"
    ended = subprocess.run(
        [installed("fish"), "--no-config", "-c", code, *lines], cwd=folder, env=surroundings(environment),
        capture_output=True, text=True, check=True, timeout=SECONDS,
    )  # fmt: skip
    assert ended.stderr == ""
    answers = ended.stdout.removeprefix("\t").split("\n\t")
    words = [[each.partition("\t")[0] for each in answer.splitlines()[1:]] for answer in answers]
    return dict(zip(lines, words, strict=True))
