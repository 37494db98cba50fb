"""Next steps when EC2NodeClasses are not Ready after an apply: state, how to continue, how to go back."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.objects import is_pool
from gpupool.rollout.applying.results import join_names
from gpupool.rollout.watch.empty_conditions import ONLY_LOGGED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpupool.rollout.applying.results import LateClass, Result, Unready

_DIGITS: Final = 12


class RetryCommands(NamedTuple):
    """Command lines that apply the blueprint again."""

    same: str
    """The command with the same options."""

    pruning: str
    """The command with `--prune` as well."""


def format_events(result: Result) -> Iterator[str]:
    """Yield a line for each event of an object that is not Ready."""
    if result.unready is not None:
        for ref, warnings in result.unready.events.items():
            yield from (f"{ref} event {event.text}" for event in warnings)
        if result.unready.note:
            yield f"note: {result.unready.note}"


def format_next_steps(result: Result, again: RetryCommands) -> Iterator[str]:
    """Yield the state, how to continue and how to go back; nothing where every class is Ready."""
    unready = result.unready
    if unready is None or not unready.classes:
        return
    yield f"state: {_state(unready.classes, _unwritten(result))}"
    yield f"to continue: {_fix(unready.classes)}, then run: {again.same}"
    if back := _back(unready, again):
        yield f"to go back: {back}"


def _unwritten(result: Result) -> list[str]:
    return [
        outcome.address
        for outcome in result.of("not tried")
        if is_pool(outcome.ref) and outcome.action != "delete"
    ]


def _state(classes: Sequence[LateClass], unwritten: Sequence[str]) -> str:
    new = [late.address for late in classes if late.action == "create"]
    changed = [late.address for late in classes if late.action in {"update", "adopt"}]
    others = [late.address for late in classes if late.action in {"keep", ""}]
    parts = [f"new and not Ready: {join_names(new)}"] * bool(new)
    parts += [f"changed and not Ready: {join_names(changed)}"] * bool(changed)
    parts += [f"not changed by this run, and not Ready: {join_names(others)}"] * bool(others)
    parts += [f"not written: {join_names(unwritten)}"] * bool(unwritten)
    nodes = "Existing nodes keep running; a pool launches no new nodes until its class is Ready"
    return f"{'; '.join(parts)}. {nodes}"


def _fix(classes: Sequence[LateClass]) -> str:
    foreign = [late.address for late in classes if not late.action]
    place = f"{join_names(foreign)} where it is managed" if len(foreign) == len(classes) else "the blueprint"
    logged = [late for late in classes if ONLY_LOGGED in late.reason]
    if not logged:
        return f"correct {place}"
    name = logged[0].ref.name
    return f"find the error with `{_log_command(name)}` (-n: where Karpenter runs), correct {place}"


def _log_command(name: str) -> str:
    logs = "kubectl logs -n kube-system -l app.kubernetes.io/name=karpenter --tail=-1"
    pattern = '"EC2NodeClass":{"name":"' + name + '"}'
    return f"{logs} | grep {shlex.quote(pattern)}"


def _back(unready: Unready, again: RetryCommands) -> str:
    """Return how to undo the apply; empty where nothing can be undone."""
    actions = {late.action for late in unready.classes if late.action}
    is_new = not actions.isdisjoint({"create", "keep"})
    if not actions or (unready.is_first and not is_new):
        return ""
    command = again.pruning if is_new else again.same
    if unready.is_first:
        return f"take the pools of that class out of the blueprint, then run: {command}"
    place = f"git checkout {unready.commit[:_DIGITS]}" if unready.commit else "check out the commit before"
    effect = "a changed class gets its old fields back"
    if is_new:
        effect += "; a class that this commit does not have is deleted"
    return f"{place}, then run: {command}; {effect}"
