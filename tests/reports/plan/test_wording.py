"""What a plan says in every format: here, what whoever made it agreed to."""

from dataclasses import fields, replace

from gpupool.planning.plan import Consent
from gpupool.reports.plan.wording import format_consent
from tests.planning.plans import plan

ALL = Consent(
    prune=True,
    max_deletes=3,
    drain=True,
    allow_delete=("NodePool/a",),
    allow_empty=True,
    adopt=("NodePool/b",),
    adopt_from=("argocd",),
    fail_on_admission=True,
    on_conflict="take",
)


def test_all_that_was_agreed_to_is_shown() -> None:
    """Each field by itself too: whoever approves a plan has to see it."""
    default = Consent()
    for each in fields(Consent):
        said, usual = (getattr(consent, each.name) for consent in (ALL, default))
        assert said != usual
        assert format_consent(plan(consent=replace(default, **{each.name: said})))

    assert format_consent(plan(consent=default)) == ""
    assert format_consent(plan(consent=ALL)) == (
        "--prune --max-deletes 3 --drain --allow-delete NodePool/a --allow-empty --adopt NodePool/b"
        " --adopt-from argocd --fail-on-admission --on-conflict take"
    )
