"""Tables of the records that meet a condition, from released tables of all records. Post-processing.

Two estimates are averaged. The first goes by the tables alone: what was measured together with a column of the
condition is cut where the condition cuts it, and a table without that column is scaled to the estimated counts of each
of its columns (iterative proportional fitting), so that the dependence of all records serves a few. The second counts
the records that meet the condition in a large fit to all tables, which also knows what follows from several of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SizeError
from dpsyn_core.estimate import Coarsening, Measurement, ReleasedTables, reconstruct
from dpsyn_core.runs.refits.subset_schema import Inside, Narrowed
from dpsyn_core.runs.refits.tables import evidence_of, projected
from dpsyn_core.schema import CodedAttribute, Domain
from dpsyn_core.systems import RlsEvidence

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]
SWEEPS = 100  # of iterative proportional fitting; it stops early
MOST_CONDITIONS = 8  # columns of one condition: each doubles the tables that are fitted for every other column
CLOSE = 1e-6  # of the records, by which a fitted column may miss its goal
TRUST = 0.75  # weight of the large fit in the average where many of its records meet the condition (benchmarks.refit)
HALVED = 50.0  # of its records that meet the condition, at which it has half of that weight (convention)
LARGER = 4  # times the records of the release: the size of the large fit
MOST_FITTED = 200_000  # records of it, or those of the release where these are more: seconds, and enough to count


def fit_size(n_records: float) -> int:
    """Records of the large fit, of a release of about so many."""
    return int(max(n_records, min(LARGER * n_records, MOST_FITTED)))


def conditioned(
    tables: Sequence[Measurement], domain: Domain, within: Narrowed, n_public: int | None, fitted: Codes
) -> ReleasedTables:
    """Tables over the narrowed attributes, in counts of the records that meet the condition.

    Args:
        tables: released, of all records.
        domain: of the whole schema.
        within: the narrowed schema.
        n_public: the number of all records where it is public.
        fitted: codes (n_attributes, n_records) of the large fit to all tables.

    Raises:
        TableError: a column is in no table. SizeError: the condition names too many columns.
    """
    if len(within.inside) > MOST_CONDITIONS:
        msg = f"the condition names {len(within.inside)} columns, above the cap of {MOST_CONDITIONS}; name fewer"
        raise SizeError(msg)
    view = evidence_of(tables, domain, n_public)
    clean = _clean(view, domain)
    cuts = {n: _Cut.of(i, view.one_ways[domain.index(n)]) for n, i in within.inside.items()}
    joint = {a.name: _with_condition(a, clean, domain, cuts) for a in domain.attributes}
    ones = {n: _inside(j, n, cuts) for n, j in joint.items()}
    kept = max(float(np.mean([v.sum() for v in ones.values()])), 1e-9) / max(view.total, 1.0)
    met, weights = _that_meet(fitted, domain, within)
    trust = TRUST * float(weights.sum()) / (float(weights.sum()) + HALVED)
    out = ReleasedTables()
    for name, sigma in zip(domain.names, view.sigmas, strict=True):
        out.append(Measurement(attributes=(name,), values=ones[name], sigma=sigma * kept))
    for m in clean:
        if len(m.attributes) > 1:
            here = _cut(_where_others_hold(m, joint, domain, cuts), cuts)
            out.append(replace(_scaled(here, ones), sigma=m.sigma * kept))
    narrow = within.schema.domain()
    return ReleasedTables(_averaged(m, _counted(m, met, weights, narrow), trust) for m in out)


def _that_meet(codes: Codes, domain: Domain, within: Narrowed) -> tuple[Codes, Floats]:
    """The records of a fit that can meet the condition, at narrowed values, and the part of each that does."""
    first = {n: np.full(domain[n].size, -1) for n in within.inside}
    share = {n: np.zeros(domain[n].size) for n in within.inside}
    keep, weights = np.ones(codes.shape[1], dtype=bool), np.ones(codes.shape[1])
    for name, inside in within.inside.items():
        # no value of a column is cut in two: each holds one narrowed value at most
        first[name][inside.origin], share[name][inside.origin] = np.arange(len(inside.origin)), inside.share
        column = codes[domain.index(name)]
        keep &= first[name][column] >= 0
        weights = weights * share[name][column]
    out = codes[:, keep].astype(np.intp)
    for name in within.inside:
        out[domain.index(name)] = first[name][out[domain.index(name)]]
    return out, weights[keep]


def _counted(m: Measurement, codes: Codes, weights: Floats, domain: Domain) -> Floats:
    """A table of weighted records, of the shape of another one."""
    columns = [codes[domain.index(n)] for n in m.attributes]
    coarse = [m.recodes[n].map[c] if n in m.recodes else c for n, c in zip(m.attributes, columns, strict=True)]
    flat = np.ravel_multi_index(coarse, m.values.shape)
    counted: Floats = np.bincount(flat, weights, m.values.size).astype(np.float64)
    return counted.reshape(m.values.shape)


def _averaged(m: Measurement, counted: Floats, trust: float) -> Measurement:
    total = float(counted.sum())
    other = counted * (float(m.values.sum()) / total) if total > 0 else m.values
    return replace(m, values=(1 - trust) * m.values + trust * other)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cut:
    """How the values of a column of the condition are cut. share: (size,) the part of each that meets it."""

    inside: Inside
    weights: Floats
    share: Floats

    @classmethod
    def of(cls, inside: Inside, one_way: Floats) -> _Cut:
        share = np.zeros(len(one_way))
        np.add.at(share, inside.origin, inside.share)
        # a column without any count in the condition is taken as even there
        return cls(inside=inside, weights=np.maximum(one_way, 0.0), share=np.minimum(share, 1.0))

    def coarse(self, recode: Coarsening | None) -> tuple[Floats, Coarsening | None]:
        """The narrowed axis of a table: a matrix (its cells, cells of the whole axis), and how coarse it is."""
        size = len(self.share)
        whole = Coarsening.identity(size) if recode is None else recode
        into = whole.map[self.inside.origin]
        part = self.inside.share * whole.within(self.weights)[self.inside.origin]
        if recode is None:
            matrix = np.zeros((len(into), size))
            matrix[np.arange(len(into)), into] = part
            return matrix, None
        present, place = np.unique(into, return_inverse=True)
        matrix = np.zeros((len(present), whole.size))
        np.add.at(matrix, (place, into), part)
        return matrix, Coarsening.of(place)

    def halves(self, recode: Coarsening | None) -> Floats:
        """The part of each cell of an axis that meets the condition."""
        whole = Coarsening.identity(len(self.share)) if recode is None else recode
        return whole.sum(self.share * whole.within(self.weights))


def _clean(view: RlsEvidence, domain: Domain) -> list[Measurement]:
    """All tables without most of their noise, none below 0."""
    out = []
    for t in view.targets(max(round(view.total), 1)):
        names = tuple(domain.names[i] for i in t.attributes)
        values, recodes = np.maximum(t.values, 0.0), {}
        for axis, (name, codes) in enumerate(zip(names, t.maps, strict=True)):
            recode = Coarsening.of(codes)
            if recode.size == len(codes):  # values only stand in another order
                values = recode.expand(values, axis)
            else:
                recodes[name] = recode
        out.append(Measurement(attributes=names, values=values, sigma=t.sigma, recodes=recodes))
    return out


def _cut(m: Measurement, cuts: Mapping[str, _Cut]) -> Measurement:
    """A table of all records, without those that fail the conditions on columns of the table."""
    values, recodes = m.values, dict(m.recodes)
    for axis, name in enumerate(m.attributes):
        if name in cuts:
            matrix, recode = cuts[name].coarse(m.recodes.get(name))
            values = np.moveaxis(np.tensordot(matrix, values, axes=(1, axis)), 0, axis)
            recodes.pop(name, None)
            if recode is not None and not recode.is_identity:
                recodes[name] = recode
    return replace(m, values=values, recodes=recodes)


def _with_condition(
    a: CodedAttribute, clean: Sequence[Measurement], domain: Domain, cuts: Mapping[str, _Cut]
) -> Measurement:
    """A column together with whether each condition on another one holds (0: it fails, 1: it holds).

    The flattest table that agrees with all tables of these.
    """
    others = [n for n in domain.names if n in cuts and n != a.name]
    asked = {a.name, *others}
    small = Domain(
        tuple(
            b if b.name == a.name else CodedAttribute(name=b.name, size=2) for b in domain.attributes if b.name in asked
        )
    )
    least: dict[tuple[object, ...], Measurement] = {}
    for m in clean:
        if m.attributes and set(m.attributes) & asked:
            halved = _halved(projected(m, tuple(asked)), a.name, cuts)
            key = (halved.attributes, halved.recodes.get(a.name))
            if key not in least or halved.sigma < least[key].sigma:
                least[key] = halved
    agreeing = _agreed(list(least.values()), a.name)
    values = reconstruct(agreeing, small, small.names, sweeps=SWEEPS).values
    return Measurement(attributes=small.names, values=values, sigma=least[(a.name,), None].sigma)


def _inside(joint: Measurement, name: str, cuts: Mapping[str, _Cut]) -> Floats:
    """The column among the records that meet all conditions, at its narrowed values."""
    inside = joint.values[tuple(slice(None) if n == name else 1 for n in joint.attributes)]
    if name not in cuts:
        return inside
    matrix, _ = cuts[name].coarse(None)
    return np.asarray(matrix @ inside)


def _where_others_hold(
    m: Measurement, joint: Mapping[str, Measurement], domain: Domain, cuts: Mapping[str, _Cut]
) -> Measurement:
    """A table among the records that meet the conditions on columns that it does not have.

    How its columns depend on each other is the same where these hold and where they fail, as far as anybody measured.
    """
    others = [n for n in domain.names if n in cuts and n not in m.attributes]
    if not others:
        return m
    sizes = dict(zip(m.attributes, m.values.shape, strict=True)) | dict.fromkeys(others, 2)
    small = Domain(tuple(CodedAttribute(name=n, size=sizes[n]) for n in domain.names if n in sizes))
    tables = [replace(m, recodes={})]
    for name in m.attributes:
        table = projected(joint[name], (name, *others))
        if name in m.recodes:
            table = replace(table, values=m.recodes[name].sum(table.values, table.attributes.index(name)))
        tables.append(table)
    total = max(float(m.values.sum()), 1e-9)
    tables = [replace(k, values=k.values * (total / max(float(k.values.sum()), 1e-9))) for k in tables]
    values = reconstruct(tables, small, small.names, sweeps=SWEEPS).values
    return replace(m, values=values[tuple(slice(None) if n in m.attributes else 1 for n in small.names)])


def _halved(m: Measurement, name: str, cuts: Mapping[str, _Cut]) -> Measurement:
    """A table in which each column of the condition but one has two values: the condition fails, or holds."""
    values, recodes = m.values, {n: r for n, r in m.recodes.items() if n == name}
    for axis, n in enumerate(m.attributes):
        if n != name and n in cuts:
            part = cuts[n].halves(m.recodes.get(n))
            values = np.moveaxis(np.tensordot(np.stack([1 - part, part]), values, axes=(1, axis)), 0, axis)
    return replace(m, values=values, recodes=recodes)


def _agreed(tables: Sequence[Measurement], name: str) -> list[Measurement]:
    """The tables scaled to the total of the column alone, so that all can be met at once."""
    alone = next(m for m in tables if m.attributes == (name,) and name not in m.recodes)
    total = max(float(alone.values.sum()), 1e-9)
    out = []
    for m in tables:
        mass = float(m.values.sum())
        out.append(
            replace(m, values=m.values * (total / mass) if mass > 0 else np.full(m.values.shape, total / m.cells))
        )
    return out


def _scaled(m: Measurement, ones: Mapping[str, Floats]) -> Measurement:
    """A table scaled, column by column, to the estimated counts of the records that meet the condition."""
    values = np.maximum(m.values, 0.0)
    goals = [m.recodes[n].sum(ones[n]) if n in m.recodes else ones[n] for n in m.attributes]
    if not values.sum() > 0:
        values = np.ones(values.shape)
    total = max(float(goals[0].sum()), 1e-9)
    goals = [g * (total / max(float(g.sum()), 1e-9)) for g in goals]
    values = values + total * 1e-9 / values.size  # a value may be known of a column, and of no cell of this table
    for _ in range(SWEEPS):
        off = 0.0
        for axis, goal in enumerate(goals):
            shape = [1] * values.ndim
            shape[axis] = len(goal)
            now = values.sum(axis=tuple(i for i in range(values.ndim) if i != axis))
            off = max(off, float(np.abs(now - goal).max()))
            values = values * np.divide(goal, now, out=np.zeros_like(goal), where=now > 0).reshape(shape)
        if off <= CLOSE * total:
            break
    return replace(m, values=values)
