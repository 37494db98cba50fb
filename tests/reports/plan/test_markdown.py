"""A plan as a comment, read back by a reader of Markdown: nothing from outside means anything there."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token

from gpupool.planning.plan import Guard, Plan, Rejection
from gpupool.reports.escaping import one_line
from gpupool.reports.plan.markdown import render_plan
from gpupool.reports.plan.marked import format_code, format_prose
from gpupool.reports.plan.wording import format_headline
from tests.planning.plans import EXAMPLES, PLANS, TEXTS, UID, change, large, plan, pool
from tests.tiers import examples

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
MARK = re.compile(r"<!-- gpupool:[A-Za-z0-9._-]*:[A-Za-z0-9._-]* -->\n?")
SUMMARY = re.compile(r"<details><summary>[-+~!=] [a-zA-Z ]+ <code>[^<>\n]*</code></summary>\n?")
END = "</details>"
PLAIN = re.compile(r"[^<>@#\[\]*_~`|\\&$]*")
"""What neither Markdown nor GitHub reads as anything else; `$` begins a formula."""

OURS = {
    "heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "bullet_list_open", "bullet_list_close",
    "list_item_open", "list_item_close", "html_block", "fence", "text", "code_inline", "strong_open", "strong_close",
    "softbreak",
}  # fmt: skip


def tokens(text: str) -> list[Token]:
    """Return everything that a reader sees, from the outside in."""
    found = []
    for token in READER.parse(text):
        found.append(token)
        found += token.children or []
    return found


@settings(derandomize=True, max_examples=examples(150))
@given(PLANS)
def test_nothing_from_outside_means_anything(made: Plan) -> None:
    text = render_plan(made, show_textual=True)
    found = tokens(text)

    assert {token.type for token in found} <= OURS
    assert [token.type for token in found].count("heading_open") == 1
    html = [token.content for token in found if token.type == "html_block"]
    assert MARK.fullmatch(html[0])
    assert all(SUMMARY.fullmatch(each) or each.strip() == END for each in html[1:])
    assert sum(each.strip() == END for each in html) == len(html) // 2
    assert [each for each in found if each.type == "text" and not PLAIN.fullmatch(each.content)] == []
    assert not re.search(
        r"(?i)www\.|https?:|\bGH-", " ".join(each.content for each in found if each.type == "text")
    )


@settings(derandomize=True, max_examples=100)
@given(PLANS)
def test_is_never_too_long_and_begins_with_its_mark(made: Plan) -> None:
    text = render_plan(made)

    assert len(text) < 60_000
    assert MARK.fullmatch(text.split("\n", 1)[0])


@settings(derandomize=True, max_examples=examples(150))
@given(TEXTS)
def test_a_value_is_one_code(text: str) -> None:
    (inline,) = READER.parseInline(f"x {format_code(text)} y")

    assert [token.type for token in inline.children or []] == ["text", "code_inline", "text"]
    assert (inline.children or [])[1].content.strip() == (one_line(text).strip() or '""' * (not text))


@settings(derandomize=True, max_examples=examples(150))
@given(TEXTS)
def test_a_message_keeps_its_words(text: str) -> None:
    (inline,) = READER.parseInline(format_prose(text))
    read = "".join(token.content for token in inline.children or [])

    assert {token.type for token in inline.children or []} <= {"text", "code_inline"}
    assert re.sub(r"[`\s]", "", read) == re.sub(r"[`\s]", "", one_line(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NodePool/a has 12 NodeClaims", "NodePool/a has 12 NodeClaims"),
        ("`NodePool/a`: name it with `--prune`.", "`NodePool/a`: name it with `--prune`."),
        ("pass --max-deletes 2", "pass `--max-deletes` 2"),
        ("ask @team about #12 now", "ask `@team` about `#12` now"),
        ("see https://example.com or www.example.com", "see `https://example.com` or `www.example.com`"),
        ("<b>bold</b> *x* [y](z)", "`<b>bold</b> *x* [y](z)`"),
        ("`a``b`", "`a` `b`"),
        ("half a ` tick", "half a `` ` `` tick"),
        ("a\nb", r"`a\nb`"),
        ("1. first", "`1.` first"),
    ],
)
def test_a_message(text: str, expected: str) -> None:
    assert format_prose(text) == expected


def test_a_fence_is_longer_than_any_inside() -> None:
    tricky = pool("a") | {"spec": {"text": "````\n</details>\n`````\n"}}
    fences = [
        each
        for each in tokens(render_plan(plan(change("NodePool/a", "create", after=tricky))))
        if each.type == "fence"
    ]

    assert [each.markup for each in fences] == ["``````"]
    assert "+    `````\n" in fences[0].content


def test_the_mark_is_of_the_blueprint_and_the_cluster_alone() -> None:
    marks = {render_plan(each).split("\n", 1)[0] for each in EXAMPLES.values()}

    assert marks == {f"<!-- gpupool:ml-platform:{UID} -->"}


def test_500_objects_keep_everything_grave() -> None:
    made = large()
    text = render_plan(made)

    assert 55_000 < len(text) < 60_000
    for each in made.changes:
        if "delete" in each.actions:
            assert (
                f"- `{each.address}` with {each.node_claims} NodeClaims: the blueprint has it no more\n"
                in text
            )
    assert "`max-deletes`: 50 pools, and 1 may be; to pass it: `--max-deletes 50`" in text
    kept = text.count("<details>")
    assert text.endswith(
        f"Left out for length: the diffs of {500 - kept} objects. The plan file has all: `gpupool show FILE`.\n"
    )
    assert 0 < kept < 450


def test_the_largest_diff_goes_first() -> None:
    huge = pool("huge", text=["x" * 100 for _ in range(700)])
    text = render_plan(
        plan(change("NodePool/huge", "create", after=huge), change("NodePool/small", "create"))
    )

    assert text.count("<details>") == 1
    assert "<code>NodePool/small</code>" in text
    assert "the diffs of 1 object." in text


def test_grave_lists_that_are_too_long_are_cut_last_and_counted() -> None:
    rejections = tuple(Rejection(f"spec.f{number}", "wrong " * 100, None) for number in range(500))
    made = plan(
        change("NodePool/a", "update", rejections=rejections),
        warnings=("mind " * 100,) * 20,
        guards=(Guard("max-deletes", passed=False, message="too many", remedy="--max-deletes 9"),),
    )
    text = render_plan(made)

    assert len(text) < 60_000
    assert f"**{format_headline(made)}**" in text
    assert "- 20 of them\n" in text
    assert "- and 450 more\n" in text
    assert "`max-deletes`: too many" in text
    assert text.endswith(
        "Left out for length: the end of long lists. The plan file has all: `gpupool show FILE`.\n"
    )


def test_the_worst_texts_leave_the_verdict() -> None:
    worst = "\u2028" * 5000
    made = plan(
        *(change(f"NodePool/{worst}", "delete", reason=worst, blocked=worst) for _ in range(50)),
        warnings=(worst,) * 50,
        orphans=(worst,) * 50,
        guards=tuple(
            Guard(worst, passed=passed, message=worst, remedy=worst)
            for passed in (True, False)
            for _ in range(30)
        ),
    )
    made = replace(
        made,
        target=replace(made.target, context="`" * 5000, uid=worst),
        source=replace(made.source, blueprint=worst, commit=worst),
    )
    text = render_plan(made)

    assert len(text) < 60_000
    assert f"**{format_headline(made)}**" in text
