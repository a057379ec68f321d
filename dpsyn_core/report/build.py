"""The figures of a report, and the pairs that it shows.

Two-way tables of a report: real and synthetic counts of the pairs a reader may open, coarse enough to embed.

From scores and counts to figures: what the HTML report and the app both draw, put together in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Coarsening, Measurement
from dpsyn_core.evaluate import Comparison, Score, all_codes, interval
from dpsyn_core.report import figures
from dpsyn_core.report.figures.labels import NUMERAL, axis_labels, merged, rising
from dpsyn_core.report.figures.overview import Panel
from dpsyn_core.report.theme import Figure
from dpsyn_core.report.translation import sentence
from dpsyn_core.report.wording import ENGLISH, Words, dated, local
from dpsyn_core.schema import AttributeSet, Codec, CodedAttribute, Schema

SIDE = 20  # at most so many rows and columns of an embedded table
ALL_UP_TO = 190  # all pairs of 20 attributes
WORST = 60
OTHER_CELL = "(other)"  # what a schema calls the cell of values that it does not list


def embedded_pairs(domain_pairs: Sequence[AttributeSet], tvd: NDArray[np.float64]) -> list[AttributeSet]:
    """The pairs whose tables are embedded: all of a narrow table, the worst of a wide one."""
    if len(domain_pairs) <= ALL_UP_TO:
        return list(domain_pairs)
    return [domain_pairs[i] for i in np.argsort(-tvd, kind="stable")[:WORST]]


def pair_tables(
    comparisons: Sequence[Comparison], pairs: Sequence[AttributeSet], words: Words = ENGLISH
) -> dict[str, Any]:
    """Axis labels by attribute and, by "i|j" (positions in the domain), one flat list of counts a table, real first."""
    first = comparisons[0]
    used = first.domain.ordered_set(n for p in pairs for n in p)
    maps = {n: coarse_map(first, first.domain[n], words) for n in used}
    labels = {n: axis_labels(_spoken(first, n, named, words), 24, words=words) for n, (_, named) in maps.items()}
    recodes = {n: m for n, (m, _) in maps.items()}
    counters = [first.real_counter, *(c.synthetic_counter for c in comparisons)]
    counted = [c.marginals(pairs, recodes) for c in counters]
    tables = {}
    for k, (a, b) in enumerate(pairs):
        key = f"{first.domain.index(a)}|{first.domain.index(b)}"
        tables[key] = [t[k].reshape(-1).tolist() for t in counted]
    return {
        "labels": {str(first.domain.index(n)): named for n, named in labels.items()},
        "tables": tables,
        "sizes": [first.n, *(c.m for c in comparisons)],
    }


def coarse_map(c: Comparison, a: CodedAttribute, words: Words = ENGLISH) -> tuple[Coarsening, list[str]]:
    """At most SIDE coarse codes, and their labels.

    Neighbouring values of an ordered attribute, or of one whose values are rising numbers, are merged evenly; of
    another one the commonest real values stay and the rest is "all others". Missing and other cells stay as they are.
    """
    return coarse(a, c.words(a.name), lambda: c.real_counter.marginal((a.name,)), words)


def coarse(
    a: CodedAttribute, labels: list[str], count: Callable[[], NDArray[np.integer]], words: Words = ENGLISH
) -> tuple[Coarsening, list[str]]:
    """The same for any counts of the attribute's cells; `count` is called where the commonest values are asked for."""
    plain = a.size - a.special
    room = SIDE - a.special
    if plain <= room:
        return Coarsening.identity(a.size), labels
    if a.ordered or rising(labels[:plain]):
        even = Coarsening.even(a, room)
        last = np.cumsum(even.width)[:room] - 1
        joined = [merged(labels[first], labels[end]) for first, end in zip(even.first, last, strict=False)]
        return even, [*joined, *labels[plain:]]
    kept = np.zeros(plain, dtype=bool)
    kept[np.argsort(-count()[:plain], kind="stable")[: room - 1]] = True
    codes = np.append(Coarsening.rare(kept).map, room + np.arange(a.special))
    commonest = [labels[i] for i in np.flatnonzero(kept)]
    return Coarsening.of(codes), [*commonest, words["all_others"], *labels[plain:]]


Floats = NDArray[np.float64]
MOST_VALUES = 120  # values of a column that are drawn; more are merged, as in the tables of a pair
MOST_GROUPS = 40
MOST_RELEASED = 200  # cells of a released one-way marginal that is drawn


def fullest_bin(c: Comparison, name: str) -> float | None:
    """Share of a number's real records in its fullest bin (private); None for other columns.

    A spike of one value is no fault of the bins: it counts only where the bin holds several values.
    """
    a = c.domain[name]
    if not a.number or c.real is None or a.size - a.special < 2:
        return None
    codes = c.real[c.domain.index(name)]
    counts = np.bincount(codes, minlength=a.size)[: a.size - a.special]
    total = int(counts.sum())
    if not total:
        return None
    fullest = int(counts.argmax())
    values = c.real_values.get(name)
    if values is not None and len(np.unique(values[codes == fullest])) < 2:
        return None
    return float(counts[fullest] / total)


def pair_matrix(score: Score, names: Sequence[str], what: str = "tvd") -> Floats:
    """Pairwise TVD, or its `floor`, as a symmetric matrix (d, d), NaN on its diagonal, from the score `tvd-2way`."""
    out = np.full((len(names), len(names)), np.nan)
    index = {n: i for i, n in enumerate(names)}
    marginals = score.details["marginals"]
    at = np.array([[index[a], index[b]] for a, b in marginals["attributes"]], dtype=np.intp).reshape(-1, 2)
    out[at[:, 0], at[:, 1]] = out[at[:, 1], at[:, 0]] = marginals[what]
    return out


def differences(scores: Sequence[Score]) -> dict[str, float]:
    """One-way TVD by attribute from the scores `tvd-1way` of all tables: the largest, and that attribute first."""
    by = [s.details["by_attribute"] for s in scores]
    worst = {n: max(b[n] for b in by) for n in (by[0] if by else ())}
    return dict(sorted(worst.items(), key=lambda item: -item[1]))


def furthest(scores: Mapping[str, Score]) -> tuple[str, str, float, float] | None:
    """The column that is furthest beyond a fresh sample, from the scores `tvd-1way` by table; None without any.

    Returns:
        Its table, its name, how far it is off, and how far a fresh sample is.
    """
    at = ("attributes", "tvd", "floor")
    rows = {table: zip(*(s.details["marginals"][k] for k in at), strict=True) for table, s in scores.items()}
    every = [(table, c, float(off), float(fresh)) for table, found in rows.items() for (c,), off, fresh in found]
    return max(every, key=lambda one: one[2] - one[3], default=None)


def shares(tables: Mapping[str, Comparison], name: str, most: int, words: Words) -> tuple[list[str], dict[str, Floats]]:
    """Values of one attribute in words, and their shares in the real table and in each synthetic one.

    Args:
        tables: comparisons with one real table, by the name of their synthetic table.
        name: the attribute.
        most: more values than so many are merged.
        words: names the real table.
    """
    c = next(iter(tables.values()))
    recode, labels = Coarsening.identity(c.domain[name].size), c.words(name)
    if len(labels) > most:
        recode, labels = coarse_map(c, c.domain[name], words)
    recodes = {name: recode}
    series: dict[str, Floats] = {words["real"]: c.real_counter.marginal((name,), recodes) / c.n}
    for table, t in tables.items():
        series[table] = t.synthetic_counter.marginal((name,), recodes) / t.m
    return _spoken(c, name, labels, words), series


def _spoken(c: Comparison, name: str, labels: Sequence[str], words: Words) -> list[str]:
    """Labels of a column's cells; dates and listed decimals as the language writes them."""
    labels = [words["other_cell"] if x == OTHER_CELL else x for x in labels]
    if name in c.date_units:
        return [dated(x, words) for x in labels]
    decimals = name in c.synthetic_values and not c.domain[name].number
    return [local(x, words) if decimals and NUMERAL.fullmatch(x) else x for x in labels]


def column(tables: Mapping[str, Comparison], name: str, words: Words = ENGLISH) -> Figure:
    """Real and synthetic shares of one attribute's values laid over each other."""
    labels, series = shares(tables, name, MOST_VALUES, words)
    return figures.overlay(name, labels, series, words)


def panels(tables: Mapping[str, Comparison], differing: Mapping[str, float], words: Words = ENGLISH) -> list[Panel]:
    """Every column's shares for small multiples, the one that differs most first; many values are merged to SIDE."""
    out = []
    for name in differing:
        labels, series = shares(tables, name, SIDE, words)
        out.append(Panel(name=name, labels=labels, shares=series, difference=differing[name]))
    return out


def profile(
    schema: Schema, table: Any, words: Words = ENGLISH, *, called: str = "", beside: Mapping[str, Any] | None = None
) -> list[Panel]:
    """Shares of every column's values in one table of its owner, in the order of the schema, for small multiples.

    Raises TableError where a column holds what the schema has no place for. Reads private data and is not DP.

    Args:
        schema: of all tables.
        table: the owner's.
        words: of values.
        called: what the owner's table is called.
        beside: other tables by name, such as a synthetic one, counted by the same values.
    """
    codec, others = Codec(schema), beside or {}
    codes = all_codes(codec, table)
    more = {name: codec.encode(one, individuals=False).codes for name, one in others.items()}
    out = []
    for i, a in enumerate(schema.domain().attributes):
        counts = np.bincount(codes[i], minlength=a.size)
        recode, labels = coarse(a, schema[a.name].labels(), lambda counts=counts: counts, words)  # type: ignore[misc]
        if schema[a.name].dated:
            labels = [dated(x, words) for x in labels]
        all_counts = {called: counts} | {name: np.bincount(c[i], minlength=a.size) for name, c in more.items()}
        shares = {name: recode.sum(c) / max(1, int(c.sum())) for name, c in all_counts.items()}
        out.append(Panel(name=a.name, labels=labels, shares=shares))
    return out


def pair(c: Comparison, a: str, b: str, words: Words = ENGLISH) -> tuple[Figure, Figure]:
    """The two tables of a pair, rows `a` and columns `b`, and their difference; attributes of many values coarsely."""
    names = c.domain.ordered_set((a, b))
    coarse = {n: coarse_map(c, c.domain[n], words) for n in names}
    recodes = {n: m for n, (m, _) in coarse.items()}
    counts = [k.marginal(names, recodes) for k in (c.real_counter, c.synthetic_counter)]
    real, synthetic = (np.asarray(t if names == (a, b) else t.T, dtype=float) / t.sum() for t in counts)
    rows, columns = (_spoken(c, n, coarse[n][1], words) for n in (a, b))
    both = figures.two_tables(real, synthetic, rows, columns, (a, b), words)
    return both, figures.difference(synthetic - real, rows, columns, (a, b), words)


def spread(orders: Mapping[str, Mapping[str, Score]], words: Words = ENGLISH) -> Figure | None:
    """How marginals differ: orders in words ("pairs"), each with its scores `tvd-kway` by table; None without any."""
    groups = [
        (order, table, np.asarray(s.details["marginals"]["tvd"], dtype=float), s.floor)
        for order, scores in orders.items()
        for table, s in scores.items()
    ]
    return figures.distribution(groups, words) if groups else None


def ranges(scores: Mapping[str, Score], n: int, words: Words = ENGLISH) -> Figure:
    """Random range queries by table, from the score `range-queries`; n: records of the real table."""
    real = np.asarray(next(iter(scores.values())).details["frequencies"]["real"])
    got = {table: np.asarray(s.details["frequencies"]["synthetic"]) for table, s in scores.items()}
    return figures.range_scatter(real, got, 1 / n, words)


def incomes(scores: Mapping[str, Score], words: Words = ENGLISH) -> Figure:
    """Lorenz curves by table, from the score `gini`."""
    first = next(iter(scores.values())).details
    curves = {table: s.details["lorenz"]["synthetic"].tolist() for table, s in scores.items()}
    return figures.lorenz(first["lorenz"]["real"].tolist(), curves, first["income"], words)


def groups(scores: Mapping[str, Score], what: str, *, title: str, tickformat: str, words: Words = ENGLISH) -> Figure:
    """A quantity by group, largest real value first: what is "gini" or "gap", from the scores of that name."""
    rows = [r for r in next(iter(scores.values())).details["groups"] if r[f"{what}_real"] is not None]
    rows = sorted(rows, key=lambda r: -r[f"{what}_real"])[:MOST_GROUPS]
    names = [r["group"] for r in rows]
    series: dict[str, list[float | None]] = {words["real"]: [r[f"{what}_real"] for r in rows]}
    for table, s in scores.items():
        by = {r["group"]: r[f"{what}_synthetic"] for r in s.details["groups"]}
        series[table] = [by.get(g) for g in names]
    caption = sentences(scores, words)
    return figures.dots(names, series, title=title, tickformat=tickformat, caption=caption, words=words)


def learning(
    scores: Mapping[str, Score], *, title: str, trained: str = "trained on {table}", words: Words = ENGLISH
) -> Figure:
    """Models trained on each table and tested on real records, from the score `learning`."""
    first = next(iter(scores.values())).details
    measure = learning_measure(first)
    models = list(first["train_real"])
    series: dict[str, list[float | None]] = {
        trained.format(table=words["real"]): [first["train_real"][m][measure] for m in models]
    }
    for table, s in scores.items():
        series[trained.format(table=table)] = [s.details["train_synthetic"][m][measure] for m in models]
    return figures.dots(models, series, title=title, tickformat=".3f", caption=sentences(scores, words), words=words)


def learning_measure(details: Mapping[str, Any]) -> str:
    """What a learning score is measured by: R2 of a number, AUROC of a category."""
    return "r2" if details["task"] == "regression" else "auroc"


def sentences(scores: Mapping[str, Score], words: Words = ENGLISH) -> str:
    """The finding of each table."""
    texts = {table: sentence(s.sentence, words) for table, s in scores.items()}
    return " ".join(text if len(scores) == 1 else f"{table}: {text}" for table, text in texts.items())


def released(c: Comparison, table: str, fit: Score | None, words: Words = ENGLISH) -> dict[str, Figure]:
    """By attribute: a released one-way marginal with its intervals and the synthetic counts beside it.

    Reads released values alone: the figures are safe to publish.

    Args:
        c: with measurements, and no need of a real table.
        table: name of the synthetic table.
        fit: the score `measured-fit`, whose estimate of the number of records scales the synthetic counts.
        words: of titles and hover texts.
    """
    n = float(c.m) if fit is None else float(fit.details["n_estimate"])
    out: dict[str, Figure] = {}
    for m in c.measurements:
        if len(m.attributes) == 1 and m.attributes[0] not in out and m.cells <= MOST_RELEASED:
            name = m.attributes[0]
            counts = np.asarray(c.synthetic_counter.marginal(m.attributes, m.recodes) * (n / c.m), dtype=np.float64)
            half = interval(m.sigma)
            out[name] = figures.released_overlay(
                name, _spoken(c, name, _labels(c, m, name), words), m.values, half, {table: counts}, words
            )
    return out


def _labels(c: Comparison, m: Measurement, name: str) -> list[str]:
    """Words of a measurement's cells: of the first value of each where values were merged."""
    words = c.words(name)
    if name not in m.recodes:
        return words
    return [words[i] for i in m.recodes[name].first]
