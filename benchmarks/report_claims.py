"""Every figure of `dpsyn report --json` against what pandas finds in the two files; nothing of the engine is used.

The verdict's findings, means, shares and groups, the pairs that were lost, each column (blank cells, distinct values,
mean, deviation, quantiles) and each mean by group, in full precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

SAME = 1e-6  # of a figure: both sides compute in double precision
FAR_RANK = 0.15  # of a rank correlation, beyond which no good word may stand
FAR_MEAN = 0.2  # of a mean, beyond which no good word may stand
OFTEN_ZERO = 0.05  # of an amount
GOOD = ("near", "good")
Claim = tuple[str, Any, Any]  # what is said, the figure that is said, the figure of the file


def claims(table: Mapping[str, Any], real: pd.DataFrame, made: pd.DataFrame) -> Iterator[Claim]:
    """All figures of one table of the document that name a column."""
    sides = {"real": real, "synthetic": made}
    said = table["verdict"]
    yield "records (real)", said["records"]["real"], len(real)
    yield "records (synthetic)", said["records"]["synthetic"], len(made)
    for side, frame in sides.items():
        for f in said["findings"]:
            yield from _finding(f, side, sides)
        for m in said["means"]:
            yield f"mean of {m['column']} ({side})", m[side], mean(frame, m["column"])
        for g in said["groups"]:
            inside = holds(frame, g["category"], g["value"])
            true = inside.mean() if g["column"] is None else mean(frame[inside], g["column"])
            yield f"{g['what']} of {g['column'] or ''} where {g['category']} is {g['value']} ({side})", g[side], true
        for x in said["lost"]:
            true = strength(frame, x["columns"][0], x["columns"][1], x["measure"])
            if true is not None:
                yield f"{x['measure']} of {' and '.join(x['columns'])} ({side})", x[side], true
        for p in table["columns"]:
            yield from _column(p["column"], p[side], p["quantiles_at"], frame[p["column"]], side)
        for g in table["gaps"]:
            for k, value in enumerate(g["values"]):
                inside = holds(frame, g["category"], value)
                what = f"{g['column']} where {g['category']} is {value} ({side})"
                if side == "real":
                    yield f"records with {what}", g["records"][k], int(frame.loc[inside, g["column"]].notna().sum())
                yield f"mean of {what}", g[side][k], mean(frame[inside], g["column"])


def _finding(f: Mapping[str, Any], side: str, sides: Mapping[str, pd.DataFrame]) -> Iterator[Claim]:
    """The figure of a finding, where pandas has a few lines for it."""
    names = [n for n in f["columns"] if n in sides[side]]
    figure = FIGURES.get(f["key"])
    if figure is None or f[side] is None or len(names) < len(f["columns"]):
        return
    true = figure(sides[side], names, f["what"], sides["real"])
    if true is not None:
        yield f"finding {f['key']} of {', '.join(names)} ({side})", f[side], true


def _number(frame: pd.DataFrame, name: str) -> pd.Series:
    """A column as numbers, dates as seconds; blank where there is none."""
    cells = frame[name]
    if cells.dtype.kind == "M":
        return cells.astype("datetime64[s]").astype("int64").where(cells.notna()).astype(float)
    return pd.to_numeric(cells, errors="coerce").astype(float)


def _of_rest(frame: pd.DataFrame, name: str) -> pd.Series:
    cells = _number(frame, name).dropna()
    return cells[cells != 0]


def _order(frame: pd.DataFrame, names: list[str], what: Any, real: Any) -> float:
    """Share of the records whose first number is above the second."""
    return float((_number(frame, names[0]) > _number(frame, names[1])).mean())


def _function(frame: pd.DataFrame, names: list[str], what: Any, real: pd.DataFrame) -> float | None:
    """Share of the records whose value is another one than the commonest real value of its source."""
    a, b = names
    counts = real[[a, b]].dropna().value_counts()
    usual = counts.groupby(level=0).agg(lambda x: (x == x.max()).sum())
    if (usual > 1).any():
        return None  # which of several commonest values is meant is not said
    follows = dict(counts.groupby(level=0).idxmax().to_numpy())
    expected = frame[a].map(follows)
    return float((expected.notna() & frame[b].notna() & (expected != frame[b])).mean())


def _again(frame: pd.DataFrame, names: list[str], what: Any, real: Any) -> float | None:
    return float(frame.duplicated(names).mean()) if frame is not real else None


def _explained(part: str) -> Callable[..., float]:
    """The share of a number's variance between the hours, weekdays or months of a date."""

    def share(frame: pd.DataFrame, names: list[str], what: Any, real: Any) -> float:
        number, groups = _number(frame, names[0]), getattr(frame[names[1]].dt, part)
        known = number.notna() & groups.notna()
        number, groups = number[known], groups[known]
        means = number.groupby(groups).transform("mean")
        return float(((means - number.mean()) ** 2).sum() / ((number - number.mean()) ** 2).sum())

    return share


def _before(frame: pd.DataFrame, names: list[str], what: Any, real: Any) -> float:
    """Autocorrelation of a number in time, less the mean of each key where one is named."""
    name, date, *key = names
    ordered = frame.sort_values([*key, date], kind="stable")
    cells = _number(ordered, name)
    cells = cells - cells.groupby(ordered[key[0]]).transform("mean") if key else cells
    last = cells.groupby(ordered[key[0]]).shift() if key else cells.shift()
    both = cells.notna() & last.notna()
    return float(np.corrcoef(cells[both], last[both])[0, 1])


def _outside(frame: pd.DataFrame, names: list[str], what: Any, real: pd.DataFrame) -> float:
    cells, known = _number(frame, names[0]), _number(real, names[0])
    return float(((cells < known.min()) | (cells > known.max())).mean())


def _share(frame: pd.DataFrame, names: list[str], what: Mapping[str, Any], real: Any) -> float:
    return float(holds(frame, names[0], str(what["value"])).mean())


def _group(frame: pd.DataFrame, names: list[str], what: Mapping[str, Any], real: Any) -> float:
    return float(_number(frame, names[0])[holds(frame, names[1], str(what["value"]))].mean())


def _blank_group(frame: pd.DataFrame, names: list[str], what: Mapping[str, Any], real: Any) -> float:
    return float(frame.loc[holds(frame, names[1], str(what["value"])), names[0]].isna().mean())


def _blank_above(frame: pd.DataFrame, names: list[str], what: Mapping[str, Any], real: Any) -> float:
    return float(frame.loc[_number(frame, names[1]) > float(what["value"]), names[0]].isna().mean())


def _times(part: str) -> Callable[..., float]:
    """Share of the records whose date lies in some hours or months."""

    def share(frame: pd.DataFrame, names: list[str], what: Mapping[str, Any], real: Any) -> float:
        return float(getattr(frame[names[0]].dt, part).between(what["low"], what["high"]).mean())

    return share


def _heaps(frame: pd.DataFrame, names: list[str], what: Mapping[str, Any], real: Any) -> float:
    return float((_of_rest(frame, names[0]) % what["step"] == 0).mean())


def _stretch(frame: pd.DataFrame, names: list[str], what: Mapping[str, Any], real: Any) -> float | None:
    """Share of the records in a stretch of numbers; 0 is none of an amount that is often 0."""
    cells = _number(frame, names[0])
    if frame[names[0]].dtype.kind == "M" or (_number(real, names[0]) == 0).mean() >= OFTEN_ZERO:
        return None
    return float(cells.between(what["low"], what["high"]).mean())


def _pair_within(frame: pd.DataFrame, names: list[str], what: Any, real: Any) -> float:
    """The correlation of two numbers, each less the mean of its key."""
    key = frame[names[2]]
    first, second = (x - x.groupby(key).transform("mean") for x in (_number(frame, n) for n in names[:2]))
    return float(first.corr(second))


def _fractions(frame: pd.DataFrame, names: list[str], what: Any, real: Any) -> float:
    cells = _number(frame, names[0])
    return float((cells.notna() & (cells != cells.round())).mean())


FIGURES: dict[str, Callable[..., float | None]] = {
    "order": _order,
    "function": _function,
    "key": _again,
    "before": _before,
    "outside": _outside,
    "share": _share,
    "group": _group,
    "fractions": _fractions,
    "blank_group": _blank_group,
    "pair_within": _pair_within,
    "blank_above": _blank_above,
    "times_hour": _times("hour"),
    "times_month": _times("month"),
    "heaps": _heaps,
    "stretch": _stretch,
    "cycle_hour": _explained("hour"),
    "cycle_weekday": _explained("weekday"),
    "cycle_month": _explained("month"),
    "mean": lambda frame, names, what, real: float(_number(frame, names[0]).mean()),
    "zeros": lambda frame, names, what, real: float((_number(frame, names[0]).dropna() == 0).mean()),
    "rest": lambda frame, names, what, real: float(_of_rest(frame, names[0]).mean()),
    "high": lambda frame, names, what, real: float(_of_rest(frame, names[0]).quantile(0.99)),
    "top": lambda frame, names, what, real: float(_number(frame, names[0]).quantile(0.99)),
    "bottom": lambda frame, names, what, real: float(_number(frame, names[0]).quantile(0.01)),
    "blank": lambda frame, names, what, real: float(frame[names[0]].isna().mean()),
    "pair": lambda frame, names, what, real: strength(frame, names[0], names[1], "rank correlation"),
    "ratio": lambda frame, names, what, real: strength(frame, names[0], names[1], "correlation ratio"),
    "v": lambda frame, names, what, real: strength(frame, names[0], names[1], "Cramer's V less chance"),
}


def wrong(said: Any, true: Any) -> bool:
    """Whether a figure of the document is another one than that of the file."""
    if isinstance(said, str) or isinstance(true, str):
        return str(said) != str(true)
    missing = said is None or np.isnan(said), true is None or np.isnan(true)
    return missing[0] != missing[1] if any(missing) else abs(said - true) > SAME * max(1.0, abs(true))


def praised(table: Mapping[str, Any], real: pd.DataFrame, made: pd.DataFrame) -> Iterator[str]:
    """Means and rank correlations that are far off under a good word."""
    if table["verdict"]["grade"] not in GOOD:
        return
    names = [n for n in real.columns if real[n].dtype.kind in "iuf" and real[n].nunique() > 1]
    off = (real[names].corr("spearman") - made[names].corr("spearman")).abs()
    for i, a in enumerate(names):
        if abs(made[a].mean() - real[a].mean()) > FAR_MEAN * max(abs(real[a].mean()), real[a].std()):
            yield f"good words, and mean of {a} {real[a].mean():.4g}, here {made[a].mean():.4g}"
        for b in names[i + 1 :]:
            if off.loc[a, b] > FAR_RANK:
                yield f"good words, and rank correlation of {a} and {b} off by {off.loc[a, b]:.2f}"


def mean(frame: pd.DataFrame, column: str) -> float:
    """Mean of the cells that are not blank."""
    return float(frame[column].mean())


def holds(frame: pd.DataFrame, column: str, value: str) -> pd.Series:
    """The records with a value, whose words are those of the file; whole numbers with blanks are read as 1.0."""
    cells = frame[column]
    if cells.dtype.kind == "f":
        return cells == pd.to_numeric(value.replace(",", "."), errors="coerce")  # 1,3 on a German page
    if cells.dtype.kind == "b":
        value = value.capitalize()
    return cells.astype(str).str.strip() == value.strip()  # a page shows no space before a word


def strength(frame: pd.DataFrame, a: str, b: str, measure: str) -> float | None:
    """A relation by its measure; None where it hangs on bins or orders that are not in the file."""
    if measure == "rank correlation":
        if any(frame[n].dtype.kind not in "iufM" for n in (a, b)):
            return None
        ranked = frame[[a, b]].dropna().apply(lambda x: x.astype("int64") if x.dtype.kind == "M" else x)
        return float(ranked[a].corr(ranked[b], method="spearman"))
    frame = frame[[a, b]].apply(lambda x: x.astype("int64").where(x.notna()) if x.dtype.kind == "M" else x)
    kinds = {n: frame[n].dtype.kind in "iuf" for n in (a, b)}
    if measure == "correlation ratio" and sum(kinds.values()) == 1:
        number, words = sorted((a, b), key=lambda n: not kinds[n])
        both = frame[[number, words]].dropna()
        if both[number].nunique() < 2:
            return None
        by = both.groupby(words)[number]
        between = ((by.transform("mean") - both[number].mean()) ** 2).sum()
        return float(np.sqrt(between / ((both[number] - both[number].mean()) ** 2).sum()))
    if measure == "Cramer's V less chance" and not any(kinds.values()) and not frame[[a, b]].isna().any(axis=None):
        return corrected(pd.crosstab(frame[a], frame[b]).to_numpy(dtype=float))
    return None


def corrected(table: np.ndarray) -> float:
    """Cramer's V of a table of counts without empty rows and columns, corrected as by Bergsma (2013)."""
    n, (r, c) = table.sum(), table.shape
    if min(r, c) < 2:
        return 0.0
    chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    phi = max(0.0, ((table - chance) ** 2 / chance).sum() / n - (r - 1) * (c - 1) / (n - 1))
    return float(np.sqrt(phi / (min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1)))


def _column(name: str, said: Mapping[str, Any], at: list[float], cells: pd.Series, side: str) -> Iterator[Claim]:
    yield f"blank cells of {name} ({side})", said["missing"], float(cells.isna().mean())
    yield f"distinct values of {name} ({side})", said["distinct"], cells.nunique()
    if said["mean"] is not None and cells.dtype.kind in "iuf":
        yield f"mean of {name} ({side})", said["mean"], float(cells.mean())
        yield f"deviation of {name} ({side})", said["deviation"], float(cells.std())
        for q, figure in zip(at, said["quantiles"], strict=False):
            if not isinstance(figure, str):
                yield f"quantile {q:g} of {name} ({side})", figure, float(cells.quantile(q))
