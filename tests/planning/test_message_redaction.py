"""Parts of secrets in messages of the server: none of eight characters or more is left, however it is quoted."""

import base64
import json
import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpupool.planning.message_redaction import redact_secrets
from tests.planning.test_masking import in_go
from tests.tiers import examples

PART = 8
USER_DATA = """\
#!/bin/bash
/etc/eks/bootstrap.sh demo --kubelet-extra-args '--register="false"'
export DB_URL='postgres://app:Hunter2-but-longer@db.internal/app?sslmode=require'
\tcurl -H "X-Api: é☃-9f8e7d6c5b4a" https://vault.internal/v1/token
"""
settled = settings(
    derandomize=True, deadline=None, database=None, max_examples=examples(300),
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip


def parts(text: str) -> set[str]:
    """Return every eight characters in a row of each line of a text."""
    return {
        line[at : at + PART]
        for line in map(str.strip, text.splitlines())
        for at in range(len(line) - PART + 1)
        if line[at : at + PART].strip()
    }


@pytest.mark.parametrize("line", range(4))
@pytest.mark.parametrize(("start", "length"), [(0, 8), (3, 8), (5, 13), (2, 40)])
def test_a_part_of_a_line_is_cut_out(line: int, start: int, length: int) -> None:
    """As a policy quotes it that shows the value from where it does not fit, or a server that cuts it off."""
    part = USER_DATA.splitlines()[line].strip()[start : start + length]

    said = redact_secrets(f"denied: [{part}] is not allowed in 1.36", [USER_DATA])

    assert parts(USER_DATA) & parts(said) == set()
    assert said.startswith("denied: [")
    assert said.endswith("] is not allowed in 1.36")


@pytest.mark.parametrize("cut", [slice(None), slice(5, 60), slice(-40, None)], ids=["whole", "middle", "end"])
@pytest.mark.parametrize(
    "write",
    [
        lambda text: text, json.dumps, lambda text: json.dumps(text, ensure_ascii=False), in_go,
        lambda text: json.dumps(in_go(text)), lambda text: " ".join(text.split()),
        lambda text: base64.b64encode(text.encode()).decode(),
        lambda text: base64.b64encode(text.strip().encode()).decode(),
        lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
        lambda text: json.dumps(text).replace("<", r"\u003c").replace("&", r"\u0026"),
    ],
    ids=["bare", "JSON", "JSON in Unicode", "Go", "Go in JSON", "one line", "base64", "base64 without a newline", "URL",
         "JSON of Go"],
)  # fmt: skip
def test_a_part_of_any_form_is_cut_out(write: Callable[[str], str], cut: slice) -> None:
    quoted = write(USER_DATA)[cut]

    said = redact_secrets(f"no: {quoted}: no", [USER_DATA])

    assert len(said) < 40
    assert (said[:4], said[-4:]) == ("no: ", ": no")


def test_what_is_no_part_stays() -> None:
    assert redact_secrets("export and curl are denied", [USER_DATA]) == "export and curl are denied"
    assert redact_secrets("", [USER_DATA]) == ""
    assert redact_secrets("denied", []) == "denied"


def test_blanks_alone_are_no_secret() -> None:
    assert redact_secrets("a          b", ["x          y"]) == "a          b"


@settled
@given(
    secret=st.text(st.characters(blacklist_categories=["Cs"]), min_size=PART, max_size=60),
    ends=st.tuples(st.integers(0, 60), st.integers(0, 60)),
    around=st.tuples(st.text(max_size=12), st.text(max_size=12)),
)
def test_no_part_of_any_secret_is_left(secret: str, ends: tuple[int, int], around: tuple[str, str]) -> None:
    """Where the placeholder is no part of the secret itself, which then is none."""
    said = redact_secrets(f"{around[0]}{secret[min(ends) : max(ends)]}{around[1]}", [secret])

    left = {part for part in parts(secret) if part in said}
    assert not {part for part in left if part not in f"{around[0]}(sensitive){around[1]}(sensitive)"}


def test_sixteen_kibibytes_of_user_data_take_no_time() -> None:
    line = "echo {:05d} 'quoted \"twice\"' >> /var/log/é.log; "
    script = "\n".join(line.format(number) for number in range(350))
    assert 16_000 < len(script) < 20_000
    message = " ".join(f"{number} of {script[number * 7 : number * 7 + 9]}" for number in range(300))

    began = time.process_time()
    said = redact_secrets(message, [script])

    assert time.process_time() - began < 2
    assert parts(script) & parts(said) == set()
