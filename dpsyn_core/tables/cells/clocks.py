"""Times of day and durations as numbers: 00:12:33 is 753 seconds, 07:05 is 425 minutes, 1:05 PM is 785.

Each cell is read by itself.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

EXAMPLE = re.compile(r"^(\d{1,6}(:[0-5]\d){1,2}|(1[0-2]|0?[1-9])(:[0-5]\d){1,2} ?[APap][Mm])$")
DAY = {1: 24 * 60, 2: 24 * 60 * 60}  # minutes and seconds of a day, by the marks of a time


def plain(texts: Any, example: str) -> Any:
    """Cells with as many marks as the example as numerals of its last part (-5, 753); others as they are."""
    import pyarrow.compute as pc

    half = _half(example)
    parts = pc.extract_regex(texts, _pattern(example.count(":"), half))
    total: Any = 0
    for name in ("first", "second", "third")[: example.count(":") + 1]:
        part = pc.cast(pc.fill_null(pc.struct_field(parts, name), "0"), "int64")
        if half and name == "first":  # 12 AM is midnight
            after = pc.fill_null(pc.match_substring_regex(pc.struct_field(parts, "half"), "[Pp]"), False)
            part = pc.add(pc.if_else(pc.equal(part, 12), 0, part), pc.if_else(after, 12, 0))
        total = pc.add(pc.multiply(total, 60), part)
    sign = pc.fill_null(pc.struct_field(parts, "minus"), "")
    return pc.if_else(parts.is_valid(), pc.binary_join_element_wise(sign, pc.cast(total, "string"), ""), texts)


def written(values: NDArray[Any], example: str) -> Any:
    """Whole numbers (n,) as a pyarrow array of times, whose first part is as wide as in the example.

    Those with AM and PM are of one day.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    rest, shown = np.abs(np.rint(values).astype(np.int64)), []
    for _ in range(example.count(":")):
        rest, part = np.divmod(rest, 60)
        shown.append(pc.utf8_lpad(pa.array(part).cast(pa.string()), 2, "0"))
    half, behind = _half(example), ""
    if half:
        before, after = half.translate(str.maketrans("pP", "aA")), half.translate(str.maketrans("aA", "pP"))
        behind, rest = pc.if_else(pa.array(rest % 24 >= 12), after, before), (rest - 1) % 12 + 1
    shown.append(pc.utf8_lpad(pa.array(rest).cast(pa.string()), example.index(":"), "0"))
    return pc.binary_join_element_wise(
        pc.if_else(pa.array(np.rint(values) < 0), "-", ""), pc.binary_join_element_wise(*shown[::-1], ":"), behind, ""
    )


def recognised(texts: Any) -> str:
    """An example in the form of every one of these cells, none of them blank; empty where there is no such form."""
    import pyarrow.compute as pc

    half = _half(str(texts[0])) if len(texts) else ""
    for marks in (2, 1):
        parts = pc.extract_regex(texts, _pattern(marks, half))
        if len(texts) and not parts.null_count:
            width = pc.min(pc.utf8_length(pc.struct_field(parts, "first"))).as_py()
            hour = ("01" if width == 2 else "1") if half else "123456"[:width]
            return hour + ":34:56"[: 3 * marks] + half
    return ""


def _half(text: str) -> str:
    """What a time of twelve hours ends on, with the blank before it; empty for others."""
    return found[0] if (found := re.search(r" ?[APap][Mm]$", text.strip())) else ""


def _pattern(marks: int, half: str) -> str:
    """A regular expression of pyarrow's engine for cells with so many marks, of twelve hours where there is a half."""
    third = r":(?P<third>[0-5]\d)" if marks == 2 else "(?P<third>)"
    if half:
        return rf"^\s*'?(?P<minus>)(?P<first>1[0-2]|0?[1-9]):(?P<second>[0-5]\d){third} ?(?P<half>[AaPp])[Mm]\s*$"
    return rf"^\s*'?(?P<minus>-?)(?P<first>\d{{1,6}}):(?P<second>[0-5]\d){third}\s*$"
