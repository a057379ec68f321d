"""Records of linked tables from released values: roots first, then stage by stage their children. Post-processing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import LAGS, Coarsening, LinkedAxis, LinkedRecords, LinkedTarget, Target, fit_linked, schedule
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.trees.allowed_counts import only_permitted, permitted
from dpsyn_core.runs.trees.forest import Children, Forest, columns_of, shapes_of
from dpsyn_core.runs.trees.pair_choice import ViewEvidence, denied_targets
from dpsyn_core.runs.trees.siblings import ALIKE, Given, Likeness, likeness
from dpsyn_core.runs.trees.stages import Stage, View, ViewColumn, context_columns, in_root, pairs_in_root
from dpsyn_core.runs.trees.stratification import spread_targets
from dpsyn_core.schema import LinkedSchema, later
from dpsyn_core.systems import RlsEvidence, cooler_half

Codes = NDArray[np.unsignedinteger]
Ints = NDArray[np.int64]
SURE_SPANS = 0.05  # of the noise of times between dates: with all of it, one in four leaves its few cells in the fit
SURE_DIFFERENCES = 0.3  # of the noise of differences from single siblings, once records fit; .1: pairs lose
DRAWN_AT_ONCE = 1 << 16  # records, so that their chances take some tens of megabytes


def empty_forest(roots: Codes, shapes: Sequence[Ints], schema: LinkedSchema) -> Forest:
    """Roots whose children are counted and not synthesized yet; shapes: of the links from the root, in their order."""
    none = np.zeros(0, dtype=np.int64)
    above = tuple(schema.above(link) for link in schema.links)
    empty = tuple(_uncounted(schema, i, none) for i in range(len(above)))
    out = Forest(roots=roots, shapes=(none,) * len(above), children=empty, above=above)
    for i, codes in zip(schema.below(schema.root.name), shapes, strict=True):
        out = out.with_link(i, codes, _uncounted(schema, i, codes))
    return out


def with_grandchildren(forest: Forest, link: int, schema: LinkedSchema, rng: Generator) -> Forest:
    """The same with the children of a link counted, whose parents are synthesized, in numbers that its rules permit."""
    one = schema.links[link]
    place = len(schema[one.parent].coded) + schema.below(one.parent).index(link)
    above, shape = forest.above[link], shapes_of(schema)[link]
    if above is None:
        return forest
    parents = forest.children[above]
    codes = only_permitted(parents.codes[place].astype(np.int64), permitted(schema, one, shape), shape.numbers, rng)
    at = 0
    for there, single in parents.singles:
        end = at + int(there.sum())
        single[place, there] = codes[at:end]
        at = end
    parents.rest[place] = codes[at:]
    return forest.with_link(link, codes, _uncounted(schema, link, codes))


def _uncounted(schema: LinkedSchema, link: int, codes: Ints) -> Children:
    """Children of parents of these shapes, whose codes are yet to be synthesized."""
    one, shape = schema.links[link], shapes_of(schema)[link]
    columns, counts = len(columns_of(schema, one.child)), shape.rest(codes)
    empty = np.zeros((columns, len(codes)), dtype=np.uint16)
    singles = tuple((shape.has(codes, i), empty.copy()) for i in range(len(shape.single)))
    for (_, place), value in zip(singles, shape.single, strict=True):
        if shape.role is not None:
            place[shape.role] = schema[one.child].coded[shape.role].keys.index(value)
    rest = np.zeros((columns, int(counts.sum())), dtype=np.uint16)
    return Children(singles=singles, rest=rest, counts=counts)


def make_stage(
    forest: Forest,
    stage: Stage,
    schema: LinkedSchema,
    evidence: ViewEvidence,
    siblings: ViewEvidence | None,
    *,
    effort: float,
    rng: Generator,
    progress: Progress = silent,
) -> None:
    """Fits the children of one stage and writes their codes into the forest."""
    children = forest.children[stage.link]
    standing = context_columns(forest, stage, schema)
    columns = stage.own
    n = len(standing[0])
    rows = np.zeros((n, len(standing) + len(columns)), dtype=np.uint16)
    for place, column in enumerate(standing):
        rows[:, place] = column
    if n and columns:
        alike: dict[int, Likeness] = {}
        if siblings is not None and shapes_of(schema)[stage.link].order is None:
            alike = _alike(rows, stage, evidence, siblings, children)
        ordered = not alike
        weight, coupling = (1 / in_root(forest, stage)).astype(np.float32), np.zeros(n, dtype=np.float32)
        if stage.single is None:
            pairs = pairs_in_root(forest, stage, 1 if ordered else LAGS)
            coupling = np.where(children.first, 0.0, 1 / np.maximum(pairs, 1)).astype(np.float32)
        _start(rows, stage, evidence, siblings, children, alike, rng)
        total = float(weight.sum())
        targets = [standing_agrees(t, rows, weight, len(standing)) for t in own_targets(stage, evidence, total)]
        probabilities = [evidence.probabilities[len(standing) + j] for j in range(len(columns))]
        pace = schedule(n, len(columns), [_as_target(t) for t in targets], effort=effort)
        if siblings is not None and stage.siblings is not None and coupling.any():
            held_pairs = float(len(np.unique(forest.root_of(stage.link)[children.counts > 1])))
            targets += sibling_targets(stage, siblings, held_pairs)
        records = LinkedRecords(rows=rows, first_own=len(standing), weight=weight, coupling=coupling, ordered=ordered)
        fit_linked(records, targets, probabilities, pace=pace, rng=rng, progress=progress)
        more = denied_targets(stage, evidence, records, targets) + spread_targets(stage, evidence, records, targets)
        if more:
            targets = [*_surer(targets, stage), *more]
            fit_linked(records, targets, probabilities, pace=cooler_half(pace), rng=rng, progress=progress)
    _write(forest, stage, schema, rows[:, len(standing) :])


def _surer(targets: Sequence[LinkedTarget], stage: Stage) -> list[LinkedTarget]:
    """The tables, with less sigma for differences of a child in a single role from earlier ones.

    A difference is finer than all pairs; noise of these in the first fit leaves a few couples far from each other.
    """
    if stage.single is None:
        return list(targets)
    finer = {c.of for c in stage.view.columns if c.kind == "difference" and c.span is None}
    alone = [len(t.axes) == 1 and (t.axes[0].other, t.axes[0].column) in finer for t in targets]
    return [replace(t, sigma=t.sigma * SURE_DIFFERENCES) if a else t for t, a in zip(targets, alone, strict=True)]


def _as_target(target: LinkedTarget) -> Target:
    """What the schedule looks at: how many axes, and the noise."""
    places = tuple(range(len(target.axes)))
    return Target(attributes=places, maps=(), values=target.values, sigma=target.sigma)


def _start(
    rows: NDArray[np.uint16],
    stage: Stage,
    evidence: RlsEvidence,
    siblings: RlsEvidence | None,
    children: Children,
    alike: dict[int, Likeness],
    rng: Generator,
) -> None:
    """Where a fit starts: what single moves would take long to find is drawn first.

    A number follows its difference from a single sibling's, another column the same column of the sibling before it or
    the child's position, where these are measured; similar siblings are drawn together; else it is drawn by itself.
    """
    n, columns = len(rows), stage.view.columns
    position = next((i for i, c in enumerate(columns) if c.attribute.name.endswith(": position")), None)
    pairs = set() if siblings is None else {m.attributes for m in siblings.joint}
    twins = {c.of[1] for c in columns if c.kind == "difference"}
    for place in range(stage.context, rows.shape[1]):
        name = columns[place].attribute.name
        p = evidence.probabilities[place]
        rows[:, place] = rng.choice(len(p), size=n, p=p / p.sum())
        if stage.single is not None or place in twins:
            continue
        if position is not None:
            table = _expected(evidence, columns[position].attribute.name, name)
            rows[:, place] = _drawn(table, rows[:, position], rng)
        if place in alike:
            rows[:, place] = alike[place].column(children, rng)
        elif not alike and siblings is not None and (f"{name} before", name) in pairs:
            table = _expected(siblings, f"{name} before", name)
            turn = children.position
            order = np.argsort(turn, kind="stable")
            ends = np.cumsum(np.bincount(turn))
            for start, end in pairwise(ends):
                now = order[start:end]
                rows[now, place] = _drawn(table, rows[now - 1, place], rng)
    for at, column in enumerate(columns):
        if column.kind == "difference":
            _start_by_difference(rows, stage, at, evidence, rng)


def _alike(
    rows: NDArray[np.uint16], stage: Stage, evidence: RlsEvidence, siblings: RlsEvidence, children: Children
) -> dict[int, Likeness]:
    """The similarity of siblings without an order, by child column; none where not even one column is `ALIKE`.

    Siblings that are hardly alike are fitted as consecutive ones: alike, they would start without what ties a child's
    columns to each other, and gain nothing.
    """
    twins = {c.of[1] for c in stage.view.columns if c.kind == "difference"}
    out: dict[int, Likeness] = {}
    for place in range(stage.context, rows.shape[1]):
        if place not in twins:
            given = _given(rows, stage, evidence, place, children)
            similar = likeness(stage.view.columns[place].attribute.name, given, siblings, children)
            out |= {} if similar is None else {place: similar}
    return out if max((one.strength for one in out.values()), default=0.0) >= ALIKE else {}


def _given(rows: NDArray[np.uint16], stage: Stage, evidence: RlsEvidence, place: int, children: Children) -> Given:
    """What a child column follows of the parent: the context column with the strongest released dependence."""
    p = np.maximum(evidence.probabilities[place], 0)
    at, chances = _telling(stage, evidence, place)
    group = np.zeros(len(children.counts), dtype=np.int64)
    if at is None or chances is None:
        return Given(chances=(p / p.sum())[None, :], group=group)
    group[children.of_parent] = rows[:, at]
    return Given(chances=chances, group=group)


def _telling(stage: Stage, evidence: RlsEvidence, place: int) -> tuple[int | None, NDArray[np.float64] | None]:
    """The column that stands of which a released table tells most of a column, and its chances for each value there."""
    columns = stage.view.columns
    p = np.maximum(evidence.probabilities[place], 0)
    best, chances, most = None, None, 0.0
    name = columns[place].attribute.name
    measured = {m.attributes for m in evidence.joint}
    for at, column in enumerate(columns[: stage.context]):
        if (column.attribute.name, name) not in measured or column.attribute.name.endswith(": position"):
            continue
        table = np.maximum(_expected(evidence, column.attribute.name, name), 0)
        sums = table.sum(axis=1, keepdims=True)
        strength = float(np.abs(table - sums * table.sum(axis=0) / max(float(sums.sum()), 1e-300)).sum())
        if strength > most:
            best, most = at, strength
            chances = np.where(sums > 0, table / np.maximum(sums, 1e-300), p / p.sum())
    return best, chances


def _expected(evidence: RlsEvidence, first: str, second: str) -> NDArray[np.float64]:
    """The table of two columns at full resolution, as released values let expect it."""
    sizes = {n: evidence.domain[n].size for n in (first, second)}
    return evidence.expected((first, second), {n: Coarsening.identity(s) for n, s in sizes.items()})


def _drawn(table: NDArray[np.float64], given: NDArray[np.uint16], rng: Generator) -> NDArray[np.uint16]:
    """A column for each record, from the row of the table that its other column names; even where that is empty."""
    counts = np.maximum(table, 0.0) + 1e-12 * max(float(table.sum()), 1e-6)
    upto = np.cumsum(counts, axis=1)
    upto /= upto[:, -1:]
    out = np.zeros(len(given), dtype=np.uint16)
    for start in range(0, len(given), DRAWN_AT_ONCE):
        part = slice(start, start + DRAWN_AT_ONCE)
        level = rng.random(len(given[part]))[:, None]
        out[part] = (upto[given[part]] < level).sum(axis=1)
    return out


def _start_by_difference(
    rows: NDArray[np.uint16], stage: Stage, place: int, evidence: RlsEvidence, rng: Generator
) -> None:
    """A number as that of a single sibling with a drawn difference, or a date so long after another, where it fits."""
    column, shares = stage.view.columns[place], evidence.probabilities[place]
    minus, of = column.of
    if column.span is not None:
        origin, chances = _telling(stage, evidence, place)
        if column.span.missing and not column.span.of.missing:  # blank only where the earlier date is
            shares, chances = shares[:-1], None if chances is None else chances[:, :-1]
        if origin is None or chances is None or shares.sum() <= 0:
            shares = np.maximum(shares, 1e-300)
            drawn = rng.choice(len(shares), size=len(rows), p=shares / shares.sum())
        else:
            drawn = _drawn(chances, rows[:, origin], rng).astype(np.int64)
        codes = later(column.span, rows[:, minus], drawn)
        rows[codes >= 0, of] = codes[codes >= 0]
        return
    ranked = [a.size - a.special for a in (stage.view.columns[c].attribute for c in column.of)]
    p = shares[: sum(ranked) - 1]
    if p.sum() <= 0:
        return
    drawn = rng.choice(len(p), size=len(rows), p=p / p.sum()) - (ranked[0] - 1) + rows[:, minus].astype(np.int64)
    fits = (rows[:, minus] < ranked[0]) & (drawn >= 0) & (drawn < ranked[1])
    rows[fits, of] = drawn[fits]


def own_targets(stage: Stage, evidence: RlsEvidence, held: float) -> list[LinkedTarget]:
    """The tables of a stage that its child columns move, in weights of the synthetic records."""
    return _targets(stage.view, evidence, held, stage.context, siblings=False)


def standing_agrees(
    target: LinkedTarget, rows: NDArray[np.uint16], weight: NDArray[np.float32], context: int
) -> LinkedTarget:
    """The table with the sums of its column that stands: what noise says of these, no move of another could follow."""
    stands = [i for i, a in enumerate(target.axes) if a.other is None and a.column is not None and a.column < context]
    if len(target.axes) != 2 or len(stands) != 1:
        return target
    axis, values = stands[0], np.moveaxis(target.values, stands[0], 0)
    axis_here = target.axes[axis]
    codes = axis_here.map[rows[:, axis_here.column or 0]]
    there = np.bincount(codes, weights=weight, minlength=len(values))
    other = np.maximum(values.sum(axis=0), 0.0)
    share = other / max(float(other.sum()), 1e-300)
    agreed = values + (there - values.sum(axis=1))[:, None] * share
    return LinkedTarget(axes=target.axes, values=np.ascontiguousarray(np.moveaxis(agreed, 0, axis)), sigma=target.sigma)


def sibling_targets(stage: Stage, evidence: RlsEvidence, held: float) -> list[LinkedTarget]:
    """The tables of consecutive siblings."""
    view = stage.siblings
    return [] if view is None else _targets(view, evidence, held, stage.context, siblings=True)


def _targets(view: View, evidence: RlsEvidence, held: float, context: int, *, siblings: bool) -> list[LinkedTarget]:
    out = []
    for t in evidence.targets(1 if held <= 0 else held):  # type: ignore[arg-type]
        columns = [view.columns[p] for p in t.attributes]
        kinds = {c.kind for c in columns}
        if kinds == {"context"} or (siblings and len(columns) == 1 and kinds != {"difference"}):
            continue
        axes = tuple(
            _axis(view, p, c, m, context, siblings) for p, c, m in zip(t.attributes, columns, t.maps, strict=True)
        )
        alone = len(columns) == 1 and columns[0].span is not None
        out.append(LinkedTarget(axes=axes, values=t.values, sigma=t.sigma * (SURE_SPANS if alone else 1.0)))
    return out


def _axis(
    view: View, place: int, column: ViewColumn, recode: NDArray[np.intp], context: int, siblings: bool
) -> LinkedAxis:
    """One axis, over the columns of the records: context columns, then child columns."""
    count = sum(c.kind == "before" for c in view.columns)
    if column.kind == "before":
        return LinkedAxis(map=recode, before=context + place)
    if column.kind == "difference":
        minus, of = column.of
        table = recode[view.difference(column)]
        if siblings:
            return LinkedAxis(map=table, before=context + minus, column=context + of - count)
        return LinkedAxis(map=table, other=minus, column=of)
    return LinkedAxis(map=recode, column=context + place - count if siblings else place)


def _write(forest: Forest, stage: Stage, schema: LinkedSchema, rows: NDArray[np.uint16]) -> None:
    """Puts the child columns of a stage into the forest."""
    children = forest.children[stage.link]
    shape = shapes_of(schema)[stage.link]
    if stage.single is not None:
        there, codes = children.singles[stage.single]
        for j, c in enumerate(stage.own):
            codes[c.source, there] = rows[:, j]
        return
    for j, c in enumerate(stage.own):
        code = rows[:, j]
        children.rest[c.source] = stage.recode[1][code] if stage.recode is not None and c.source == stage.role else code
    if shape.order is None:
        return
    if shape.distinct:
        children.rest[shape.order] = shape.orders(forest.shapes[stage.link])
    else:
        order = np.lexsort((children.rest[shape.order], children.of_parent))
        children.rest[:] = children.rest[:, order]
