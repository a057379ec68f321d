"""Categorical attributes: columns with a public list of values, with which cells are matched in any spelling."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, StrictBool, StrictStr
from pydantic import model_validator as validator

from dpsyn_core.errors import TableError
from dpsyn_core.schema.attributes.base import FAR, NO_MISSING, CodedBase, Places, Unfit, Value, array_of, common_type
from dpsyn_core.schema.binning import MAX_BINS
from dpsyn_core.tables import FALSE, NUMBER, TRUE, blanks, canonical, headers, places_of, to_text, uniques
from dpsyn_core.tables import numbers as cell_numbers

OTHER = "other"  # a listed value that says what the cell of unlisted values says
NO_OTHER = "add the value to the schema, or declare other: true"


class CategoricalAttribute(CodedBase):
    """A column with a public list of values."""

    listed: ClassVar[bool] = True
    kind: Literal["categorical"] = "categorical"
    values: tuple[Value, ...] = Field(min_length=1, description="All public values; compared after casting")
    ordered: StrictBool = Field(False, description="Whether the values have an order")
    other: StrictBool = Field(False, description="Whether values outside the list have a cell of their own")
    by_prefix: StrictBool = Field(
        False, description="Whether a cell outside the list counts as the longest listed value that it begins with"
    )

    other_word: StrictStr | None = Field(
        None,
        min_length=1,
        max_length=60,
        description="What other values are called in a column of text; absent: (other)",
    )
    places: Places = None

    @validator(mode="after")
    def _values_differ(self) -> CategoricalAttribute:
        if len(self.values) > MAX_BINS:
            msg = f"{len(self.values)} values are above the cap of {MAX_BINS}"
            raise ValueError(msg)
        keys = self.keys
        if len(set(keys)) != len(keys):
            seen: set[str] = set()
            repeated = next(k for k in keys if k in seen or seen.add(k))  # type: ignore[func-returns-value]
            msg = f"the value {repeated!r:.82} stands twice in the domain (values are compared as text); remove one"
            raise ValueError(msg)
        if self.by_prefix and not all(isinstance(v, str) and v for v in self.values):
            msg = "by_prefix is for values of text that are not blank, such as '10' for 10115; write all as text"
            raise ValueError(msg)
        if self.missing and "" in self.values:
            msg = "the value '' and a missing cell cannot both be declared: a blank cell could be either; drop one"
            raise ValueError(msg)
        if self.places is not None and self.type != "float":
            msg = f"places {self.places} is about digits after the mark, and the values have none; drop it"
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
    def marks(self) -> dict[bytes, bytes]:
        """How many digits after the mark the cells have, for the table."""
        return {} if self.places is None else places_of(self.name, self.places)

    @property
    def size(self) -> int:
        """Values, other, missing."""
        return len(self.values) + self.special

    @property
    def special(self) -> int:
        """Other, then missing."""
        return int(self.other) + int(self.missing)

    @property
    def single_values(self) -> tuple[Value, ...]:
        """The listed values."""
        return self.values

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return self.type == "integer"

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
        labels = self.notes.get("labels")
        given = labels if isinstance(labels, dict) else {}
        words = [str(given.get(k, k)) for k in self.keys]
        if len(set(words)) < len(words):  # two codes of one word must still be told apart
            words = [w if w == k else f"{k}: {w}" for k, w in zip(self.keys, words, strict=True)]
        return [*words, *(["(other)"] if self.other else []), *self._tail()]

    def middles(self) -> NDArray[np.float64] | None:
        """The values themselves when they are numbers."""
        if self.type not in ("integer", "float"):
            return None
        return np.array([*map(float, self.values), *[np.nan] * self.special])

    def describe(self) -> str:
        """The values."""
        how = " and what begins with them" if self.by_prefix else ""
        return f"categorical: {', '.join(map(str, self.values))}{how}"

    def declared(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Values, their order, and the codes among them that stand for an absent answer."""
        del attributes
        noted = self.notes.get("missing_codes")
        absent = noted if isinstance(noted, list) else []
        return {
            "kind": self.type,
            "values": self.values,
            "codes_missing": tuple(c for c in absent if isinstance(c, str | int | float))
            if isinstance(absent, list)
            else (),
            "listed": True,
            "ordered": self.ordered,
            "blank": self.missing,
        }

    def match(self, column: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Position of each record's value in the list.

        Args:
            column: pyarrow ChunkedArray of any flat type, length n.

        Returns:
            int64 (n,): the position, or -1 where the value is not listed; bool (n,): whether the cell is blank (null,
            empty, NaN or only white space) and unlisted.
        """
        positions, empty, index = self.match_entries(column)
        return positions[index], empty[index]

    def match_entries(self, column: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.intp]]:
        """As `match`, of the distinct entries of a column; the last one stands for null cells.

        Returns:
            What `match` returns, of each entry; and for each record the place of its entry, -1 for null, int (n,).
        """
        entries, index = uniques(column)
        text = to_text(entries)
        positions = np.append(_positions(text, self), -1)
        empty = np.append(blanks(text), True) & (positions < 0)
        if self.by_prefix:
            self._match_beginnings(text, positions)
        if self.blank_word is not None:
            empty[:-1] |= (positions[:-1] < 0) & _equal(text, self.blank_word)
        if "" in self.keys:
            positions[empty] = self.keys.index("")
            empty[:] = False
        return positions, empty, index

    def _match_beginnings(self, text: Any, positions: NDArray[np.int64]) -> None:
        """Fills in the positions of unlisted texts that begin with a listed value, the longest first."""
        import pyarrow as pa
        import pyarrow.compute as pc

        keys = _array(self.keys)
        for size in sorted({len(k) for k in self.keys}, reverse=True):
            left = np.flatnonzero(positions[:-1] < 0)
            if not len(left):
                return
            rest = pc.utf8_trim_whitespace(text.take(pa.array(left)))
            positions[left] = _lookup(pc.utf8_slice_codeunits(rest, 0, size), keys)

    def encode(self, *columns: Any, comma: bool = False, strict: bool = False) -> NDArray[np.signedinteger]:
        """Codes (n,) of one column: unlisted values as other, else as missing; blank cells the other way round."""
        del comma
        [column] = columns
        codes, blank, index = self.match_entries(column)
        missing = self.size - 1 if self.missing else -1
        other = len(self.values) if self.other else -1
        unlisted = (codes < 0) & ~blank
        if strict:
            used = np.zeros(len(codes), dtype=bool)
            used[index] = True
            if not self.other and (unlisted & used).any():
                msg = f"column '{headers.short(self.name)}' holds a value outside its declared domain; {NO_OTHER}"
                raise TableError(msg)
            if (blank & used).any() and max(missing, other) < 0:
                msg = f"column '{headers.short(self.name)}' holds blank cells; {NO_MISSING}"
                raise TableError(msg)
        codes[blank] = missing if missing >= 0 else other
        codes[unlisted] = other if other >= 0 else missing
        return codes.astype(np.int32)[index]  # of each entry once, then of each record

    def decode(
        self, codes: NDArray[Any], rng: Generator, *, scores: NDArray[np.floating] | None = None, listed: bool = False
    ) -> Any:
        """The listed values as a pyarrow array (n,), as `CodedBase.decode`."""
        del rng, scores
        import pyarrow as pa

        kind = self.type if self.blank_word is None else "text"
        other = self.other_text() if self.type == "text" else None
        values = array_of([*self.values, *[other] * self.other, *[self.blank_word] * self.missing], kind)
        if not listed:
            return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), values).dictionary_decode()
        nowhere = values.is_null().to_numpy(zero_copy_only=False)  # Parquet has no dictionaries with a null in them
        mask = nowhere[codes] if nowhere.any() else None
        kept = len(values) - int(nowhere.sum())  # nulls stand at the end
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=mask), values[:kept])

    def other_text(self) -> str:
        """What other values decode to in a text column: a text that the list does not have."""
        text = self.other_word or "(other)"
        while text in self.keys:
            text = f"({text})"
        return text

    def without_other(self, codes: NDArray[Any], rng: Generator) -> NDArray[Any]:
        """Codes (n,) without those of `other` that no cell can show, as a value that nobody has or a blank cell would.

        Where the list has a value called other, that is what other values are. In a column of numbers, also with
        missing codes such as .a among them, they are drawn anew among the listed values, as often as those occur;
        post-processing.
        """
        if not self.other:
            return codes
        plain = len(self.values)
        word = next((i for i, key in enumerate(self.keys) if str(key).strip().casefold() == OTHER), None)
        if word is None and self.type == "text" and not self._numbers_with_letters:
            return codes
        lost = codes == plain
        if not lost.any():
            return codes
        out = codes.copy()
        listed = codes[codes < plain]
        if word is not None:
            out[lost] = word
        elif len(listed):
            out[lost] = rng.choice(listed, int(lost.sum()))
        else:
            out[lost] = rng.integers(0, plain, int(lost.sum()))
        return out

    @cached_property
    def _numbers_with_letters(self) -> bool:
        """Whether the values are numbers and missing codes of Stata and SAS, which stand in columns of numbers."""
        from dpsyn_core.tables import LETTER

        letters = [bool(LETTER.match(k)) for k in self.keys]
        return any(letters) and all(at or re.match(NUMBER, k) for k, at in zip(self.keys, letters, strict=True))

    def unfit(self, column: Any, *, comma: bool = False) -> Unfit:
        """Blank cells, and values that are not listed."""
        del comma
        codes, blank = self.match(column)
        none = np.zeros(len(codes), dtype=bool)
        return Unfit(
            blank=blank,
            unread=(codes < 0) & ~blank,
            outside=none,
            off_rhythm=none,
            unread_are="cells that are not in its list of values",
            mend="add the values to the list",
        )

    def values_of(self, column: Any, codes: NDArray[Any], *, comma: bool = False) -> NDArray[np.float64]:
        """What the listed values stand for (n,); unlisted ones as they are written."""
        middles = self.middles()
        if middles is None:
            return np.full(len(codes), np.nan)
        out = np.asarray(middles[codes])
        at = np.flatnonzero(np.isnan(out) & (codes >= len(self.values)))
        if len(at):
            numbers, valid = cell_numbers.to_numbers(column.take(at), whole=False, comma=comma, written=None)
            out[at] = np.where(valid, np.clip(numbers.astype(np.float64), -FAR, FAR), np.nan)
        return out

    def further_cells(self, column: Any) -> dict[str, bool]:
        """Cells for blank and for unlisted values, where the column has some; none where it has no listed value."""
        codes, blank, index = self.match_entries(column)
        used = np.zeros(len(codes), dtype=bool)
        used[index] = True
        unlisted = (codes < 0) & ~blank & used
        needed = {"missing": True} if (blank & used).any() and not self.missing else {}
        return needed | ({"other": True} if unlisted.any() and (codes >= 0)[used].any() and not self.other else {})


def _equal(text: Any, word: str) -> NDArray[np.bool_]:
    """Which texts are a word, whatever case they have and however white space stands around them."""
    import pyarrow.compute as pc

    same = pc.equal(pc.utf8_lower(pc.utf8_trim_whitespace(text)), word.strip().lower())
    return np.asarray(pc.fill_null(same, False).to_numpy(zero_copy_only=False))


def _array(values: Any) -> Any:
    import pyarrow as pa

    return pa.array(values, pa.string())


def _positions(text: Any, attribute: CategoricalAttribute) -> NDArray[np.int64]:
    """Position of each distinct text, or -1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = _array(attribute.keys)
    positions = _lookup(text, keys)
    numeric = any(isinstance(v, int | float) and not isinstance(v, bool) for v in attribute.values)
    left = np.flatnonzero(positions < 0)
    if len(left) and numeric:
        rest = pc.utf8_trim_whitespace(text.take(pa.array(left)))
        positions[left] = _lookup(_plain_number(rest), _numbers_only(attribute))
        left = np.flatnonzero(positions < 0)
        if len(left):
            positions[left] = _as_floats(text.take(pa.array(left)), attribute)
    if len(left) and attribute.type == "boolean":
        rest = pc.utf8_lower(pc.utf8_trim_whitespace(text.take(pa.array(left))))
        for value, spellings in ((True, TRUE), (False, FALSE)):
            if value in attribute.values:
                hit = pc.is_in(rest, value_set=_array(spellings)).to_numpy(zero_copy_only=False)
                positions[left[hit]] = attribute.values.index(value)
    left = np.flatnonzero(positions < 0)
    if len(left) and attribute.type in ("integer", "float"):  # true and false of a frame stand for 1 and 0
        rest = pc.utf8_lower(pc.utf8_trim_whitespace(text.take(pa.array(left))))
        for number, word in ((1, "true"), (0, "false")):
            if number in attribute.values:
                hit = pc.equal(rest, word).fill_null(False).to_numpy(zero_copy_only=False)
                positions[left[hit]] = attribute.values.index(number)
    left = np.flatnonzero(positions < 0)
    if len(left):  # an export of ours: '=x was written for =x
        rest = text.take(pa.array(left))
        positions[left] = _lookup(pc.replace_substring_regex(rest, f"^'{headers.BEGINS}", r"\1"), keys)
        left = np.flatnonzero(positions < 0)
    if len(left):  # composed and decomposed accents are the same letters
        rest = pc.utf8_normalize(text.take(pa.array(left)), "NFC")
        positions[left] = _lookup(rest, pc.utf8_normalize(keys, "NFC"))
    return positions


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
