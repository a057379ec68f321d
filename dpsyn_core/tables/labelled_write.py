"""Writes SPSS, Stata and SAS transport files: codes with their labels, missing codes and variable labels.

What a format cannot carry is listed in `LabelPlan.lost`, before anything is written. The bytes name no moment, so that
a table that is written twice has one digest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dpsyn_core.errors import OutputError
from dpsyn_core.tables.cells import canonical_text as canonical
from dpsyn_core.tables.declarations import DeclaredColumn
from dpsyn_core.tables.labelled import EPOCH, library

KINDS = {".sav": "sav", ".dta": "dta", ".xpt": "xport"}
CALLED = {"sav": "SPSS", "dta": "Stata", "xport": "SAS transport"}
NAME = {"sav": 64, "dta": 32, "xport": 32}  # bytes of a name
LABEL = {"sav": 255, "dta": 80, "xport": 255}  # characters (of SPSS and SAS: bytes) of a variable label
WORD = {"sav": 120, "dta": 32_000, "xport": 0}  # bytes of a label of a code
TEXT = {"sav": 32_767, "dta": 2_045, "xport": 200}  # bytes of a text
DISCRETE = 3  # missing codes that SPSS takes one by one
EXACT = 1 << 53  # whole numbers up to here are kept by a double
RESERVED = {
    "all",
    "and",
    "by",
    "eq",
    "ge",
    "gt",
    "le",
    "lt",
    "ne",
    "not",
    "or",
    "to",
    "with",
    "_all",
    "byte",
    "double",
    "float",
    "if",
    "in",
    "int",
    "long",
    "using",
    "_b",
    "_n",
    "_cons",
    "_pi",
    "_rc",
    "_skip",
    "_se",
    "_pred",
    "strl",
}
LETTER = re.compile(r"^\.[a-z]$")  # a missing code of Stata and SAS
DAY = {"sav": ("DATE11", 86_400), "dta": ("%td", 1), "xport": ("DATE9", 1)}  # format, and units of a day
MOMENT = {"sav": ("DATETIME20", 1), "dta": ("%tc", 1000), "xport": ("DATETIME20", 1)}  # format, and units of a second
WHOLE = {"sav": "F12.0", "dta": "%12.0g", "xport": ""}
SHOWN = {  # formats of the programs that are written again, of numbers, days and times
    "sav": (
        r"(F|N|E|COMMA|DOT|DOLLAR|CC[A-E]|PCT|D?TIME|WKDAY|MONTH)\d{1,2}(\.\d{1,2})?",
        r"([AEJS]?DATE|(MO|Q|WK)YR)\d{1,2}",
        r"(DATETIME|YMDHMS)\d{1,2}(\.\d{1,2})?",
    ),
    "dta": (r"%-?0?\d{1,2}\.\d{1,2}[efg]c?", r"%td.{0,40}", r"%tc.{0,40}"),
    "xport": (
        r"((BEST|COMMA)?\d{1,2}\.?\d{0,2})",
        r"(DATE|(DDMMYY|MMDDYY|YYMMDD)[DNPS]?)\d{1,2}\.?",
        r"DATETIME\d{1,2}(\.\d{0,2})?",
    ),
}
# where each format names the moment at which it was written, in bytes, and what stands there instead
STAMPS = {
    "sav": ((92,), b"01 Jan 8000:00:00"),
    "dta": ((), b"01 Jan 1980 00:00"),  # behind its own mark
    "xport": ((144, 160, 464, 480), b"01JAN80:00:00:00"),
}
STAMP = b"<timestamp>\x11"


What = Literal["name", "label", "labels", "fractions", "missing"]
SAID: dict[What, str] = {
    "name": "'{column}' is no name in {program} and is written '{written}'",
    "label": "the label of '{column}' is cut after {most} characters",
    "labels": "of '{column}', labels of codes are left out",
    "fractions": "of '{column}', labels of codes that are no whole numbers",
    "missing": "of '{column}', which codes are missing ones",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class NotCarried:
    """One thing that a format does not carry of a column. written: its name there. most: characters of a label."""

    what: What
    column: str
    program: str
    written: str = ""
    most: int = 0

    def __str__(self) -> str:
        """In words."""
        return SAID[self.what].format(column=self.column, program=self.program, written=self.written, most=self.most)


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelPlan:
    """How the columns of a table go into a file of this kind, and what of them does not, in sentences."""

    kind: str
    names: tuple[str, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    missing: Mapping[str, Any] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    tagged: frozenset[str] = frozenset()  # columns of Stata with codes .a to .z
    lost: tuple[NotCarried, ...] = ()


def planned(schema: Any, declared: Mapping[str, DeclaredColumn], ending: str) -> LabelPlan:
    """The plan for a table with this Arrow schema. declared: declarations of its columns, by name."""
    kind, lost = KINDS[ending], []
    names = _names(schema.names, kind)
    labels, words, missing, measures, tagged = {}, {}, {}, {}, set()
    for header, name, of in zip(schema.names, names, schema.types, strict=True):
        entry = declared.get(header, DeclaredColumn(name=header))
        label = entry.label or entry.description or ("" if header == name else header)
        labels[name] = _cut(label, LABEL[kind])
        if header != name:
            lost.append(NotCarried(what="name", column=header, program=CALLED[kind], written=name))
        if labels[name] != label:
            lost.append(NotCarried(what="label", column=header, program=CALLED[kind], most=LABEL[kind]))
        codes = _codes(entry, of, kind)
        if entry.listed is not None:
            measures[name] = "scale" if not entry.listed else "ordinal" if entry.ordered else "nominal"
        if codes.words:
            words[name] = codes.words
        if codes.missing:
            missing[name] = codes.missing
        if codes.tagged:
            tagged.add(name)
        lost += [NotCarried(what=what, column=header, program=CALLED[kind]) for what in codes.lost]
    return LabelPlan(
        kind=kind,
        names=tuple(names),
        labels=labels,
        words=words,
        missing=missing,
        measures=measures,
        tagged=frozenset(tagged),
        lost=tuple(lost),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Codes:
    words: dict[Any, str]
    missing: list[Any]
    tagged: bool
    lost: list[What]


def _codes(said: DeclaredColumn, of: Any, kind: str) -> _Codes:
    """Labels and missing codes of one column, as the format wants them."""
    text, absent = canonical.is_text(of), [canonical.canonical(c) for c in said.codes_missing]
    letters = [c for c in {*said.words, *absent} if LETTER.match(c)]
    tagged = kind == "dta" and text and bool(letters) and _all_numbers(said)
    words: dict[Any, str] = {}
    lost: list[What] = []
    numeric = tagged or not text
    for code, word in said.words.items():
        at = _placed(code, kind) if numeric else code
        if at is not None and (tagged or text or not LETTER.match(code)):  # no letter stands in a column of numbers
            words[at] = _cut(word, WORD[kind])
    if kind == "xport" or (kind == "dta" and not numeric):
        words = {}
    if said.words and len(words) < len(said.words):
        lost.append("labels" if not words else "fractions")
    places = [_placed(c, kind) if numeric else c for c in absent]
    missing: list[Any] = []
    if kind == "sav":
        missing = [m for m in places if m is not None and (numeric or len(str(m).encode()) <= 8)]
        missing = missing if len(missing) <= DISCRETE else _span(missing, said)
    elif tagged:
        missing = [m for m in places if isinstance(m, str)]
    if absent and not missing:
        lost.append("missing")
    return _Codes(words=words, missing=missing, tagged=tagged, lost=lost)


def _span(missing: list[Any], said: DeclaredColumn) -> list[Any]:
    """More missing codes than SPSS lists, as a range where no other value lies in it; else nothing."""
    if any(isinstance(m, str) for m in missing):
        return []
    low, high = min(missing), max(missing)
    others = [
        *(v for v in said.values if v not in said.codes_missing),
        *(v for v in (said.low, said.high) if v is not None),
    ]
    numbers = [float(v) for v in others if isinstance(v, int | float)]
    inside = [v for v in numbers if low <= v <= high]
    around = bool(numbers) and min(numbers) < low and max(numbers) > high
    return [] if inside or around else [{"lo": low, "hi": high}]


def _all_numbers(said: DeclaredColumn) -> bool:
    """Whether all values of a column of text are whole numbers or letters of missing ones."""
    codes = [canonical.canonical(v) for v in (*said.values, *said.codes_missing)] or list(said.words)
    return all(LETTER.match(c) or re.match(r"^-?\d{1,9}$", c) for c in codes)


def _placed(code: str, kind: str) -> Any:
    """A code of a column of numbers; None where the format has no label for it."""
    if kind == "dta":
        return code[1:] if LETTER.match(code) else int(code) if re.match(r"^-?\d{1,9}$", code) else None
    if code in ("true", "false"):
        return int(code == "true")
    try:
        number = float(code)
    except ValueError:
        return None
    return int(number) if number.is_integer() else number


def _cut(text: str, most: int) -> str:
    """The text without what has no room."""
    return text.encode()[:most].decode("utf-8", "ignore")


def _names(names: list[str], kind: str) -> list[str]:
    """A name of the format for each column, all of them different also where case does not count."""
    out: list[str] = []
    taken: set[str] = set()
    for header in names:
        base = re.sub(r"\W", "_", header, flags=re.ASCII if kind != "sav" else 0)
        base = _cut(base if re.match(r"[^\W\d]", base) and base[0] != "_" else f"v_{base.lstrip('_')}", NAME[kind])
        base = f"{base}_"[: NAME[kind]] if base.lower() in RESERVED else base
        name, number = base, 2
        while name.lower() in taken:
            tail = f"_{number}"
            name, number = _cut(base, NAME[kind] - len(tail)) + tail, number + 1
        taken.add(name.lower())
        out.append(name)
    return out


def write_labelled(table: Any, path: Path, ending: str, declared: Mapping[str, DeclaredColumn]) -> None:
    """Writes a pyarrow table to a path, whatever its name. Raises OutputError, or TableError without the extra."""
    import pandas as pd

    writer = library()
    plan = planned(table.schema, declared, ending)
    columns, formats = {}, {}
    for header, name, column in zip(table.column_names, plan.names, table.columns, strict=True):
        columns[name], formats[name] = _column(column, plan.kind, name, tagged=name in plan.tagged)
        if header in declared and (columns[name].dtype.kind == "f" or name in plan.tagged):
            formats[name] = _format(formats[name], declared[header].shown, plan.kind)
    given = {name: form for name, form in formats.items() if form}
    options: dict[str, Any] = {"column_labels": dict(plan.labels), "variable_format": given}
    if plan.kind != "xport":
        options["variable_value_labels"] = {name: dict(words) for name, words in plan.words.items()}
    if plan.kind == "sav":
        options |= {"missing_ranges": dict(plan.missing), "variable_measure": dict(plan.measures)}
        options |= {"row_compress": True}
    elif plan.kind == "dta":
        options["version"] = 14  # read by Stata 14 and newer
        options["missing_user_values"] = {name: list(letters) for name, letters in plan.missing.items()}
    try:
        getattr(writer, f"write_{plan.kind}")(pd.DataFrame(columns), str(path), **options)
    except OSError:
        raise
    except Exception as error:  # whatever the library says of a column that it cannot write
        msg = f"the table cannot be written as a {CALLED[plan.kind]} file; write CSV or Parquet"
        raise OutputError(msg) from error
    _without_time(path, plan.kind)


def _column(column: Any, kind: str, name: str, *, tagged: bool) -> tuple[Any, str]:
    """The cells as pandas wants them, and the format of a number."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    of = column.type.value_type if t.is_dictionary(column.type) else column.type
    plain = column.cast(of) if of is not column.type else column
    if t.is_boolean(of):
        return plain.cast(pa.float64(), safe=False).to_numpy(), WHOLE[kind]
    if t.is_integer(of) and (pc.max(pc.abs(plain)).as_py() or 0) <= EXACT:
        return plain.cast(pa.float64()).to_numpy(), WHOLE[kind]
    if t.is_floating(of):
        return plain.cast(pa.float64()).to_numpy(), ""
    if t.is_date(of) or t.is_timestamp(of):
        return _since(plain, kind)
    text = pc.fill_null(canonical.to_text(plain.combine_chunks()), "")
    if tagged:
        # doubles: of whole numbers, pyreadstat 1.3.7 writes what lies in memory for a blank cell behind a letter
        cells = [np.nan if not c else c[1:] if LETTER.match(c) else float(c) for c in text.to_pylist()]
        return np.array(cells, object), ""
    if len(text) and pc.max(pc.binary_length(text)).as_py() > TEXT[kind]:
        msg = f"column '{name}' has texts above the {TEXT[kind]} bytes that {CALLED[kind]} takes; write CSV"
        raise OutputError(msg)
    if pc.any(pc.match_substring(text, "\0")).as_py():  # what stands behind one would be cut
        msg = (
            f"column '{name}' has texts with a NUL character, at which {CALLED[kind]} ends a text; write CSV or Parquet"
        )
        raise OutputError(msg)
    return text.to_numpy(zero_copy_only=False), ""


def _format(usual: str, shown: str, kind: str) -> str:
    """The format that the source had, where it fits the program and the kind of cells; else the usual one."""
    at = {DAY[kind][0]: 1, MOMENT[kind][0]: 2}.get(usual, 0)
    return shown if re.fullmatch(SHOWN[kind][at], shown) else usual


def _since(column: Any, kind: str) -> tuple[Any, str]:
    """Days or times as numbers since the beginning that the program counts from."""
    import pyarrow as pa
    import pyarrow.types as t

    day = t.is_date(column.type)
    form, per = (DAY if day else MOMENT)[kind]
    whole = column.cast(pa.date32()).cast(pa.int32()) if day else column.cast(pa.timestamp("s")).cast(pa.int64())
    numbers = whole.cast(pa.float64()).to_numpy()
    start = int(np.datetime64(EPOCH[kind], "s").astype(np.int64)) // (86_400 if day else 1)
    return (numbers - start) * per, form


def _without_time(path: Path, kind: str) -> None:
    """Puts one moment in place of that of writing."""
    places, instead = STAMPS[kind]
    with path.open("r+b") as file:
        for place in places or (file.read(1 << 12).index(STAMP) + len(STAMP),):
            file.seek(place)
            file.write(instead)
