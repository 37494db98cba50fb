"""Ed25519 signatures of plans: proof of who made a plan file.

The plan's `id` is signed, a digest of all the rest of its text, so the signature covers everything.
Only this module uses `cryptography`, an optional dependency, and imports it only to sign or verify.
"""

from __future__ import annotations

import base64
import binascii
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gpupool.errors import GuardError, KeyFileError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    from gpupool.planning.plan import Plan

STDIN: Final = "-"
_MAX_BYTES: Final = 1 << 16
_LENGTH: Final = 64
"""Bytes of an Ed25519 signature."""

_PRIVATE_KEY_COMMAND: Final = "openssl genpkey -algorithm ed25519 -out plan.key"
_PUBLIC_KEY_COMMAND: Final = "openssl pkey -in plan.key -pubout -out plan.pub"


def read_signing_key(path: str) -> Ed25519PrivateKey:
    """Read a private key in PEM, as `openssl genpkey` writes it; `-` is standard input.

    Raises:
        KeyFileError: where it can't be read or is another key; no message quotes what the file holds.
    """
    _ensure_installed("--sign-key")
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    raw = _read_key_file(path, "--sign-key")
    try:
        key = load_pem_private_key(raw, password=None)
    except TypeError:
        message = f"--sign-key {path}: the key is encrypted; use a key without a passphrase"
        raise KeyFileError(message) from None
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        message = (
            f"--sign-key {path}: not an Ed25519 private key in PEM. Make one with `{_PRIVATE_KEY_COMMAND}`"
        )
        raise KeyFileError(message)
    return key


def read_verifying_key(path: str) -> Ed25519PublicKey:
    """Read a public key in PEM, as `openssl pkey -pubout` writes it; `-` is standard input.

    Raises:
        KeyFileError: where it can't be read or is another key; no message quotes what the file holds.
    """
    _ensure_installed("--verify-key")
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    raw = _read_key_file(path, "--verify-key")
    try:
        key = load_pem_public_key(raw)
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        message = (
            f"--verify-key {path}: not an Ed25519 public key in PEM. Make it with `{_PUBLIC_KEY_COMMAND}`"
        )
        raise KeyFileError(message)
    return key


def sign_plan(plan: Plan, key: Ed25519PrivateKey) -> Plan:
    """Return a sealed plan with the signature of a key."""
    return replace(plan, signature=base64.b64encode(key.sign(_signed_text(plan))).decode())


def ensure_signed(plan: Plan, key: Ed25519PublicKey) -> None:
    """Raise unless a plan has the valid signature of a key.

    Raises:
        GuardError: where the plan is not signed, or the signature is of another key or another plan.
    """
    from cryptography.exceptions import InvalidSignature

    if not plan.signature:
        message = "the plan is not signed; nothing was applied. Make it with `gpupool plan --sign-key FILE`"
        raise GuardError(message)
    try:
        key.verify(base64.b64decode(plan.signature), _signed_text(plan))
    except InvalidSignature:
        message = (
            "invalid signature: the plan was changed, or signed with another key. Nothing was applied; do not"
            " apply it before you know who changed it"
        )
        raise GuardError(message) from None


def is_signature(text: str) -> bool:
    """Return whether a text has the form of a signature; `ensure_signed` verifies it."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return len(raw) == _LENGTH and base64.b64encode(raw).decode() == text


def _signed_text(plan: Plan) -> bytes:
    """Return the text that is signed; its first line keeps the signature from being valid elsewhere."""
    return f"gpupool plan\n{plan.id}\n".encode()


def _ensure_installed(option: str) -> None:
    from importlib.util import find_spec

    if find_spec("cryptography") is None:
        message = (
            f"{option} requires the package cryptography, which is not installed."
            " fix: python -m pip install 'cryptography>=50,<51', or install gpupool with the extra `sign`"
        )
        raise KeyFileError(message)


def _read_key_file(path: str, option: str) -> bytes:
    try:
        if path == STDIN:
            return sys.stdin.buffer.read(_MAX_BYTES)
        with Path(path).open("rb") as file:
            return file.read(_MAX_BYTES)
    except (OSError, ValueError) as problem:  # a ValueError is a name that no file can have
        reason = getattr(problem, "strerror", None) or "no file can have this name"
        message = f"{option} {path}: can't read it: {reason}. Check the path and its permissions"
        raise KeyFileError(message) from None
