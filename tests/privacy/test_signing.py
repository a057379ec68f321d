"""Signatures: a key that nobody can hold signs nothing."""

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dpsyn_core.privacy.manifest.signing import canonical, of_small_order, sign, signature_holds

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
