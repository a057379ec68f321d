"""Canonical JSON: one text for one document, so that a signature over it can be checked by any program.

Source: RFC 8785 (JSON Canonicalization Scheme): no blanks, names sorted by their UTF-16 code units, texts escaped as
little as JSON allows, numbers as ECMAScript writes them.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

LARGEST = 2**53 - 1  # whole numbers up to here are the same in every reader (RFC 7493, section 2.2)
PLAIN = 21  # digits before the point up to which ECMAScript writes no exponent (ECMA-262, Number::toString)
SMALL = -6  # power of ten down to which it writes none either


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
