"""Canonical JSON: the examples of RFC 8785, ECMAScript's own numbers, and documents that have no canonical form."""

import json
import math
import shutil
import struct
import subprocess
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsyn_core.privacy.manifest.signing import canonical_json, number

# RFC 8785, appendix B: the bits of a double, and its text
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize(("bits", "text"), NUMBERS.items())
def test_a_double_is_written_as_the_appendix_of_the_standard_writes_it(bits, text):
    assert number(struct.unpack(">d", bytes.fromhex(bits))[0]) == text


def test_the_example_of_the_standard_gives_its_text():
    document = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
        "literals": [None, True, False],
    }
    assert canonical_json(document).decode() == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_names_are_sorted_by_their_utf_16_units_and_not_by_their_letters():
    names = ["€", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "ö"]
    found = json.loads(canonical_json(dict.fromkeys(names, 0)))
    assert list(found) == ["\r", "1", "\u0080", "ö", "€", "\U0001f600", "\ufb33"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_comes_back(value):
    assert float(number(value)) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, -(2**53), {1: 2}, {"a": {1}}, "\ud800"])
def test_what_has_no_canonical_form_is_refused(value):
    with pytest.raises(ValueError):
        canonical_json([value])


@pytest.mark.skipif(shutil.which("node") is None, reason="compares with ECMAScript itself where node is installed")
def test_ecmascript_writes_the_same_text_for_a_thousand_doubles():
    bits = [(i * 0x9E3779B97F4A7C15) % 2**64 for i in range(1, 1300)]
    values = [struct.unpack(">d", struct.pack(">Q", b))[0] for b in bits]
    values = [v for v in values if math.isfinite(v)] + [1.0 * i / 7 for i in range(200)]
    script = f"for (const x of {json.dumps(values)}) console.log(String(x))"
    done = subprocess.run(["node", "-"], input=script, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [number(v) for v in values]


@pytest.mark.parametrize("power", range(-9, 24))
def test_where_the_point_stands_and_where_an_exponent_begins(power):
    """ECMAScript writes no exponent from 1e-6 up to 1e21, and the fewest digits that give the double again."""
    for digits in ("1", "12", "123456789", "8888888888888888"):
        value = float(f"{digits[0]}.{digits[1:]}e{power}")
        exact = Decimal(repr(value))
        if -7 < power < 21:
            expected = f"{exact:f}"
            expected = expected.rstrip("0").rstrip(".") if "." in expected else expected
        else:
            short = repr(value) if "e" in repr(value) else f"{exact:e}"
            head, _, tail = short.partition("e")
            head = head.rstrip("0").rstrip(".") if "." in head else head
            expected = f"{head}e{int(tail):+d}"
        assert number(value) == expected and number(-value) == f"-{expected}"


def test_whole_numbers_and_words_are_written_in_full():
    assert canonical_json([2**53 - 1, 1 - 2**53, 0, -0.0, 7]) == b"[9007199254740991,-9007199254740991,0,0,7]"
    assert canonical_json((True, False, None, "x")) == b'[true,false,null,"x"]'
    assert canonical_json({"b": {}, "a": []}) == b'{"a":[],"b":{}}'
