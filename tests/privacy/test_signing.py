"""Signatures: over canonical JSON, of earlier versions too; a key that nobody can hold signs nothing."""

import json
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dpsyn_core.errors import InputError
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.manifest.signing import canonical, canonical_json, of_small_order, sign, signature_holds
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
