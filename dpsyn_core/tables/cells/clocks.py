"""Times of day and durations as numbers: 00:12:33 is 753 seconds, 07:05 is 425 minutes. Each cell is read by itself."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

EXAMPLE = re.compile(r"^\d{1,6}(:[0-5]\d){1,2}$")
DAY = {1: 24 * 60, 2: 24 * 60 * 60}  # minutes and seconds of a day, by the marks of a time


def plain(texts: Any, example: str) -> Any:
    """Cells with as many marks as the example as numerals of its last part (-5, 753); others as they are."""
    import pyarrow.compute as pc

    parts = pc.extract_regex(texts, _pattern(example.count(":")))
    total: Any = 0
    for name in ("first", "second", "third")[: example.count(":") + 1]:
        part = pc.cast(pc.fill_null(pc.struct_field(parts, name), "0"), "int64")
        total = pc.add(pc.multiply(total, 60), part)
    sign = pc.fill_null(pc.struct_field(parts, "minus"), "")
    return pc.if_else(parts.is_valid(), pc.binary_join_element_wise(sign, pc.cast(total, "string"), ""), texts)


def written(values: NDArray[Any], example: str) -> Any:
    """Whole numbers (n,) as a pyarrow array of times, whose first part is as wide as in the example."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rest, shown = np.abs(np.rint(values).astype(np.int64)), []
    for _ in range(example.count(":")):
        rest, part = np.divmod(rest, 60)
        shown.append(pc.utf8_lpad(pa.array(part).cast(pa.string()), 2, "0"))
    shown.append(pc.utf8_lpad(pa.array(rest).cast(pa.string()), example.index(":"), "0"))
    return pc.binary_join_element_wise(
        pc.if_else(pa.array(np.rint(values) < 0), "-", ""), pc.binary_join_element_wise(*shown[::-1], ":"), ""
    )


def recognised(texts: Any) -> str:
    """An example in the form of every one of these cells, none of them blank; empty where there is no such form."""
    import pyarrow.compute as pc

    for marks in (2, 1):
        parts = pc.extract_regex(texts, _pattern(marks))
        if len(texts) and not parts.null_count:
            width = pc.min(pc.utf8_length(pc.struct_field(parts, "first"))).as_py()
            return "123456"[:width] + ":34:56"[: 3 * marks]
    return ""


def _pattern(marks: int) -> str:
    """A regular expression of pyarrow's engine for cells with so many marks."""
    third = r":(?P<third>[0-5]\d)" if marks == 2 else "(?P<third>)"
    return rf"^\s*'?(?P<minus>-?)(?P<first>\d{{1,6}}):(?P<second>[0-5]\d){third}\s*$"
