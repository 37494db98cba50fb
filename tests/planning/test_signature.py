"""Signed plans: whoever has the key made the file, and no message tells anything of a key."""

import base64
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from gpupool.errors import GpupoolError, GuardError, InputError, KeyFileError
from gpupool.planning import file, signature
from gpupool.planning.plan import Plan
from tests.cli.run import gpupool, process
from tests.planning.plans import EXAMPLES

PLAN = EXAMPLES["update"]
KEY = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
CURVE = ec.generate_private_key(ec.SECP256R1())


def private(key: ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey, password: str = "") -> bytes:
    cipher = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, cipher)


def public(key: ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a pair of keys, another public key, and a plan that is signed."""
    monkeypatch.chdir(tmp_path)
    for name, raw in (("plan.key", private(KEY)), ("plan.pub", public(KEY)), ("other.pub", public(OTHER))):
        Path(name).write_bytes(raw)
    Path("plan.json").write_text(file.render_plan(signature.sign_plan(PLAN, KEY)), "utf-8")
    return tmp_path


def read(plan: Plan) -> Plan:
    return file.parse_plan(file.render_plan(plan).encode(), "plan.json")


@pytest.mark.usefixtures("keys")
def test_a_signed_plan_is_read_back_and_verified() -> None:
    signed = signature.sign_plan(PLAN, signature.read_signing_key("plan.key"))

    found = read(signed)

    assert found == signed
    assert found.id == PLAN.id
    signature.ensure_signed(found, signature.read_verifying_key("plan.pub"))


@pytest.mark.usefixtures("keys")
def test_openssl_s_own_keys(tmp_path: Path) -> None:
    for command in (
        ["genpkey", "-algorithm", "ed25519", "-out", "own.key"],
        ["pkey", "-in", "own.key", "-pubout", "-out", "own.pub"],
    ):
        subprocess.run(["openssl", *command], cwd=tmp_path, check=True, capture_output=True)  # noqa: S607 - whichever there is

    signed = signature.sign_plan(PLAN, signature.read_signing_key("own.key"))

    signature.ensure_signed(read(signed), signature.read_verifying_key("own.pub"))


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (PLAN, "the plan is not signed; nothing was applied"),
        (signature.sign_plan(PLAN, OTHER), "invalid signature"),
        (
            file.seal(replace(signature.sign_plan(PLAN, KEY), expires_at="2026-11-22T07:00:00Z")),
            "or signed with another key",
        ),
        (
            replace(PLAN, signature=base64.b64encode(KEY.sign(PLAN.id.encode())).decode()),
            "or signed with another key",
        ),
        (
            replace(PLAN, signature=signature.sign_plan(EXAMPLES["create"], KEY).signature),
            "or signed with another key",
        ),
    ],
    ids=[
        "unsigned",
        "another key",
        "changed and sealed anew",
        "something else of the key's",
        "of another plan",
    ],
)
def test_what_is_not_signed_is_refused(plan: Plan, words: str) -> None:
    found = read(plan)

    with pytest.raises(GuardError, match=words) as caught:
        signature.ensure_signed(found, signature.read_verifying_key("plan.pub"))
    assert caught.value.exit_code == 3


def test_a_signed_plan_that_was_changed_is_no_plan() -> None:
    text = file.render_plan(signature.sign_plan(PLAN, KEY)).replace('"maxDeletes": 1', '"maxDeletes": 9')

    with pytest.raises(InputError, match="1 error"):
        file.parse_plan(text.encode(), "plan.json")


BAD: dict[str, tuple[bytes | None, str]] = {
    "absent": (None, "can't read it: No such file or directory"),
    "empty": (b"", "not an Ed25519"),
    "no PEM": (b"hunter2-hunter2-hunter2", "not an Ed25519"),
    "broken PEM": (private(KEY).replace(b"M", b"!", 1), "not an Ed25519"),
    "cut off": (private(KEY)[:60], "not an Ed25519"),
    "another algorithm": (
        private(CURVE),
        "not an Ed25519 private key in PEM. Make one with `openssl genpkey",
    ),
    "another algorithm, public": (public(CURVE), "not an Ed25519"),
    "bytes": (bytes(range(256)), "not an Ed25519"),
    "encrypted": (private(KEY, "hunter2"), ""),
}


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(("raw", "words"), BAD.values(), ids=BAD)
def test_keys_that_cannot_be_used(raw: bytes | None, words: str) -> None:
    if raw is not None:
        Path("bad.pem").write_bytes(raw)

    for read_key, option in (
        (signature.read_signing_key, "--sign-key"),
        (signature.read_verifying_key, "--verify-key"),
    ):
        with pytest.raises(KeyFileError) as caught:
            read_key("bad.pem")
        message = str(caught.value)
        assert caught.value.exit_code == 1
        assert message.startswith(f"{option} bad.pem: ")
        assert words.partition(" private")[0] in message
        _ensure_silent(message, raw or b"")


@pytest.mark.usefixtures("keys")
def test_the_wrong_half_of_a_pair() -> None:
    with pytest.raises(KeyFileError, match=r"--sign-key plan\.pub: not an Ed25519 private key in PEM"):
        signature.read_signing_key("plan.pub")
    with pytest.raises(KeyFileError, match=r"--verify-key plan\.key: not an Ed25519 public key in PEM"):
        signature.read_verifying_key("plan.key")
    Path("locked.key").write_bytes(private(KEY, "hunter2"))
    with pytest.raises(KeyFileError, match="the key is encrypted; use a key without a passphrase"):
        signature.read_signing_key("locked.key")
    with pytest.raises(KeyFileError, match="can't read it: no file can have this name"):
        signature.read_verifying_key("a\0b")


def _ensure_silent(message: str, raw: bytes) -> None:
    """Ensure that a message quotes no line of a key."""
    for line in raw.decode("latin-1").splitlines():
        assert len(line) < 8 or line.startswith("-----") or line not in message


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)

    for read_key in (signature.read_signing_key, signature.read_verifying_key):
        with pytest.raises(
            GpupoolError, match=r"requires the package cryptography.*fix: python -m pip install"
        ):
            read_key("plan.key")


@pytest.mark.parametrize(
    "text", ["", "x", "é", "A" * 86, "A" * 88, "A" * 86 + "=", "A" * 85 + "B==", "A" * 86 + "==\n"]
)
def test_what_no_signature_looks_like(text: str) -> None:
    assert not signature.is_signature(text)
    assert signature.is_signature("A" * 86 + "==")


class TestCommands:
    """What `show` and `apply` do with a key; nothing of it needs a cluster."""

    @pytest.mark.usefixtures("keys")
    def test_show_tells_whether_a_plan_is_signed(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("unsigned.json").write_text(file.render_plan(PLAN), "utf-8")

        signed, unsigned = gpupool(capsys, "show", "plan.json"), gpupool(capsys, "show", "unsigned.json")

        assert "good until 2026-11-22T08:00:00Z, signed\n" in signed.out
        assert "good until 2026-11-22T08:00:00Z, not signed\n" in unsigned.out
        assert ", signed." in gpupool(capsys, "show", "plan.json", "-o", "markdown").out

    @pytest.mark.usefixtures("keys")
    @pytest.mark.parametrize(
        "command", [["show", "plan.json"], ["apply", "plan.json"]], ids=lambda words: words[0]
    )
    def test_a_plan_of_another_key_is_not_even_shown(
        self, command: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        said = gpupool(capsys, *command, "--verify-key", "other.pub")

        assert (said.code, said.out) == (3, "")
        assert said.err.startswith(
            "error: invalid signature: the plan was changed, or signed with another key"
        )

    @pytest.mark.usefixtures("keys")
    def test_the_key_is_read_before_the_plan(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = gpupool(capsys, "apply", "none.json", "--verify-key", "none.pub")

        assert (said.code, said.out) == (1, "")
        assert "--verify-key none.pub: can't read it" in said.err

    @pytest.mark.usefixtures("keys")
    def test_a_plan_of_the_key_is_shown(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert gpupool(capsys, "show", "plan.json", "--verify-key", "plan.pub").code == 0

    def test_a_key_from_standard_input(self, keys: Path) -> None:
        said = process("show", "plan.json", "--verify-key", "-", folder=keys, stdin=public(KEY))

        assert said.code == 0, said.err

    @pytest.mark.usefixtures("keys")
    @pytest.mark.parametrize(
        ("command", "words"),
        [
            (["apply", "--verify-key", "plan.pub"], "--verify-key requires a saved plan"),
            (["apply", "-", "--verify-key", "-"], "standard input can be read only once"),
            (["show", "-", "--verify-key", "-"], "standard input can be read only once"),
            (["plan", "-f", "-", "--sign-key", "-"], "standard input can be read only once"),
        ],
    )
    def test_a_command_line_that_makes_no_sense(
        self, command: list[str], words: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        said = gpupool(capsys, *command)

        assert (said.code, said.out) == (64, "")
        assert words in said.err

    def test_no_other_command_imports_the_package(self, keys: Path) -> None:
        code = (
            "import sys; from gpupool.cli.app import main; main(sys.argv[1:]);"
            " sys.stderr.write(str('cryptography' in sys.modules))"
        )
        for arguments, is_imported in (
            (["show", "plan.json"], "False"),
            (["show", "plan.json", "--verify-key", "plan.pub"], "True"),
        ):
            ended = subprocess.run(
                [sys.executable, "-c", code, *arguments], cwd=keys, capture_output=True, text=True, check=True
            )
            assert ended.stderr.splitlines()[-1].endswith(is_imported)
