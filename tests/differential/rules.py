"""Every CEL rule of the CRDs from both sides: objects that keep it and objects that break it."""

from collections.abc import Iterator

from tests.differential.rules_ec2nodeclass import EC2NODECLASSES
from tests.differential.rules_scheduling import SCHEDULING
from tests.differential.ruletable import Rule, applied
from tests.differential.trees import Body

RULES: tuple[Rule, ...] = (*SCHEDULING, *EC2NODECLASSES)


def objects() -> Iterator[tuple[Rule, bool, Body]]:
    """Yield each object of the table with its rule and whether it keeps it."""
    for rule in RULES:
        for kept, table in ((True, rule.kept), (False, rule.broken)):
            yield from ((rule, kept, applied(rule.seed, changes)) for changes in table)
