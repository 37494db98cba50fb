"""The exec plugin of a kubeconfig, which makes a token: bounded in time, with its children, and in size."""

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
"""It has no other way to say how a plugin is run."""

_MOST_BYTES: Final = 1 << 20
_CHUNK: Final = 1 << 16
_STEP: Final = 0.05
_LINGER_SECONDS: Final = 1.0
"""So long after a plugin has ended its output may still come, from children that it left behind."""

_CLUSTER_EXTENSION: Final = "client.authentication.k8s.io/exec"
_one_at_a_time = threading.Lock()


@contextmanager
def bound_plugins(deadline: Deadline) -> Iterator[None]:
    """Let plugins that the client library starts end with a deadline, or when a signal comes."""

    class Plugin(_Plugin):
        ends = deadline

    with _one_at_a_time:
        before = _LIBRARY.ExecProvider
        _LIBRARY.ExecProvider = Plugin
        try:
            yield
        finally:
            _LIBRARY.ExecProvider = before


class _Plugin(ExecProvider):
    """Runs a plugin as the library does, but for its bounds."""

    ends: Deadline

    def run(self, previous_response: object = None) -> Mapping[str, Plain]:
        """Return the `status` of what the plugin said.

        Raises:
            ConfigException: where it gives no credentials in time.
        """
        del previous_response
        is_interactive = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
        environment = {**self.env, "KUBERNETES_EXEC_INFO": json.dumps(self._asked(is_interactive))}
        child = subprocess.Popen(  # noqa: S603 - the user's kubeconfig names it
            self.args,
            stdin=None if is_interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if is_interactive else subprocess.PIPE,
            cwd=self.cwd,
            env=environment,
            # A group of its own can be ended as a whole; who asks at a terminal has to stay in its group.
            start_new_session=not is_interactive,
        )
        try:
            out, err = _read(child, self.args[0], self.ends)
            code = child.wait(_LINGER_SECONDS)
        except subprocess.TimeoutExpired:
            message = f"the plugin {self.args[0]} does not end"
            raise ConfigException(message) from None
        finally:
            _end(child, whole_group=not is_interactive)
        return self._status(code, out, err)

    def _asked(self, is_interactive: bool) -> dict[str, object]:
        spec: dict[str, object] = {"interactive": is_interactive}
        if self.cluster:
            said = plain_map(self.cluster.value)
            extensions = said.get("extensions")
            own = [
                each["extension"]
                for each in (extensions if isinstance(extensions, list) else [])
                if isinstance(each, dict) and each.get("name") == _CLUSTER_EXTENSION
            ]
            spec["cluster"] = {**said, **({"config": own[0]} if own else {})}
        return {"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec}

    def _status(self, code: int, out: bytes, err: bytes) -> Mapping[str, Plain]:
        name = self.args[0]
        if code != 0:
            said = " ".join(err.decode(errors="replace").split())
            message = f"the plugin {name} ended with exit code {code}{': ' * bool(said)}{said}"
            raise ConfigException(message)
        try:
            found = plain_map(json.loads(out))
        except (ValueError, RecursionError):
            message = f"the plugin {name} gave no JSON"
            raise ConfigException(message) from None
        if found.get("kind") != "ExecCredential" or found.get("apiVersion") != self.api_version:
            message = f"the plugin {name} gave no ExecCredential of {self.api_version}"
            raise ConfigException(message)
        return plain_map(found.get("status"))


def _read(child: subprocess.Popen[bytes], name: str, ends: Deadline) -> tuple[bytes, bytes]:
    """Read what a plugin says until it has said all, or is gone."""
    pipes = [each for each in (child.stdout, child.stderr) if each is not None]
    said = {each: bytearray() for each in pipes}
    gone_at = None
    with selectors.DefaultSelector() as selector:
        for each in pipes:
            os.set_blocking(each.fileno(), False)
            selector.register(each, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select(_STEP):
                pipe = next(each for each in pipes if each is key.fileobj)
                if not (piece := os.read(pipe.fileno(), _CHUNK)):
                    selector.unregister(pipe)
                said[pipe] += piece
            if child.poll() is not None:
                gone_at = gone_at or time.monotonic()
                if time.monotonic() - gone_at > _LINGER_SECONDS:
                    break
            _ensure_bounded(name, ends, sum(map(len, said.values())))
    return bytes(said[pipes[0]]), bytes(said[pipes[1]] if len(pipes) > 1 else b"")


def _ensure_bounded(name: str, ends: Deadline, size: int) -> None:
    if size > _MOST_BYTES:
        message = f"the plugin {name} says more than {_MOST_BYTES >> 20} MiB"
        raise ConfigException(message)
    if ends.is_stopped:
        message = f"the plugin {name} was ended by a signal"
        raise ConfigException(message)
    if ends.is_over:
        message = f"the plugin {name} gave no credentials in time; --timeout is {ends.seconds:g} s"
        raise ConfigException(message)


def _end(child: subprocess.Popen[bytes], *, whole_group: bool) -> None:
    """End a plugin, and the children that it started."""
    with suppress(ProcessLookupError, PermissionError):
        if whole_group:
            os.killpg(child.pid, signal.SIGKILL)
        elif child.poll() is None:
            child.kill()
    child.wait()
    for each in (child.stdout, child.stderr):
        if each is not None:
            each.close()
