"""What to do where EC2NodeClasses did not get Ready: the state of the cluster, the ways on and back."""

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
    """Command lines that apply the blueprint once more."""

    same: str
    """As it was applied now."""

    pruning: str
    """The same with `--prune`."""


def events(result: Result) -> Iterator[str]:
    """Yield a line for each event of an object that is not Ready."""
    if result.unready is not None:
        for ref, warnings in result.unready.events.items():
            yield from (f"{ref} event {event.text}" for event in warnings)
        if result.unready.note:
            yield f"note: {result.unready.note}"


def ways_out(result: Result, again: RetryCommands) -> Iterator[str]:
    """Yield at most three lines: the state, how to go on, how to go back; none where every class is Ready."""
    unready = result.unready
    if unready is None or not unready.classes:
        return
    yield f"state: {_state(unready.classes, _unwritten(result))}"
    yield f"to continue: {_fix(unready.classes)}, then run: {again.same}"
    if back := _back(unready, again):
        yield f"to go back: {back}"


def _unwritten(result: Result) -> list[str]:
    return [each.address for each in result.of("not tried") if is_pool(each.ref) and each.action != "delete"]


def _state(classes: Sequence[LateClass], unwritten: Sequence[str]) -> str:
    new = [each.address for each in classes if each.action == "create"]
    changed = [each.address for each in classes if each.action in {"update", "adopt"}]
    others = [each.address for each in classes if each.action in {"keep", ""}]
    said = [f"new and not Ready: {join_names(new)}"] * bool(new)
    said += [f"changed and not Ready: {join_names(changed)}"] * bool(changed)
    said += [f"not changed by this run, and not Ready: {join_names(others)}"] * bool(others)
    said += [f"not written: {join_names(unwritten)}"] * bool(unwritten)
    nodes = "Existing nodes keep running; a pool launches no new nodes until its class is Ready"
    return f"{'; '.join(said)}. {nodes}"


def _fix(classes: Sequence[LateClass]) -> str:
    foreign = [each.address for each in classes if not each.action]
    where = f"{join_names(foreign)} where it is managed" if len(foreign) == len(classes) else "the blueprint"
    logged = [each for each in classes if ONLY_LOGGED in each.reason]
    if not logged:
        return f"correct {where}"
    name = logged[0].ref.name
    return f"find the error with `{_log_of(name)}` (-n: where Karpenter runs), correct {where}"


def _log_of(name: str) -> str:
    logs = "kubectl logs -n kube-system -l app.kubernetes.io/name=karpenter --tail=-1"
    pattern = '"EC2NodeClass":{"name":"' + name + '"}'
    return f"{logs} | grep {shlex.quote(pattern)}"


def _back(unready: Unready, again: RetryCommands) -> str:
    """Return how to take back what was applied; empty where there is nothing to take back."""
    actions = {each.action for each in unready.classes if each.action}
    is_new = not actions.isdisjoint({"create", "keep"})
    if not actions or (unready.is_first and not is_new):
        return ""
    command = again.pruning if is_new else again.same
    if unready.is_first:
        return f"take the pools of that class out of the blueprint, then run: {command}"
    where = f"git checkout {unready.commit[:_DIGITS]}" if unready.commit else "check out the commit before"
    effect = "a changed class gets its old fields back"
    if is_new:
        effect += "; a class that this commit does not have is deleted"
    return f"{where}, then run: {command}; {effect}"
