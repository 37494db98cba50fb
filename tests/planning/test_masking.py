"""What nobody is to see: in plans as digests, in what is printed as a word, in messages not at all."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gpupool.planning.masking import MARK, Masker, is_sealed, is_secret_name
from gpupool.planning.message_redaction import redact_secrets
from tests.tiers import examples

UID = "0d5e3c1a-5b0e-4a55-9d0f-7f3a4b1c2d3e"
KEY = b"chance"
MASKER = Masker(("vault-*", "context"), UID, KEY)
ADDRESS = "EC2NodeClass/gpu"
USER_DATA = '#!/bin/bash\nexport KEY="s3cret é\t\\x"\n'
SECRETS = ("s3cret-token", "s3cret-vault", "s3cret-selector", "s3cret-context", USER_DATA)
BODY: dict[str, Any] = {
    "metadata": {"name": "gpu", "annotations": {"example.com/owner": "ml", "vault-path": "s3cret-vault"}},
    "spec": {
        "userData": USER_DATA,
        "context": "s3cret-context",
        "tags": {"team": "platform", "api-token": "s3cret-token"},
        "subnetSelectorTerms": [{"tags": {"rack": "a"}}, {"tags": {"access_key": "s3cret-selector"}}],
    },
}
settled = settings(
    derandomize=True, deadline=None, database=None, max_examples=examples(300),
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip


@pytest.mark.parametrize(
    ("path", "hidden"),
    [
        (("spec", "userData"), True),
        (("spec", "template", "userData"), False),
        (("userData",), False),
        (("metadata", "labels", "userData"), False),
        (("spec", "context"), True),
        (("spec", "tags", "context"), True),
        (("spec", "tags", "team"), False),
        (("spec", "tags", "vault-path"), True),
        (("spec", "tags", "VAULT-PATH"), True),
        (("spec", "tags", "my-vault-path"), False),
        (("spec", "tags", "dbPassword"), True),
        (("spec", "subnetSelectorTerms", 1, "tags", "SECRET"), True),
        (("spec", "template", "metadata", "annotations", "example.com/api-key"), True),
        (("metadata", "annotations", "token"), True),
        (("metadata", "labels", "token"), True),
        (("spec", "template", "metadata", "labels", "vault-path"), True),
        (("metadata", "labels", "team"), False),
        (("spec", "role"), False),
        ((), False),
    ],
)
def test_which_values(path: tuple[str | int, ...], hidden: bool) -> None:
    assert MASKER.is_sensitive(path) == hidden


def test_the_context_only_where_the_blueprint_says_so() -> None:
    assert not Masker((), UID, KEY).is_sensitive(("spec", "context"))


@pytest.mark.parametrize(
    ("key", "secret"),
    [
        ("secret", True), ("MySecretName", True), ("token", True), ("password", True), ("passwd", True),
        ("credentials", True), ("api_key", True), ("apikey", True), ("private.key", True), ("AccessKey", True),
        ("pwd", True), ("db.pwd", True), ("auth", True), ("basicAuth", True), ("OAUTH2", True), ("authorization", True),
        ("connection-string", True), ("connectionString", True), ("CONN_STR", True), ("connection.string", True),
        ("team", False), ("pass", False), ("key", False), ("accent", False), ("", False), ("author", False),
        ("authority", False), ("connection", False), ("string", False),
    ],
)  # fmt: skip
def test_keys_that_look_like_a_secrets(key: str, secret: bool) -> None:
    assert is_secret_name(key) == secret


def test_every_secret_is_found_in_lists_too() -> None:
    assert set(MASKER.find_values(BODY)) == set(SECRETS)


def test_what_is_shown_and_what_is_saved() -> None:
    shown: Any = MASKER.mask(ADDRESS, BODY)
    sealed: Any = MASKER.seal(ADDRESS, BODY)

    for found in (shown, sealed):
        assert not [each for each in ("s3cret", "export") if each in json.dumps(found)]
        assert found["metadata"]["annotations"]["example.com/owner"] == "ml"
        assert found["spec"]["subnetSelectorTerms"][0] == {"tags": {"rack": "a"}}
    assert shown["spec"]["userData"].startswith("(sensitive, sha256:")
    assert set(sealed["spec"]["userData"]) == {MARK}
    assert (is_sealed(sealed), is_sealed(shown), is_sealed(BODY)) == (True, False, False)


def test_a_part_is_shown_as_in_the_whole() -> None:
    whole: Any = MASKER.mask(ADDRESS, BODY)
    for path in (("spec", "tags"), ("spec", "tags", "api-token"), ("spec", "subnetSelectorTerms", 1)):
        part: Any = BODY
        expected = whole
        for key in path:
            part, expected = part[key], expected[key]
        assert MASKER.mask(ADDRESS, part, path) == expected


def test_equal_secrets_do_not_look_equal() -> None:
    path, other = ("spec", "tags", "token"), ("spec", "tags", "secret")
    digests = {
        MASKER.calculate_digest(ADDRESS, path, "same"),
        MASKER.calculate_digest(ADDRESS, other, "same"),
        MASKER.calculate_digest("EC2NodeClass/other", path, "same"),
        MASKER.calculate_digest(ADDRESS, path, "other"),
        Masker((), "another cluster", KEY).calculate_digest(ADDRESS, path, "same"),
        Masker((), UID, b"another").calculate_digest(ADDRESS, path, "same"),
    }
    assert len(digests) == 6
    assert MASKER.calculate_digest(ADDRESS, path, "same") == MASKER.calculate_digest(ADDRESS, path, "same")


def in_go(text: str) -> str:
    """Quote a text as Go's `%q` does; the API server's own words are such."""
    known = {
        "\n": r"\n",
        "\t": r"\t",
        '"': r"\"",
        "\\": r"\\",
        "\x07": r"\a",
        "\x7f": r"\x7f",
        "\xa0": r"\u00a0",
    }
    return f'"{"".join(known.get(each, each) for each in text)}"'


QUOTED = 'p4ss\n\t"quoted"\x07  two  blanks\\ é\xa0\x7f ☃'


@pytest.mark.parametrize(
    "form",
    [
        QUOTED, json.dumps(QUOTED), json.dumps(QUOTED, ensure_ascii=False), in_go(QUOTED), json.dumps(in_go(QUOTED)),
        json.dumps(json.dumps(QUOTED)), in_go(in_go(QUOTED)), " ".join(QUOTED.split()), " ".join(in_go(QUOTED).split()),
    ],
)  # fmt: skip
def test_a_message_is_shown_without_what_it_quotes(form: str) -> None:
    said = redact_secrets(f"spec.tags: Invalid value: {form}: no", [QUOTED])

    assert "(sensitive)" in said
    assert not [piece for piece in ("p4ss", "quoted", "blanks", "☃", "2603") if piece in said]
    assert said.startswith("spec.tags: Invalid value: ")
    assert said.endswith(": no")


def test_a_line_of_a_script_is_a_secret_too() -> None:
    script = "#!/bin/bash\nfi\n  curl -H 'auth: abc' https://example.com\n"
    said = redact_secrets(
        "line 3: curl -H 'auth: abc' https://example.com: is not allowed before fi", [script]
    )
    assert said == "line 3: (sensitive): is not allowed before fi"


def test_what_is_too_short_to_be_told_from_the_rest_stays() -> None:
    assert redact_secrets("the value no is not taken", ["no", "", "val"]) == "the value no is not taken"


def test_the_longer_of_two_secrets_is_taken_out_whole() -> None:
    assert redact_secrets("abcdefgh abcd", ["abcd", "abcdefgh"]) == "(sensitive) (sensitive)"
    assert redact_secrets("sensitive and more", ["sensitive", "(sensitive)"]) == "(sensitive) and more"


@settled
@given(
    secret=st.text(min_size=4, max_size=40),
    before=st.text(max_size=10),
    after=st.text(max_size=10),
    quote=st.sampled_from([str, json.dumps, lambda text: json.dumps(text, ensure_ascii=False), in_go]),
)
def test_no_secret_stays_in_a_message(secret: str, before: str, after: str, quote: Any) -> None:  # noqa: ANN401
    assume(secret.strip() == secret)
    said = redact_secrets(f"{before} {quote(secret)} {after}", [secret])
    rest = f"{before} {after} (sensitive)"
    assert secret not in said or secret in rest


@settled
@given(
    st.recursive(
        st.one_of(st.none(), st.integers(), st.text(max_size=6)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.sampled_from(["tags", "annotations", "token", "team", "spec", "userData", "vault-x"]),
                inner,
                max_size=4,
            ),
        ),
        max_leaves=12,
    )
)
def test_nothing_sensitive_is_left_in_any_tree(body: Any) -> None:  # noqa: ANN401 - any JSON
    shown, sealed = MASKER.mask(ADDRESS, body), MASKER.seal(ADDRESS, body)

    assert all(value.startswith("(sensitive, ") for value in MASKER.find_values(shown))
    assert is_sealed(sealed) == bool([*MASKER.find_values(body)])
    assert (shown == body) == (sealed == body)
