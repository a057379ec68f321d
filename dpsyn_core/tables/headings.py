"""Headers over several lines: headings over groups of columns, or the questions of a survey under short names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest


def over(lines: Sequence[Sequence[str]]) -> list[str]:
    """What columns are called whose headers stand in several lines.

    Where the first line names every column, and no two alike, the names are its own, and what stands below it tells
    about them, as in the exports of surveys. Otherwise the lines are joined: a heading holds for the columns to its
    right that have none, as merged cells do, and the last line names the columns below it.

    Args:
        lines: cells of each line, the uppermost first.

    Returns:
        One name a column; empty where no line has one.
    """
    columns = [[" ".join(cell.split()) for cell in column] for column in zip_longest(*lines, fillvalue="")]
    first = [column[0] for column in columns]
    if all(first) and len(set(first)) == len(first):
        return list(lines[0])
    held = [""] * len(lines)
    out = []
    for column in columns:
        for i, cell in enumerate(column[:-1]):
            if cell:  # a new heading ends those below the old one
                held[i:] = [cell, *[""] * (len(held) - i - 1)]
        out.append(" ".join(dict.fromkeys(filter(None, [*held[:-1], column[-1]]))))
    return out
