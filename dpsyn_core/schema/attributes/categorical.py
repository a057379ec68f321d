"""Categorical attributes and their lists of categories.

Categorical attributes: columns with a public list of values.

Matches cells with a public list of values: as text, as numbers, as booleans in any spelling.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, StrictBool
from pydantic import model_validator as validator

from dpsyn_core.schema.attributes.base import CodedBase, Value, common_type
from dpsyn_core.schema.binning import MAX_BINS
from dpsyn_core.tables import headers
from dpsyn_core.tables.cells.canonical import blanks, canonical, to_text, uniques
from dpsyn_core.tables.cells.numbers import FALSE, NUMBER, TRUE


class CategoricalAttribute(CodedBase):
    """A column with a public list of values."""

    kind: Literal["categorical"] = "categorical"
    values: tuple[Value, ...] = Field(min_length=1, description="All public values; compared after casting")
    ordered: StrictBool = Field(False, description="Whether the values have an order")
    other: StrictBool = Field(False, description="Whether values outside the list have a cell of their own")

    @validator(mode="after")
    def _values_differ(self) -> CategoricalAttribute:
        if len(self.values) > MAX_BINS:
            msg = f"{len(self.values)} values are above the cap of {MAX_BINS}"
            raise ValueError(msg)
        keys = self.keys
        if len(set(keys)) != len(keys):
            seen: set[str] = set()
            repeated = next(k for k in keys if k in seen or seen.add(k))  # type: ignore[func-returns-value]
            msg = f"the value {repeated!r} stands twice in the domain (values are compared as text); remove one"
            raise ValueError(msg)
        if self.missing and "" in self.values:
            msg = "the value '' and a missing cell cannot both be declared: a blank cell could be either; drop one"
            raise ValueError(msg)
        return self

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Each value as canonical text: what cells are compared with."""
        return tuple(canonical(v) for v in self.values)

    @property
    def type(self) -> Literal["text", "integer", "float", "boolean"]:
        """Type of the decoded column: that of the values, text when they are mixed."""
        return common_type(self.values)

    @property
    def size(self) -> int:
        """Values, other, missing."""
        return len(self.values) + self.special

    @property
    def special(self) -> int:
        """Other, then missing."""
        return int(self.other) + int(self.missing)

    @property
    def is_number(self) -> bool:
        """Never: listed values have at most an order."""
        return False

    @property
    def in_order(self) -> bool:
        """As declared."""
        return self.ordered

    def labels(self) -> list[str]:
        """The values as text, or the words for them that a data dictionary gave (`notes.labels`)."""
        found = self.notes.get("labels")
        given = found if isinstance(found, dict) else {}
        words = [str(given.get(k, k)) for k in self.keys]
        if len(set(words)) < len(words):  # two codes of one word must still be told apart
            words = [w if w == k else f"{k}: {w}" for k, w in zip(self.keys, words, strict=True)]
        return [*words, *(["(other)"] if self.other else []), *self._tail()]

    def middles(self) -> NDArray[np.float64] | None:
        """The values themselves when they are numbers."""
        if self.type not in ("integer", "float"):
            return None
        return np.array([*map(float, self.values), *[np.nan] * self.special])


def match(column: Any, attribute: CategoricalAttribute) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Position of each record's value in the attribute's list.

    Args:
        column: pyarrow ChunkedArray of any flat type, length n.
        attribute: with its public values.

    Returns:
        int64 (n,): the position, or -1 where the value is not listed; bool (n,): whether the cell is blank (null,
        empty, NaN or only white space) and unlisted.
    """
    found, empty, index = match_entries(column, attribute)
    return found[index], empty[index]


def match_entries(
    column: Any, attribute: CategoricalAttribute
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.intp]]:
    """As `match`, of the distinct entries of a column; the last one stands for null cells.

    Returns:
        What `match` returns, of each entry; and for each record the place of its entry, -1 for null, int (n,).
    """
    entries, index = uniques(column)
    text = to_text(entries)
    found = np.append(_positions(text, attribute), -1)
    empty = np.append(blanks(text), True) & (found < 0)
    if "" in attribute.keys:
        found[empty] = attribute.keys.index("")
        empty[:] = False
    return found, empty, index


def _array(values: Any) -> Any:
    import pyarrow as pa

    return pa.array(values, pa.string())


def _positions(text: Any, attribute: CategoricalAttribute) -> NDArray[np.int64]:
    """Position of each distinct text, or -1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = _array(attribute.keys)
    found = _lookup(text, keys)
    numeric = any(isinstance(v, int | float) and not isinstance(v, bool) for v in attribute.values)
    left = np.flatnonzero(found < 0)
    if len(left) and numeric:
        rest = pc.utf8_trim_whitespace(text.take(pa.array(left)))
        found[left] = _lookup(_plain_number(rest), _numbers_only(attribute))
        left = np.flatnonzero(found < 0)
        if len(left):
            found[left] = _as_floats(text.take(pa.array(left)), attribute)
    if len(left) and attribute.type == "boolean":
        rest = pc.utf8_lower(pc.utf8_trim_whitespace(text.take(pa.array(left))))
        for value, spellings in ((True, TRUE), (False, FALSE)):
            if value in attribute.values:
                hit = pc.is_in(rest, value_set=_array(spellings)).to_numpy(zero_copy_only=False)
                found[left[hit]] = attribute.values.index(value)
    left = np.flatnonzero(found < 0)
    if len(left) and attribute.type in ("integer", "float"):  # true and false of a frame stand for 1 and 0
        rest = pc.utf8_lower(pc.utf8_trim_whitespace(text.take(pa.array(left))))
        for number, word in ((1, "true"), (0, "false")):
            if number in attribute.values:
                hit = pc.equal(rest, word).fill_null(False).to_numpy(zero_copy_only=False)
                found[left[hit]] = attribute.values.index(number)
    left = np.flatnonzero(found < 0)
    if len(left):  # an export of ours: '=x was written for =x
        rest = text.take(pa.array(left))
        found[left] = _lookup(pc.replace_substring_regex(rest, f"^'{headers.BEGINS}", r"\1"), keys)
        left = np.flatnonzero(found < 0)
    if len(left):  # composed and decomposed accents are the same letters
        rest = pc.utf8_normalize(text.take(pa.array(left)), "NFC")
        found[left] = _lookup(rest, pc.utf8_normalize(keys, "NFC"))
    return found


def _lookup(text: Any, keys: Any) -> NDArray[np.int64]:
    import pyarrow.compute as pc

    out: NDArray[np.int64] = (
        pc.fill_null(pc.index_in(text, value_set=keys, skip_nulls=True), -1)
        .to_numpy(zero_copy_only=False)
        .astype(np.int64)
    )
    return out


def _numbers_only(attribute: CategoricalAttribute) -> Any:
    """The keys, with those of text values blotted out: '01' must not match the text value '1'."""
    return _array(
        [
            k if isinstance(v, int | float) and not isinstance(v, bool) else None
            for k, v in zip(attribute.keys, attribute.values, strict=True)
        ]
    )


def _plain_number(text: Any) -> Any:
    """Numbers without sign +, leading zeros and empty fractions; other texts stay what no number is."""
    import pyarrow.compute as pc

    out = pc.replace_substring_regex(text, r"^\+", "")
    out = pc.replace_substring_regex(out, r"^(-?)0+(\d)", r"\1\2")
    out = pc.replace_substring_regex(out, r"^(-?\d+)\.0*$", r"\1")
    return pc.replace_substring_regex(out, r"^-0$", "0")


def _as_floats(text: Any, attribute: CategoricalAttribute) -> NDArray[np.int64]:
    """Compares as floats, where a float holds the value exactly: 1e-1, .1 and 0,1 are 0.1, 1e3 is 1000."""
    import pyarrow as pa
    import pyarrow.compute as pc

    # 1,3 is 1.3, but 1,300 only where a listed value has three decimals
    digits = r"\d+" if any(len(k.partition(".")[2]) == 3 for k in attribute.keys) else r"\d{1,2}|\d{4,}"
    trimmed = pc.replace_substring_regex(pc.utf8_trim_whitespace(text), rf"^(-?\d+),({digits})$", r"\1.\2")
    number = pc.match_substring_regex(trimmed, NUMBER)
    cells = pc.cast(pc.if_else(number, trimmed, "nan"), pa.float64()).to_numpy(zero_copy_only=False)
    listed = np.array([float(v) if type(v) in (int, float) and float(v) == v else np.inf for v in attribute.values])
    order = np.argsort(listed, kind="stable")
    at = np.minimum(np.searchsorted(listed[order], cells), len(listed) - 1)
    hit = (listed[order][at] == cells) & np.isfinite(cells)
    return np.where(hit, order[at], -1)
