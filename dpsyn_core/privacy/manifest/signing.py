"""Signing: an owner's Ed25519 key, and signatures of manifests that anybody can check with the public key in them.

What is signed is one canonical text of the document, so that any program can check it: no blanks, names sorted by their
UTF-16 code units, texts escaped as little as JSON allows, numbers as ECMAScript writes them. A signature says that
whoever holds the key stood behind exactly this document. Whose key it is must be learnt elsewhere (compare its
fingerprint). Sources: RFC 8032, by the package `cryptography`; RFC 8785 (JSON Canonicalization Scheme).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.errors import InputError, OutputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


LARGEST = 2**53 - 1  # whole numbers up to here are the same in every reader (RFC 7493, section 2.2)
PLAIN = 21  # digits before the point up to which ECMAScript writes no exponent (ECMA-262, Number::toString)
SMALL = -6  # power of ten down to which it writes none either
ALGORITHM = "ed25519"
FIELD = "signature"
_FIELD = 2**255 - 19  # of the coordinates of Ed25519
_D = -121665 * pow(121666, -1, _FIELD) % _FIELD  # of its curve


def canonical_json(document: Any) -> bytes:
    """A document of dicts, lists, texts, numbers, booleans and None as canonical JSON in UTF-8.

    Raises:
        ValueError: a value that has no canonical form: a number that is not finite, a whole number beyond 2^53 - 1, a
            name that is no text, half a surrogate pair.
    """
    return _text(document).encode()  # half a pair is a UnicodeEncodeError, which is a ValueError


def _text(value: Any) -> str:
    if isinstance(value, str) or value is None or isinstance(value, bool):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, dict):
        names = sorted(value, key=_utf16)
        return "{" + ",".join(f"{json.dumps(n, ensure_ascii=False)}:{_text(value[n])}" for n in names) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_text, value)) + "]"
    msg = f"a {type(value).__name__} has no form in JSON"
    raise ValueError(msg)


def _utf16(name: Any) -> bytes:
    """What names are sorted by."""
    if not isinstance(name, str):
        msg = f"a name in JSON is a text, and not a {type(name).__name__}"
        raise ValueError(msg)
    return name.encode("utf-16-be")


def number(value: int | float) -> str:
    """A number as ECMAScript writes it: the fewest digits that give the same double again."""
    if isinstance(value, int):
        if abs(value) > LARGEST:
            msg = "a whole number beyond 2^53 - 1 has no canonical form in JSON; write it as a text"
            raise ValueError(msg)
        return str(value)
    if not math.isfinite(value):
        msg = "a number that is not finite has no form in JSON"
        raise ValueError(msg)
    if value == 0:  # minus zero too
        return "0"
    sign, found, exponent = Decimal(repr(value)).as_tuple()
    digits = "".join(map(str, found)).rstrip("0")
    point = len(found) + int(exponent)  # where the decimal point stands, counted from the first digit
    minus = "-" if sign else ""
    if len(digits) <= point <= PLAIN:
        return f"{minus}{digits}{'0' * (point - len(digits))}"
    if 0 < point <= PLAIN:
        return f"{minus}{digits[:point]}.{digits[point:]}"
    if SMALL < point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    head = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{minus}{head}e{point - 1:+d}"


def new_key(path: Path, passphrase: bytes | None = None) -> str:
    """Writes a new private key (PEM, readable by its owner alone) and PATH.pub beside it; returns the fingerprint.

    Raises:
        OutputError: a file of that name exists, or cannot be written.
    """
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    secret = form.BestAvailableEncryption(passphrase) if passphrase else form.NoEncryption()
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, secret)
    public = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    _write_new(path, private, 0o600)
    _write_new(public_path(path), public, 0o644)
    return fingerprint(_raw(key))


def public_path(path: Path) -> Path:
    """Where the public half of a key lies."""
    return path.with_name(path.name + ".pub")


def load_key(path: Path, passphrase: bytes | None = None) -> Ed25519PrivateKey:
    """Reads a private key. Raises InputError for another file, a wrong passphrase or one that is missing."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(path.read_bytes(), passphrase)
    except OSError as error:
        msg = f"the key '{path.name}' cannot be read ({error.strerror}); make one with 'dpsyn key new'"
        raise InputError(msg) from error
    except TypeError as error:  # the library's way to say that a passphrase is missing, or not needed
        need = "needs its passphrase; set DPSYN_PASSPHRASE" if passphrase is None else "has no passphrase; give none"
        msg = f"the key '{path.name}' {need}"
        raise InputError(msg) from error
    except ValueError as error:
        msg = f"'{path.name}' is no private key, or the passphrase is wrong; make a key with 'dpsyn key new'"
        raise InputError(msg) from error
    if not isinstance(key, Ed25519PrivateKey):
        msg = f"'{path.name}' is a key of another kind; make an Ed25519 key with 'dpsyn key new'"
        raise InputError(msg)
    return key


def locked(path: Path) -> bool:
    """Whether the key in this file asks for a passphrase."""
    try:
        return b"ENCRYPTED" in path.read_bytes().split(b"\n", 1)[0]
    except OSError:
        return False


def public_key(path: Path) -> str:
    """The public half of a key file of either kind, as it stands in signatures. Raises InputError."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    for place in (path, public_path(path)):
        try:
            key = form.load_pem_public_key(place.read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(key, Ed25519PublicKey):
            return key.public_bytes(form.Encoding.Raw, form.PublicFormat.Raw).hex()
    msg = f"'{path.name}' is no public Ed25519 key; name the .pub file that 'dpsyn key new' wrote"
    raise InputError(msg)


def fingerprint(public: str) -> str:
    """Sixteen hexadecimal digits to compare by eye: the start of the SHA-256 of the public key."""
    digits = hashlib.sha256(bytes.fromhex(public)).hexdigest()[:16]
    return " ".join(digits[i : i + 4] for i in range(0, 16, 4))


def canonical(document: Mapping[str, Any]) -> bytes:
    """What is signed: the document without its signature, as canonical JSON (RFC 8785).

    Of versions 1 and 2: as JSON with sorted keys and no blanks, with numbers as Python writes them.

    Raises:
        ValueError: it has no canonical form.
    """
    unsigned = {k: v for k, v in document.items() if k != FIELD}
    if unsigned.get("version") not in (1, 2):
        return canonical_json(unsigned)
    text = json.dumps(unsigned, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def sign(document: Mapping[str, Any], key: Ed25519PrivateKey) -> dict[str, str]:
    """The signature of a document, as its field `signature` holds it."""
    return {"algorithm": ALGORITHM, "key": _raw(key), "value": key.sign(canonical(document)).hex()}


def of_small_order(public: bytes) -> bool:
    """Whether a public key is one of the few that fit a signature of zeros on one document in eight, so nobody's.

    The points of order 1, 2, 4 and 8 of the curve -x^2 + y^2 = 1 + d x^2 y^2 over the field of 2^255 - 19 elements have
    y = 1, -1, 0, and the two y with d y^4 + 2 y^2 = 1 (RFC 8032, section 5.1). A key is y with the sign of x on top.
    """
    y = int.from_bytes(public, "little") % (1 << 255) % _FIELD
    return y in (0, 1, _FIELD - 1) or (_D * pow(y, 4, _FIELD) + 2 * y * y - 1) % _FIELD == 0


def signature_holds(document: Mapping[str, Any]) -> bool:
    """Whether the signature in a document fits it, by a key that somebody can hold."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        signature = document[FIELD]
        if signature["algorithm"] != ALGORITHM:
            return False
        if of_small_order(bytes.fromhex(signature["key"])):
            return False
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature["key"]))
        public.verify(bytes.fromhex(signature["value"]), canonical(document))
    except (InvalidSignature, KeyError, TypeError, ValueError):
        return False
    return True


def _raw(key: Ed25519PrivateKey) -> str:
    from cryptography.hazmat.primitives import serialization as form

    return key.public_key().public_bytes(form.Encoding.Raw, form.PublicFormat.Raw).hex()


def _write_new(path: Path, content: bytes, mode: int) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except FileExistsError as error:
        msg = f"'{path.name}' exists, and a key is never overwritten; choose another name"
        raise OutputError(msg) from error
    except OSError as error:
        msg = f"'{path.name}' cannot be written ({error.strerror}); choose a folder that you may write to"
        raise OutputError(msg) from error
