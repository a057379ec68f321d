"""What the measurements of record least squares say: total, one-ways, coarse codes, targets, and quick fits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import (
    Coarsening,
    Measurement,
    Number,
    Recodes,
    ReleasedTables,
    Target,
    coarse_scores,
    empty_cells,
    in_order,
    independent_rows,
    merged,
    shrink_pair,
    shrink_pairs,
    shrink_with_sums,
    supported,
    with_gaps,
)
from dpsyn_core.schema import AttributeSet, CodedAttribute, Domain
from dpsyn_core.systems.rls.alike_tables import alike_one_ways, without_noise_of_alike
from dpsyn_core.systems.rls.hierarchies import Agreements, Hierarchies
from dpsyn_core.systems.rls.tuning import TUNING, Tuning

if TYPE_CHECKING:
    from dpsyn_core.estimate import Sums
    from dpsyn_core.schema import KnownZeros
    from dpsyn_core.systems.public_table import Expectations

Floats = NDArray[np.float64]
SURE = 8.0  # standard deviations above 0 from which on a number of records has no chance of being negative
CELLS_AT_ONCE = 1 << 16  # of pair tables that lose their noise together


def total_of(measured: Sequence[Measurement], n_public: int | None) -> float:
    """Records: the public number, or the inverse-variance mean of the sums of all measured tables."""
    if n_public is not None:
        return float(n_public)
    sums = [float(m.values.sum()) for m in measured]
    precision = [1 / (m.cells * m.sigma**2) for m in measured]
    mean, sigma = float(np.average(sums, weights=precision)), sum(precision) ** -0.5
    if mean > SURE * sigma:
        return mean
    from dpsyn_core.estimate import truncated_normal_mean

    # near its noise, the expected number given that it is not negative: a table is not empty for noise alone
    return float(truncated_normal_mean(np.array([mean]), sigma)[0])


def even_blocks(attribute: CodedAttribute, count: int, *, tuning: Tuning = TUNING) -> Coarsening:
    """So many runs of nearly equal length of the values in order of an attribute; special values stay.

    0, the ends and the roundest value of each run have separate cells, in the order of first values.
    """
    from dpsyn_core.estimate import expected_heaps, set_apart

    ranked = attribute.size - attribute.special
    runs = Coarsening.even(attribute, count).map
    chance = expected_heaps(ranked, attribute.round, runs[:ranked], tuning=tuning.records.shrinkage)
    return Coarsening.of(set_apart(runs, chance > 0))


class RlsEvidence:
    """Released values, read for a fit. Post-processing only."""

    def __init__(
        self,
        domain: Domain,
        measured: Sequence[Measurement],
        n_public: int | None,
        *,
        tuning: Tuning = TUNING,
        zeros: KnownZeros | None = None,
        prior: Expectations | None = None,
    ) -> None:
        """Reads the total and the one-ways, which must have been measured, and finds order that nobody declared."""
        self.domain, self.tuning, self.zeros = domain, tuning, zeros
        self.total = total_of([m for m in measured if len(m.attributes) < 2], n_public)
        ones = {m.attributes[0]: m for m in merged([m for m in measured if len(m.attributes) == 1 and not m.recodes])}
        ones = alike_one_ways(ones, domain) if prior is None else ones
        followers = measured.followers if isinstance(measured, ReleasedTables) else ()
        followed = {domain.ordered_set((f.name, f.of)) for f in followers}
        joint = merged([m for m in measured if len(m.attributes) > 1 or m.recodes])
        tables = {m.attributes: m for m in joint if m.attributes in followed and not m.recodes}
        self.joint = [m for m in joint if tables.get(m.attributes) is not m]
        self.coarse: dict[str, list[Sums]] = {name: [] for name in domain.names}
        for m in self.joint:
            if len(m.attributes) == 1:
                from dpsyn_core.estimate import Sums

                (name,) = m.attributes
                self.coarse[name].append(Sums(m.recodes[name].map, m.values, m.sigma))
        self._coarse_ones: dict[tuple[str, Coarsening], Floats] = {}
        self.attributes = [
            replace(a, ordered=a.ordered or in_order(ones[a.name].values[: a.size - a.special]))
            for a in domain.attributes
        ]
        firsts = {n: sums[0] for n, sums in self.coarse.items() if sums}
        # of a value, and of the smallest run of values that was counted
        self.counted = [(ones if n in ones else firsts)[n].sigma for n in domain.names]
        self.sigmas = [
            s if a.name in ones else s * math.sqrt(len(self.coarse[a.name][0].values) / a.size)
            for a, s in zip(domain.attributes, self.counted, strict=True)
        ]
        self._value_by_value = ones
        self.one_ways = [self._one_way(a, ones.get(a.name), self.coarse[a.name]) for a in self.attributes]
        self.hierarchies = Hierarchies(domain, followers, tables, self.one_ways)
        for i in {domain.index(f.of) for f in followers} if followers else ():
            a, more = self.attributes[i], self.hierarchies.one_way(domain.names[i])
            if more and a.name in ones:
                ones[a.name] = merged([ones[a.name], *more])[0]
                self.one_ways[i] = self._one_way(a, ones[a.name], self.coarse[a.name])
                self.sigmas[i] = ones[a.name].sigma
        self.agreements = Agreements(
            self.hierarchies, measured.together if isinstance(measured, ReleasedTables) else ()
        )
        self.agreements.reconcile(self.one_ways, self.sigmas, self.total)
        self.prior = None if prior is None else prior.borne_out(self)
        if self.prior is not None:
            self.one_ways, self.sigmas = self.prior.one_ways(self)
        else:
            self.joint = without_noise_of_alike(self.joint, domain, maps=self.maps, product=self.product)
        # values of numbers have distances, so that a coarse value says more of them than of a category
        least = tuning.resolution.numbers_from
        self.numbers = frozenset(a.name for a in domain.attributes if a.number and a.size - a.special >= least)
        # a year or an hour may well be a value of its own; one of hundreds of bins is hardly ever
        least = tuning.resolution.fine_from
        self.fine = frozenset(a.name for a in domain.attributes if a.number and a.size - a.special >= least)
        self.trust = measured.trust if isinstance(measured, ReleasedTables) else {}
        self.scores = measured.scores if isinstance(measured, ReleasedTables) else None
        self.sums = measured.sums if isinstance(measured, ReleasedTables) else ()
        means = measured.means if isinstance(measured, ReleasedTables) else ()
        known = set(domain.names)  # of linked tables, some columns at a time
        self.means = tuple(m for m in means if known.issuperset(n for pair in m.pairs for n in pair))

    def _one_way(self, a: CodedAttribute, measured: Measurement | None, sums: list[Sums]) -> Floats:
        """The counts of an attribute without most of their noise, from all released tables of it alone."""
        tuning = self.tuning.records.shrinkage
        if measured is None or self._rarely_counted(a, measured):
            from dpsyn_core.estimate import Sums, in_heavy_runs, shrink_blocks

            alone = [] if measured is None else [Sums(np.arange(a.size), measured.values, measured.sigma)]
            heaped = self._may_be_heaped(a)
            for singly in alone:  # any value may be heaped that stands far out of its noise
                ranked = Sums(singly.recode[: len(heaped)], singly.values, singly.sigma)
                heaped = np.maximum(heaped, in_heavy_runs(ranked, tuning=tuning) * (tuning.heap_any / a.size))
            return shrink_blocks(
                [*alone, *sums],
                a.size,
                special=a.special,
                total=self.total,
                heaped=heaped,
                lengths=np.frombuffer(a.lengths) if a.lengths else None,
                tuning=tuning,
            )
        if not sums and self.total < self.tuning.resolution.scarce * measured.sigma:
            from dpsyn_core.estimate import shrink_few

            return shrink_few(
                measured.values,
                measured.sigma,
                ordered=a.ordered,
                special=a.special,
                total=self.total,
                heaped=self._may_be_heaped(a),
                lengths=np.frombuffer(a.lengths) if a.lengths else None,
                tuning=tuning,
            )
        return shrink_with_sums(
            measured.values,
            measured.sigma,
            sums,
            ordered=a.ordered,
            special=a.special,
            total=self.total,
            number=a.number,
            tuning=tuning,
        )

    def _rarely_counted(self, a: CodedAttribute, measured: Measurement) -> bool:
        """Whether few records have a number that was counted bin by bin: their bins are lost in noise one by one."""
        r = self.tuning.resolution
        if not a.number or a.size - a.special < r.fine_from:
            return False
        filled = self._filled(a, measured.values)
        most = r.few_blocks_below if 2 * filled < self.total else r.blocks_below
        return filled < most * measured.sigma and r.blocks_below * measured.sigma < self.total

    def _filled(self, a: CodedAttribute, counts: Floats) -> float:
        """Records that have a number, but for one value of most records: amounts of claims are mostly 0, or blank."""
        ranked = counts[: a.size - a.special]
        top = float(ranked.max(initial=0.0))
        return self.total - float(counts[len(ranked) :].sum()) - (top if 2 * top > self.total else 0.0)

    def value_by_value(self, name: str) -> list[Measurement]:
        """The table of all values of an attribute, where it was measured."""
        return [self._value_by_value[name]] if name in self._value_by_value else []

    def one_way_again(self, place: int, rng: Generator) -> Floats:
        """A parametric bootstrap of a one-way: fresh noise is added to its estimate, and the sum is denoised again."""
        from dpsyn_core.estimate import Sums

        a, estimate = self.attributes[place], self.one_ways[place]

        def drawn(values: Floats, sigma: float) -> Floats:
            return values + rng.normal(0.0, sigma, len(values))

        measured = [replace(m, values=drawn(estimate, m.sigma)) for m in self.value_by_value(a.name)]
        sums = [
            Sums(s.recode, drawn(np.bincount(s.recode, estimate, len(s.values)).astype(np.float64), s.sigma), s.sigma)
            for s in self.coarse[a.name]
        ]
        return self._one_way(a, measured[0] if measured else None, sums)

    def pairs_again(self, tables: Sequence[Floats], rng: Generator) -> list[Floats]:
        """A parametric bootstrap of measured tables, in the order of `joint`, from these; see `one_way_again`."""
        again = copy(self)
        again.prior = None
        again.joint = [
            replace(m, values=t + rng.normal(0.0, m.sigma, t.shape)) for m, t in zip(self.joint, tables, strict=True)
        ]
        return [t.values for t in again.targets(max(round(self.total), 1))[len(self.domain) :]]

    def _may_be_heaped(self, a: CodedAttribute) -> Floats:
        """The chance of each value in order to be heaped, before it was counted."""
        from dpsyn_core.estimate import expected_heaps

        return expected_heaps(a.size - a.special, a.round, tuning=self.tuning.records.shrinkage)

    def isolate_spikes(self, name: str, recode: Coarsening) -> Coarsening:
        """That of a number counted in runs, with values apart that may be heaped by what the first table says.

        These are values that stand out of their neighbours there, and all of short runs that hold many records.
        """
        from dpsyn_core.estimate import Sums, heaps, in_heavy_runs, set_apart

        a, first, tuning = self.domain[name], self.coarse[name][0], self.tuning.records.shrinkage
        ranked = a.size - a.special
        runs = Sums(first.recode[:ranked], first.values, first.sigma)
        after, _ = heaps([runs], self._may_be_heaped(a), max(self.total, 1.0), tuning=tuning)
        alone = (after > tuning.heap_again) | in_heavy_runs(runs, tuning=tuning)
        return Coarsening.of(set_apart(recode.map, alone))

    @cached_property
    def valued(self) -> list[Number]:
        """Where records hold numbers, short ones too, and how many values in order these have."""
        ranked = [a.size - a.special if a.number else 0 for a in self.domain.attributes]
        return [Number(place=i, ranked=r) for i, r in enumerate(ranked) if r > 2]

    @cached_property
    def places(self) -> list[Number]:
        """The same of the numbers that pairs are measured coarsely with."""
        return [n for n in self.valued if self.domain.names[n.place] in self.numbers]

    def recodes(self, resolution: float) -> dict[str, Coarsening]:
        """Of all attributes: a coarse value holds at least total / resolution records and three times the noise.

        A value that alone holds total / resolution is not merged with one that holds less, and attributes of few
        values keep all of them: what is rare has no mass, and is lost where it is merged.
        """
        return {n: self.recode(n, resolution) for n in self.domain.names}

    def recode(self, name: str, resolution: float, *, least: float | None = None, alone: bool = False) -> Coarsening:
        """The coarsening of one attribute; see `recodes`. least: records, in place of three times the noise.

        alone: for a table of this attribute alone, which exchanges nothing between groups of numbers far apart.

        A number that is blank or 0 in most records has fewer coarse values, in proportion to the cube root of the
        records that have another one; shares of all records would leave it with one value.
        """
        i, tuning = self.domain.index(name), self.tuning.resolution
        a, counts = self.attributes[i], self.one_ways[i]
        if a.size <= tuning.numbers_least and not alone:
            return Coarsening.identity(a.size)
        limit = tuning.held * self.counted[i] if least is None else least
        target = self.total / resolution
        if a.number and (a.special or alone):
            filled = self._filled(a, counts)
            part = float(np.cbrt(filled / max(self.total, 1.0)))
            target = filled / max(resolution * part, min(tuning.numbers_least, resolution))
        least = max(target, limit)
        if alone:
            return Coarsening.by_mass(counts, a, least=least)
        return Coarsening.by_mass(counts, a, least=least, gaps=a.number, apart=limit)

    def second_partition(self, name: str) -> Coarsening:
        """The coarse values at which a number of many bins, counted bin by bin, is counted a second time.

        They hold about equally many records, but for ends in which single counts show none: these have blocks of
        growing size.
        """
        from dpsyn_core.estimate import with_ends

        recode = self.recode(name, self.tuning.resolution.coarse_one_way, alone=True)
        first, ranked = self._value_by_value[name], self.domain[name].size - self.domain[name].special
        clean = first.values + (self.total - float(first.values.sum())) / first.cells
        tuning = self.tuning.records.shrinkage
        shown = supported(clean[:ranked], first.sigma, strict_ends=True, tuning=tuning)
        return Coarsening.of(with_ends(recode.map, shown, tuning=tuning))

    def merged_with_categories(self, resolution: float) -> frozenset[str]:
        """Numbers that have about `resolution` coarse values in pairs with categories; see `Resolution.merges`."""
        merges = self.tuning.resolution.merges
        return frozenset(a.name for a in self.domain.attributes if a.number and merges(a.size - a.special, resolution))

    def expected(self, names: AttributeSet, recodes: Recodes) -> Floats:
        """What released tables expect of a (coarse) pair: the least noisy table that holds it, else independence.

        Inside the coarse values of that table, values are as frequent as in the one-ways.
        """
        holding = [m for m in self.joint if set(names) <= set(m.attributes)]
        if not holding:
            return self.product(names, recodes)
        noise = {id(m): m.sigma**2 * m.cells for m in holding}
        m = min(holding, key=lambda m: noise[id(m)] / _cells(m, names))
        summed = tuple(i for i, n in enumerate(m.attributes) if n not in names)
        margin = m.values.sum(axis=summed)
        maps = self.maps(m)
        alone = self.product(names, maps)
        sigma = m.sigma * math.sqrt(m.cells / margin.size)
        clean = np.maximum(shrink_pair(margin, alone, sigma, tuning=self.tuning.records.shrinkage), 0.0)
        ratio = np.divide(clean, alone, out=np.zeros_like(clean), where=alone > 0)
        parts = []
        for n in names:
            shape = (maps[n].size, recodes[n].size)
            weights = self.one_ways[self.domain.index(n)]
            both = np.ravel_multi_index((maps[n].map, recodes[n].map), shape)
            flat = np.bincount(both, weights, shape[0] * shape[1])
            parts.append(flat.reshape(shape))
        out: Floats = parts[0].T @ ratio @ parts[1] / max(self.total, 1.0)
        return out

    def product(self, names: AttributeSet, recodes: Recodes) -> Floats:
        """The (coarse) pair table that independence expects, from the one-ways.

        Where values of both stand in the same records, it is independence among these and among the others.
        """
        marks = self.agreements.marks(names)
        if marks is not None:
            parts = []
            for mark in (True, False):
                sides = [
                    recodes[n].sum(np.where(mask == mark, self.one_ways[self.domain.index(n)], 0.0))
                    for n, mask in zip(names, marks, strict=True)
                ]
                parts.append(sides[0][:, None] * sides[1] / max(float(sides[0].sum()), 1.0))
            return np.asarray(parts[0] + parts[1])
        first, second = (self._coarse_counts(n, recodes[n]) for n in names)
        out: Floats = first[:, None] * second / max(self.total, 1.0)
        return out

    def _coarse_counts(self, name: str, recode: Coarsening) -> Floats:
        """The coarse one-way of an attribute; kept, for it is asked for with every other attribute."""
        counts = self._coarse_ones.get((name, recode))
        if counts is None:
            counts = recode.sum(self.one_ways[self.domain.index(name)])
            self._coarse_ones[name, recode] = counts
        return counts

    @cached_property
    def probabilities(self) -> list[Floats]:
        """Where new values are drawn from, of each attribute that follows from no other one."""
        return [p if p.sum() > 0 else np.ones(len(p)) for p in self.hierarchies.of_kept(self.one_ways)]

    def start(self, n_records: int, *, rng: Generator) -> NDArray[np.uint16]:
        """Independent columns with the one-way counts; of those that follow from no other one."""
        return independent_rows(self.hierarchies.of_kept(self.one_ways), n_records, rng=rng)

    def targets(self, n_records: int) -> list[Target]:
        """Measured tables scaled to the synthetic records; pairs are denoised."""
        scale = n_records / self.total if self.total > 0 else 1.0
        out = [
            Target(attributes=(j,), maps=(np.arange(len(p)),), values=p * scale, sigma=s * scale)
            for j, (p, s) in enumerate(zip(self.one_ways, self.sigmas, strict=True))
        ]
        shrunk, kept_empty = self._shrunk_pairs(), self._empty_cells()
        for number, m in enumerate(self.joint):
            maps = self.maps(m)
            values, sigma, empty = m.values, m.sigma, None
            if len(m.attributes) == 1:  # the one-way follows them already, and has less noise
                (name,) = m.attributes
                values = maps[name].sum(self.one_ways[self.domain.index(name)])
            elif len(m.attributes) == 2:
                values, sigma = self._clean_pair(m, maps, shrunk[number])
                empty = kept_empty.get(number)
                values = values if empty is None else np.where(empty, 0.0, values)
            elif len(m.attributes) > 2:
                values, sigma = self._clean_wide(m, maps)
            if self.zeros is not None:
                values = self.zeros.emptied(values, m.attributes, {n: r.map for n, r in maps.items()})
            place = tuple(self.domain.index(n) for n in m.attributes)
            onto = tuple(r.map for r in maps.values())
            out.append(Target(attributes=place, maps=onto, values=values * scale, sigma=sigma * scale, empty=empty))
        if self.means:
            from dpsyn_core.systems.rls.mean_targets import mean_targets

            tables = {m.attributes: m.sigma for m in self.joint if len(m.attributes) > 1}
            out += mean_targets(
                self.means, self.domain, tables=tables, product=self.product, scale=scale, tuning=self.tuning.records
            )
        return out if self.prior is None else self.prior.targets(self, out, scale)

    def _empty_cells(self) -> dict[int, NDArray[np.bool_]]:
        """The cells of pairs of categories that are kept without records, by place in `joint`; see `empty_cells`."""
        pairs = {i: m for i, m in enumerate(self.joint) if len(m.attributes) == 2}
        pairs = {i: m for i, m in pairs.items() if self.numbers.isdisjoint(m.attributes)}
        empty = empty_cells(
            [m.values / m.sigma for m in pairs.values()],
            [self.product(m.attributes, self.maps(m)) / m.sigma for m in pairs.values()],
            tuning=self.tuning.records.shrinkage,
        )
        return dict(zip(pairs, empty, strict=True))

    def maps(self, m: Measurement) -> Recodes:
        """How coarse each attribute of a measured table is."""
        return {n: m.recodes.get(n) or Coarsening.identity(self.domain[n].size) for n in m.attributes}

    def _ranked(self, name: str, recode: Coarsening) -> int:
        """Coarse values in order of a number; those of special values follow."""
        return int(recode.map[self.domain[name].size - self.domain[name].special - 1]) + 1

    def _shrunk_pairs(self) -> dict[int, Floats]:
        """All pair tables after `shrink_pair`, by their place in `joint`; those of one shape together."""
        shapes: dict[tuple[int, ...], list[int]] = {}
        for number, m in enumerate(self.joint):
            if len(m.attributes) == 2:
                shapes.setdefault(m.values.shape, []).append(number)
        parts = [
            numbers[start : start + step]
            for shape, numbers in shapes.items()
            for step in [max(1, CELLS_AT_ONCE // math.prod(shape))]
            for start in range(0, len(numbers), step)
        ]

        def shrink(part: list[int]) -> Floats:
            tables = [self.joint[i] for i in part]
            alone = np.stack([self.product(m.attributes, self.maps(m)) for m in tables])
            values, sigmas = np.stack([m.values for m in tables]), np.array([m.sigma for m in tables])
            return shrink_pairs(values, alone, sigmas, tuning=self.tuning.records.shrinkage)

        with ThreadPoolExecutor(self.tuning.records.fitting.threads) as pool:
            shrunk = list(pool.map(shrink, parts)) if len(parts) > 1 else [shrink(part) for part in parts]
        return {i: table for part, some in zip(parts, shrunk, strict=True) for i, table in zip(part, some, strict=True)}

    def _clean_pair(self, m: Measurement, maps: Recodes, shrunk: Floats) -> tuple[Floats, float]:
        """A pair table without most of its noise, from what `shrink_pair` gives, and the noise that it is trusted with.

        Of two numbers, the part where both have one is denoised by their copula. What the copula says of it leaves less
        noise than was added, and the table is trusted accordingly: otherwise a few records in each of the many cells
        that should be empty would cost next to nothing, and pairs with categories would put them there.
        """
        if not self.numbers.issuperset(m.attributes):
            return self._with_gaps(m, maps, shrunk), m.sigma
        from dpsyn_core.estimate import shrink_numbers, shrink_towards

        tuning, clean = self.tuning.records.shrinkage, shrunk.copy()
        part, first, second = self._both_numbers(m, maps)
        rows, columns = part.shape
        coarser = self._coarser(m, maps)
        if coarser is not None:  # its counts are less noisy, and those of the finer table add up to them
            expected = self.finer_pair(coarser, maps)[:rows, :columns]
            clean[:rows, :columns], left = shrink_towards(part, expected, m.sigma, tuning=tuning)
        else:
            clean[:rows, :columns], left = shrink_numbers(part, first, second, m.sigma, tuning=tuning)
        return clean, m.sigma * float(np.clip(left, tuning.least_left, 1.0))

    @cached_property
    def _coarsest(self) -> dict[AttributeSet, int]:
        """Where in `joint` the table of the fewest cells of each pair is."""
        out = dict[AttributeSet, int]()
        for i, m in enumerate(self.joint):
            if m.cells < self.joint[out.setdefault(m.attributes, i)].cells:
                out[m.attributes] = i
        return out

    def _coarser(self, m: Measurement, maps: Recodes) -> Measurement | None:
        """Another table of the same pair, whose values those of this one divide; None where there is none."""
        other = self.joint[self._coarsest[m.attributes]]
        into = self.maps(other)
        if other.cells >= m.cells or any((into[n].map[r.first][r.map] != into[n].map).any() for n, r in maps.items()):
            return None
        return other

    def _correlation(self, m: Measurement) -> float:
        """Of the copula that is nearest to the table of two numbers."""
        from dpsyn_core.estimate import correlation_beyond

        part, first, second = self._both_numbers(m, self.maps(m))
        return correlation_beyond(part, first, second, m.sigma, tuning=self.tuning.records.shrinkage)

    def _both_numbers(self, m: Measurement, maps: Recodes) -> tuple[Floats, Floats, Floats]:
        """The part of the table of two numbers in which both have one, and what its rows and columns hold."""
        from dpsyn_core.estimate import shrink_side

        alone = self.product(m.attributes, maps)
        rows, columns = (self._ranked(n, maps[n]) for n in m.attributes)
        part, total = m.values[:rows, :columns], max(float(m.values[:rows, :columns].sum()), 0.0)
        sides = [alone[:rows, :columns].sum(axis=axis) for axis in (1, 0)]
        scale = total / max(float(sides[0].sum()), 1e-9)
        sides = [side * scale for side in sides]
        if part.size < m.values.size:  # those who have both may differ from those who have one
            sides = [
                shrink_side(part.sum(axis=axis), side, m.sigma * math.sqrt(part.shape[axis]))
                for axis, side in zip((1, 0), sides, strict=True)
            ]
        return part, sides[0], sides[1]

    def finer_pair(self, m: Measurement, finer: Recodes) -> Floats:
        """What the table of two numbers lets one expect at more values, into which its own are divided.

        By the copula that is nearest to it, and as many records in each of its cells as it shows.
        """
        from dpsyn_core.estimate import copula_counts

        maps, out = self.maps(m), self.product(m.attributes, finer)
        alone = self.product(m.attributes, maps)
        shrunk = shrink_pair(m.values, alone, m.sigma, tuning=self.tuning.records.shrinkage)
        clean = np.maximum(self._clean_pair(m, maps, shrunk)[0], 0.0)
        rows, columns = (self._ranked(n, finer[n]) for n in m.attributes)
        part = out[:rows, :columns]
        part[:] = copula_counts(self._correlation(m), part.sum(axis=1), part.sum(axis=0))
        inside = [maps[n].map[finer[n].first] for n in m.attributes]
        blocks = np.zeros(clean.shape)
        np.add.at(blocks, np.ix_(*inside), out)
        ratio = np.divide(clean, blocks, out=np.zeros_like(clean), where=blocks > 0)
        return np.asarray(out * ratio[np.ix_(*inside)])

    def _with_gaps(self, m: Measurement, maps: Recodes, shrunk: Floats) -> Floats:
        """The table of a number and a category with differences between categories that are as large as measured."""
        numbers = [n for n in m.attributes if self.domain[n].number]
        if len(numbers) != 1:
            return shrunk
        (name,), axis = numbers, m.attributes.index(numbers[0])
        values = self.domain[name].size - self.domain[name].special
        recode = maps[name].map[:values]
        scores, kept = coarse_scores(self.one_ways[self.domain.index(name)][:values], recode)
        if kept <= 0 or (np.diff(recode) < 0).any():  # of an interval, what is in and what is out have no order
            return shrunk
        ranked = len(scores)
        clean, noisy = np.moveaxis(shrunk.copy(), axis, 0), np.moveaxis(m.values, axis, 0)
        clean[:ranked] = with_gaps(clean[:ranked], noisy[:ranked], scores, kept, m.sigma)
        return np.moveaxis(clean, 0, axis)

    def _clean_wide(self, m: Measurement, maps: Recodes) -> tuple[Floats, float]:
        """A table of three or more attributes without most of its noise, and the noise that it is trusted with.

        Two numbers and a few classes go class by class, as a pair of numbers does.
        """
        tuning, clean = self.tuning.records.shrinkage, m.values
        if self.total < self.tuning.declared.noisy * m.sigma * m.cells:
            from dpsyn_core.estimate import shrink_wide

            alone = [maps[n].sum(self.one_ways[self.domain.index(n)]) for n in m.attributes]
            clean = shrink_wide(clean, alone, m.sigma, tuning=tuning)
        numbers = [n for n in m.attributes if n in self.numbers]
        classes = [n for n in m.attributes if n not in self.numbers]
        if len(numbers) != 2 or len(classes) != 1:
            return clean, m.sigma
        from dpsyn_core.estimate import shrink_classes

        (target,), axis = classes, m.attributes.index(classes[0])
        of_target = {target: maps[target]}
        sides = []
        for n in numbers:
            pair = self.domain.ordered_set((n, target))
            goal = self.expected(pair, {n: maps[n], **of_target})
            sides.append(goal if pair[0] == target else goal.T)
        values, clean = np.moveaxis(m.values, axis, 0), np.moveaxis(clean.copy(), axis, 0)
        rows, columns = (self._ranked(n, maps[n]) for n in numbers)
        first, second = np.maximum(sides[0][:, :rows], 0.0), np.maximum(sides[1][:, :columns], 0.0)
        part = values[:, :rows, :columns]
        clean[:, :rows, :columns], left = shrink_classes(part, first, second, m.sigma, tuning=tuning)
        return np.moveaxis(clean, 0, axis), m.sigma * float(np.clip(left, tuning.least_left, 1.0))


def _cells(measured: Measurement, names: AttributeSet) -> int:
    """Cells of a projection of a measured table."""
    return int(np.prod([s for n, s in zip(measured.attributes, measured.values.shape, strict=True) if n in names]))
