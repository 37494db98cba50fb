"""Exec credential plugins of a kubeconfig, run with limits on time and output."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from kubernetes.config import ConfigException, kube_config
from kubernetes.config.exec_provider import ExecProvider

from gpupool.yamlio.located import plain_map

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpupool.cluster.deadline import Deadline
    from gpupool.yamlio.located import Plain

_LIBRARY: Any = kube_config
"""The library has no option for how a plugin is run, so its class is replaced."""

_MOST_BYTES: Final = 1 << 20
_CHUNK: Final = 1 << 16
_STEP: Final = 0.05
_LINGER_SECONDS: Final = 1.0
"""How long output is read after a plugin has ended, as children that it left behind may still write."""

_CLUSTER_EXTENSION: Final = "client.authentication.k8s.io/exec"
_one_at_a_time = threading.Lock()


@contextmanager
def bound_plugins(deadline: Deadline) -> Iterator[None]:
    """End plugins that the client library starts in this block at a deadline or after a signal."""

    class Plugin(_Plugin):
        command_deadline = deadline

    with _one_at_a_time:
        before = _LIBRARY.ExecProvider
        _LIBRARY.ExecProvider = Plugin
        try:
            yield
        finally:
            _LIBRARY.ExecProvider = before


class _Plugin(ExecProvider):
    """A plugin that is run as by the library, with limits."""

    command_deadline: Deadline

    def run(self, previous_response: object = None) -> Mapping[str, Plain]:
        """Return the `status` of the plugin's output.

        Raises:
            ConfigException: where it prints no credentials in time.
        """
        del previous_response
        is_interactive = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
        environment = {**self.env, "KUBERNETES_EXEC_INFO": json.dumps(self._exec_info(is_interactive))}
        child = subprocess.Popen(  # noqa: S603 - the user's kubeconfig names it
            self.args,
            stdin=None if is_interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if is_interactive else subprocess.PIPE,
            cwd=self.cwd,
            env=environment,
            # A group can be ended with all children; a plugin that prompts stays in the terminal's group.
            start_new_session=not is_interactive,
        )
        try:
            out, err = _read(child, self.args[0], self.command_deadline)
            code = child.wait(_LINGER_SECONDS)
        except subprocess.TimeoutExpired:
            message = f"the plugin {self.args[0]} does not end"
            raise ConfigException(message) from None
        finally:
            _end(child, whole_group=not is_interactive)
        return self._status(code, out, err)

    def _exec_info(self, is_interactive: bool) -> dict[str, object]:
        spec: dict[str, object] = {"interactive": is_interactive}
        if self.cluster:
            cluster = plain_map(self.cluster.value)
            extensions = cluster.get("extensions")
            own = [
                extension["extension"]
                for extension in (extensions if isinstance(extensions, list) else [])
                if isinstance(extension, dict) and extension.get("name") == _CLUSTER_EXTENSION
            ]
            spec["cluster"] = {**cluster, **({"config": own[0]} if own else {})}
        return {"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec}

    def _status(self, code: int, out: bytes, err: bytes) -> Mapping[str, Plain]:
        name = self.args[0]
        if code != 0:
            text = " ".join(err.decode(errors="replace").split())
            message = f"the plugin {name} ended with exit code {code}{': ' * bool(text)}{text}"
            raise ConfigException(message)
        try:
            credential = plain_map(json.loads(out))
        except (ValueError, RecursionError):
            message = f"the plugin {name} did not print JSON"
            raise ConfigException(message) from None
        if credential.get("kind") != "ExecCredential" or credential.get("apiVersion") != self.api_version:
            message = f"the plugin {name} gave no ExecCredential of {self.api_version}"
            raise ConfigException(message)
        return plain_map(credential.get("status"))


def _read(child: subprocess.Popen[bytes], name: str, deadline: Deadline) -> tuple[bytes, bytes]:
    """Read a plugin's output until its end, or until the plugin has ended."""
    pipes = [pipe for pipe in (child.stdout, child.stderr) if pipe is not None]
    output = {pipe: bytearray() for pipe in pipes}
    ended_at = None
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select(_STEP):
                ready = next(pipe for pipe in pipes if pipe is key.fileobj)
                if not (piece := os.read(ready.fileno(), _CHUNK)):
                    selector.unregister(ready)
                output[ready] += piece
            if child.poll() is not None:
                ended_at = ended_at or time.monotonic()
                if time.monotonic() - ended_at > _LINGER_SECONDS:
                    break
            _ensure_bounded(name, deadline, sum(map(len, output.values())))
    return bytes(output[pipes[0]]), bytes(output[pipes[1]] if len(pipes) > 1 else b"")


def _ensure_bounded(name: str, deadline: Deadline, size: int) -> None:
    if size > _MOST_BYTES:
        message = f"the plugin {name} says more than {_MOST_BYTES >> 20} MiB"
        raise ConfigException(message)
    if deadline.is_stopped:
        message = f"the plugin {name} was ended by a signal"
        raise ConfigException(message)
    if deadline.is_over:
        message = f"the plugin {name} gave no credentials in time; --timeout is {deadline.seconds:g} s"
        raise ConfigException(message)


def _end(child: subprocess.Popen[bytes], *, whole_group: bool) -> None:
    """End a plugin, and the children that it started."""
    with suppress(ProcessLookupError, PermissionError):
        if whole_group:
            os.killpg(child.pid, signal.SIGKILL)
        elif child.poll() is None:
            child.kill()
    child.wait()
    for pipe in (child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
