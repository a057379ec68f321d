"""Signatures: over canonical JSON, of earlier versions too; a key that nobody can hold signs nothing."""

import hashlib
import json
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from dpsyn_core.errors import InputError, OutputError
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.manifest.signing import (
    canonical,
    canonical_json,
    fingerprint,
    load_key,
    locked,
    new_key,
    of_small_order,
    public_key,
    public_path,
    sign,
    signature_holds,
)
from tests.privacy.test_manifest import manifest

KEPT = Path(__file__).parent / "manifests"  # signed by earlier versions of this program; never to be written anew

# encodings of y = 0, 1, -1, of one y of a point of order 8, and of 2^255 - 19, which is 0 again
SMALL = {
    "00" * 32, "01" + "00" * 31, "ec" + "ff" * 30 + "7f",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", "ed" + "ff" * 30 + "7f",
}  # fmt: skip


def fits(key, document):
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes(64), canonical(document))
    except InvalidSignature:
        return False
    return True


@pytest.mark.parametrize("key", sorted(SMALL))
def test_a_signature_of_zeros_fits_no_document(key):
    assert of_small_order(bytes.fromhex(key))
    for i in range(50):
        signature = {"algorithm": "ed25519", "key": key, "value": "00" * 64}
        assert not signature_holds({"run": i, "signature": signature})


def test_the_library_alone_would_let_it_fit_some():
    assert any(fits("00" * 32, {"run": i}) for i in range(200))


def test_keys_that_are_drawn_are_of_no_small_order():
    for i in range(20):
        key, document = Ed25519PrivateKey.generate(), {"run": i}
        document["signature"] = sign(document, key)
        assert signature_holds(document)
        assert not signature_holds({**document, "run": i + 1})


@pytest.mark.parametrize("version", [1, 2])
def test_a_manifest_that_an_earlier_version_signed_is_read_and_its_signature_holds(version):
    path = KEPT / f"version-{version}.json"
    found, document = Manifest.read(path)
    assert found.version == version
    assert signature_holds(document)
    assert json.loads(found.to_json()) == document
    assert not signature_holds(document | {"epsilon": 2.0})
    assert not signature_holds(document | {"version": 3})


def test_what_is_signed_from_version_3_on_is_canonical_json():
    """One delta of 1e-09 is enough: Python writes it with another exponent than other programs."""
    made = manifest(seed=2**60).signed(Ed25519PrivateKey.generate())
    document = json.loads(made.to_json())
    assert document["version"] == 3
    assert document["seed"] == str(2**60)
    assert Manifest.model_validate(document).seed == 2**60
    rest = {k: v for k, v in document.items() if k != "signature"}
    assert canonical(document) == canonical_json(rest)
    assert b'"delta":1e-9,' in canonical(document)
    assert signature_holds(document)


def test_a_manifest_without_a_canonical_form_is_not_signed():
    with pytest.raises(InputError, match="no canonical form"):
        manifest(settings={"most": 2**60}).signed(Ed25519PrivateKey.generate())


PRIME = 2**255 - 19
D = -121665 * pow(121666, -1, PRIME) % PRIME


def eightfold(y):
    """y of eight times a point with this y, by the addition law of RFC 8032; None where no point has it."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    if x * x % PRIME != square:
        x = x * pow(2, (PRIME - 1) // 4, PRIME) % PRIME
    if x * x % PRIME != square:
        return None
    for _ in range(3):
        product = D * x * x * y * y
        x, y = (
            2 * x * y * pow(1 + product, -1, PRIME) % PRIME,
            (y * y + x * x) * pow(1 - product, -1, PRIME) % PRIME,
        )
    return x, y


@pytest.mark.parametrize("sign", [0, 1])
def test_a_key_is_of_small_order_where_eight_times_it_is_nothing_whatever_the_sign_of_x(sign):
    known = int.from_bytes(bytes.fromhex(max(SMALL - {"ec" + "ff" * 30 + "7f", "ed" + "ff" * 30 + "7f"})), "little")
    small = {0, 1, PRIME - 1, known, PRIME - known}
    drawn = {int.from_bytes(Ed25519PrivateKey.generate().public_key().public_bytes_raw(), "little") for _ in range(5)}
    for y in [*small, *range(2, 40), *(k % 2**255 for k in drawn)]:
        point = eightfold(y)
        if point is not None:
            assert (point == (0, 1)) == (y in small)
        for written in {y, y + PRIME} if y + PRIME < 2**255 else {y}:
            assert of_small_order((written + (sign << 255)).to_bytes(32, "little")) == (y in small)


def test_a_key_is_its_owners_alone_and_its_public_half_is_named_after_it(tmp_path):
    path = tmp_path / "owner.key"
    said = new_key(path)
    assert (path.stat().st_mode & 0o777, public_path(path).stat().st_mode & 0o777) == (0o600, 0o644)
    assert public_path(path) == tmp_path / "owner.key.pub" and not locked(path)
    raw = load_key(path).public_key().public_bytes_raw()
    assert public_key(path) == public_key(public_path(path)) == raw.hex()
    digits = hashlib.sha256(raw).hexdigest()
    assert said == fingerprint(raw.hex()) == f"{digits[:4]} {digits[4:8]} {digits[8:12]} {digits[12:16]}"
    before = path.read_bytes()
    with pytest.raises(OutputError, match="never overwritten"):
        new_key(path)
    with pytest.raises(OutputError, match="cannot be written"):
        new_key(tmp_path / "none" / "owner.key")
    assert path.read_bytes() == before
    with pytest.raises(InputError, match="has no passphrase"):
        load_key(path, b"word")


def test_a_key_with_a_passphrase_needs_it(tmp_path):
    path = tmp_path / "owner.key"
    new_key(path, b"word")
    assert locked(path) and not locked(public_path(path)) and not locked(tmp_path / "none")
    assert load_key(path, b"word").public_key().public_bytes_raw().hex() == public_key(path)
    with pytest.raises(InputError, match="set DPSYN_PASSPHRASE"):
        load_key(path)
    with pytest.raises(InputError, match="passphrase is wrong"):
        load_key(path, b"other")


def test_a_file_that_holds_no_key_of_ours_is_named(tmp_path):
    form, kinds = serialization, {"other.key": X25519PrivateKey.generate(), "other.pub": X25519PrivateKey.generate()}
    secret = (form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    (tmp_path / "other.key").write_bytes(kinds["other.key"].private_bytes(*secret))
    public = kinds["other.pub"].public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "other.pub").write_bytes(public)
    (tmp_path / "text.key").write_text("no key\n")
    for name, said in (("other.key", "of another kind"), ("text.key", "no private key"), ("none", "cannot be read")):
        with pytest.raises(InputError, match=said):
            load_key(tmp_path / name)
    for name in ("other.pub", "text.key", "none"):
        with pytest.raises(InputError, match="no public Ed25519 key"):
            public_key(tmp_path / name)


def test_a_signature_holds_for_its_document_key_and_algorithm_alone():
    key, other = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    document = {"version": 3, "run": 1.5}
    made = sign(document, key)
    assert sorted(made) == ["algorithm", "key", "value"] and made["algorithm"] == "ed25519"
    assert signature_holds(document | {"signature": made})
    for wrong in (
        {"algorithm": "rsa"}, {"key": sign(document, other)["key"]}, {"value": sign(document, other)["value"]},
        {"key": "zz"}, {"key": "00"}, {"value": ""}, {"key": None},
    ):  # fmt: skip
        assert not signature_holds(document | {"signature": made | wrong})
    assert not signature_holds(document) and not signature_holds(document | {"signature": None})
    assert canonical({"version": 1, "b": 1e-9, "a": "é", "signature": 1}) == '{"a":"é","b":1e-09,"version":1}'.encode()
    assert canonical({"version": 2, "b": 1e-9}) == b'{"b":1e-09,"version":2}'
    assert canonical({"b": 1e-9, "signature": 1}) == b'{"b":1e-9}'
    with pytest.raises(ValueError, match="Out of range"):
        canonical({"version": 1, "b": float("inf")})
