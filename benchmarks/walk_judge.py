"""What a page says of a synthetic table against what pandas finds in the file; nothing of the engine is used.

Every number of the verdict and of what it says has changed, of the table of columns and of the means by group is
compared with the same figure of the two files, to the digits that the page shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.report_claims import holds, strength
from benchmarks.walk_tables import Walked

SLACK = 0.51  # of the last digit that is shown
OTHER = "(other)"
FIGURE = r"(?:(?:\d{4}-\d\d-\d\d|\d\d\.\d\d\.\d{4})(?:[ T]\d\d:\d\d)?|[−-]?\d[\d.,]*(?:e[+−-]?\d+)?(?:[\u00a0 ]?%)?)"
RELATIONS = {
    "verdict_pair": "rank correlation", "verdict_ratio": "correlation ratio", "verdict_v": "Cramer's V less chance",
}  # fmt: skip
CLAUSES = (*RELATIONS, "verdict_group", "verdict_share", "verdict_mean", "verdict_date", "verdict_day", "verdict_blank")
WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
GOOD = ("verdict_near", "verdict_good")
FAR = 0.15  # of a rank correlation, beyond which no good word may stand


QUANTILES = (0.0, 0.5, 0.95, 1.0)  # of the table of columns
BOTH = " / "  # between the real figure and the synthetic one
NOTHING = "–"
LEAST = "≥ "  # before a number of distinct values of which some are not in the schema


@dataclass(frozen=True, slots=True)
class Said:
    """What a visitor saw: words of the report, rows of its two tables in view, and the bytes of the CSV."""

    words: str
    columns: list[list[str]]
    groups: list[list[str]]
    raw: bytes


@dataclass(frozen=True, slots=True)
class Found:
    """claims: how many figures were compared. contradictions: in words. never: records that cannot be, by reason."""

    claims: int = 0
    contradictions: list[str] = field(default_factory=list)
    never: dict[str, int] = field(default_factory=dict)


def read(raw: bytes, walked: Walked) -> pd.DataFrame:
    """A file as a pandas user reads it."""
    more: dict[str, Any] = {"sep": ";", "decimal": ","} if b";" in raw.partition(b"\n")[0] else {"thousands": ","}
    more |= {} if walked.blanks else {"keep_default_na": False, "na_values": [""]}
    try:
        raw.decode()
    except UnicodeDecodeError:
        more["encoding"] = walked.encoding
    return pd.read_csv(BytesIO(raw), dtype=dict.fromkeys(walked.codes, str), parse_dates=list(walked.dates), **more)


def valued(frame: pd.DataFrame, walked: Walked) -> pd.DataFrame:
    """The table with amounts and times as numbers, and dates as dates however they are written."""
    keep, mark = (r"[^\d,-]", ",") if walked.german else (r"[^\d.-]", ".")
    bare = {
        c: frame[c].astype(str).str.replace(keep, "", regex=True).str.replace(mark, ".").str.removesuffix(".-")
        for c in walked.amounts
    }
    numbers = {c: pd.to_numeric(cells) for c, cells in bare.items()}
    numbers |= {c: _clock(frame[c]) for c in walked.clocks}
    formats = dict.fromkeys(walked.days, "%d.%m.%Y") | {**walked.formats}
    return frame.assign(**numbers, **{c: pd.to_datetime(frame[c], format=f) for c, f in formats.items()})


def _clock(cells: pd.Series) -> pd.Series:
    """Times as numbers of their last part: 00:12:33 as seconds, 07:05 as minutes."""
    parts = cells.str.split(":", expand=True).astype(float)
    return sum((parts[i] * 60 ** (parts.shape[1] - 1 - i) for i in parts), pd.Series(0.0, index=cells.index))


def agrees(shown: str, true: float | str, *, german: bool) -> bool:
    """Whether a figure on the page is the true one, to the digits that it shows; "≥ 31" is true of 31 and more."""
    if isinstance(true, str):
        shown = re.sub(r"^(\d\d)/(\d{4})$", r"\2-\1-01", shown)
        return re.sub(r"(\d\d)\.(\d\d)\.(\d{4})", r"\3-\2-\1", shown).replace(" ", "T") == true
    if shown.startswith(LEAST):
        return true >= float(shown.removeprefix(LEAST).translate(str.maketrans("", "", ",.")))
    text = shown.replace("\u2212", "-").replace("\u00a0", "").replace(" ", "")
    share = text.endswith("%")
    text = text.rstrip("%")
    if german:
        text = text.translate(str.maketrans(",.", ".,"))
    text = text.replace(",", "")
    mantissa, _, power = text.partition("e")
    digits = len(mantissa.partition(".")[2]) - int(power or 0)
    wanted = 100 * true if share else true
    return abs(float(text) - wanted) <= SLACK * 10.0**-digits + 1e-9 * abs(wanted)


def judge(walked: Walked, seen: Said, words: Mapping[str, str], *, german: bool) -> Found:
    """All that the page said.

    Args:
        walked: the real table.
        seen: what the pages said and gave.
        words: the page's sentences about figures, with placeholders.
        german: whether the page was in German.
    """
    real, made = read(walked.raw(), walked), read(seen.raw, walked)
    never = {why: int(check(made).sum()) for why, check in walked.never.items()}
    real, made = valued(real, walked), valued(made, walked)
    claims, wrong, said = 0, [], seen.words
    shown_all = [*_sentences(said, words, real, made), *_columns(seen.columns, real, made)]
    for what, shown, true in [*shown_all, *_groups(seen.groups, real, made)]:
        claims += 1
        if not agrees(shown, true, german=german):
            wrong.append(f"{what}: the page says {shown}, the files {true}")
    wrong += list(_praised(said, words, real, made))
    blank = [c for c in made.columns if made[c].isna().any() and not real[c].isna().any()]
    if blank:
        never[f"blank cells in {', '.join(blank)}"] = int(made[blank].isna().any(axis=1).sum())
    return Found(claims, wrong, {k: v for k, v in never.items() if v})


def pattern(template: str, columns: Iterable[str] = ()) -> re.Pattern[str]:
    """A sentence with placeholders as an expression that finds what stood for them, names of columns as they are."""
    named = "|".join(re.escape(c) for c in sorted(columns, key=len, reverse=True)) or ".+?"
    stands = dict.fromkeys(("real", "synthetic", "kept"), FIGURE) | dict.fromkeys(
        ("column", "category", "a", "b"), named
    )
    parts = re.split(r"\{(\w+)\}", template)
    out = "".join(re.escape(p) if i % 2 == 0 else f"(?P<{p}>{stands.get(p, '.+?')})" for i, p in enumerate(parts))
    return re.compile(out)


def _sentences(said: str, words: Mapping[str, str], real: pd.DataFrame, made: pd.DataFrame) -> Iterator[Any]:
    """Rank correlations, means, means of groups and shares that the verdict names."""
    head = words["verdict_moved"].partition("{list}")[0]
    for line in said.splitlines():
        if head not in line:
            continue
        for clause in line.partition(head)[2].rstrip(".").split("; "):
            for name in CLAUSES:
                got = pattern(words[name], real.columns).fullmatch(clause.strip())
                if got is not None and (got.groupdict().get("column") or real.columns[0]) in real.columns:
                    yield from _claims(name, got.groupdict(), real, made, words)
                    break
            else:
                msg = f"a clause of the verdict is not understood: {clause}"
                raise ValueError(msg)


def _claims(
    name: str, got: Mapping[str, str], real: pd.DataFrame, made: pd.DataFrame, words: Mapping[str, str]
) -> Iterator[Any]:
    true: float | str | None
    for side, frame in (("real", real), ("synthetic", made)):
        if name in RELATIONS:
            true = strength(frame, got["a"], got["b"], RELATIONS[name])
            what = f"{RELATIONS[name]} of {got['a']} and {got['b']}"
        elif name == "verdict_date":
            true, what = frame[got["column"]].mean().isoformat()[: len(got[side])], f"mean date of {got['column']}"
        elif name == "verdict_day":
            days = pd.to_datetime(frame[got["column"]]).dropna().dt
            kinds = {"month_start": days.is_month_start, "month_end": days.is_month_end}
            kinds |= {f"{d.lower()}s": days.day_name() == d for d in WEEK}
            of = next(k for k in kinds if words[f"day_{k}"] == got["day"])
            true, what = float(kinds[of].mean()), f"{got['day']} of {got['column']}"
        elif name in ("verdict_mean", "verdict_blank"):
            cells = frame[got["column"]]
            true, what = (
                float(cells.mean() if name == "verdict_mean" else cells.isna().mean()),
                f"{name} {got['column']}",
            )
        else:
            inside = holds(frame, got["category"], got["value"])
            if name == "verdict_share":
                true, what = float(inside.mean()), f"share of {got['category']} {got['value']}"
            else:
                true = float(frame.loc[inside, got["column"]].mean())
                what = f"mean of {got['column']} where {got['category']} is {got['value']}"
        if true is not None:
            yield f"{what} ({side})", got[side], true


def _praised(said: str, words: Mapping[str, str], real: pd.DataFrame, made: pd.DataFrame) -> Iterator[str]:
    """Rank correlations that are far off under a good word."""
    if not any(pattern(words[g].partition("{")[0]).search(said) for g in GOOD):
        return
    numbers = [c for c in real.columns if real[c].dtype.kind in "iuf" and real[c].nunique() > 1]
    gap = (real[numbers].corr("spearman") - made[numbers].corr("spearman")).abs()
    for a, b in zip(*np.triu_indices(len(numbers), 1), strict=True):
        if gap.iloc[a, b] > FAR:
            yield f"good words, and rank correlation of {numbers[a]} and {numbers[b]} off by {gap.iloc[a, b]:.2f}"


def _columns(rows: list[list[str]], real: pd.DataFrame, made: pd.DataFrame) -> Iterator[Any]:
    """The cells of the table of columns: blank cells, distinct values, and of numbers mean, deviation and quantiles."""
    for name, *cells in rows:
        for i, (side, frame) in enumerate((("real", real), ("synthetic", made))):
            column = frame[name]
            true: list[Any] = [float(column.isna().mean()), float(column.nunique())]
            if column.dtype.kind in "iuf":
                true += [column.mean(), column.std(), *(column.quantile(q) for q in QUANTILES)]
            elif column.dtype.kind == "M" and (column == column.dt.normalize())[column.notna()].all():
                true += [None, None, *(column.quantile(q).date().isoformat() for q in QUANTILES)]
            for what, cell, figure in zip(
                ("blank", "distinct", "mean", "deviation", *QUANTILES), cells, true, strict=False
            ):
                shown = cell.partition(BOTH)[2 * i]
                if shown not in ("", NOTHING):
                    yield f"{what} of {name} ({side})", shown, figure if isinstance(figure, str) else float(figure)


def _groups(rows: list[list[str]], real: pd.DataFrame, made: pd.DataFrame) -> Iterator[Any]:
    """The cells of the table of means by group."""
    for number, category, value, *means in (row for row in rows if len(row) > 3):  # others end out of view
        for side, frame, shown in zip(("real", "synthetic"), (real, made), means, strict=False):
            if shown == NOTHING:
                continue
            inside = holds(frame, category, value)
            yield (
                f"mean of {number} where {category} is {value} ({side})",
                shown,
                float(frame.loc[inside, number].mean()),
            )
        for records in means[2:]:
            n = real.loc[holds(real, category, value), number].count()
            yield f"records of {category} {value}", records, float(n)
