"""Membership: who of the canaries was in the table of a run, from all that the run releases.

The attacker of the definition of differential privacy knows every other record, the schema and the system; only the
coins are unknown. A canary in the table raises the counts of its cells, so the coins are estimated by ridge
regression of noisy counts on the canaries' cells: from the released marginals of one run, and from the synthetic
records, whose usual counts are learnt from other runs.
Sources: Jagielski, Ullman, Oprea 2020 (attacks that learn on half of the runs and are counted on the other);
Stadler, Oprisanu, Troncoso 2022 (shadow runs of a system against synthetic tables).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Measurement
from dpsyn_core.runs.attacks.result import Floats, Outcome
from dpsyn_core.runs.attacks.world import World
from dpsyn_core.schema import Codes, Domain

MOST_PAIRS = 150  # of attributes, drawn at random where there are more
BLOCK = 5000  # records compared with canaries at a time
NOISES = (
    1.0,
    0.3,
    0.1,
    0.03,
    0.01,
)  # what share of the stated noise an attacker expects: a fault may have made it less
TRUSTS = (1.0, 0.1, 0.01)  # weight of counts of records, which are not independent of each other
PRIOR = 4.0  # inverse variance of a fair coin


class Probe:
    """The cells in which canaries lie: how a coin moves each of them, and the counts there of all other records."""

    def __init__(self, world: World, domain: Domain) -> None:
        """Prepares the cells of single attributes, of pairs and of all attributes together."""
        self.domain = domain
        self.canaries = world.codes[:, world.target]
        moved = world.coin >= 0
        self._moved, self._coin = world.codes[:, moved], world.coin[moved]
        self._sign = np.where(world.side[moved], 1.0, -1.0) * world.weights[moved]
        fixed = ~moved | ~world.side
        self._known = world.codes[:, fixed]  # in the table when no canary is
        self._known_weights, self._usual = world.weights[fixed], world.usual_weight
        d = len(domain)
        pairs = list(itertools.combinations(range(d), 2))
        if len(pairs) > MOST_PAIRS:
            rng = np.random.default_rng(0)  # public: the same pairs in every run
            pairs = [pairs[i] for i in np.sort(rng.choice(len(pairs), MOST_PAIRS, replace=False))]
        whole = [tuple(range(d))] if d > 2 else []
        self.sets: list[tuple[int, ...]] = [*((j,) for j in range(d)), *pairs, *whole]

    @cached_property
    def cells(self) -> list[NDArray[np.intp]]:
        """For each set, one canary of every cell that holds some."""
        return [np.unique(self.canaries[list(s)], axis=1, return_index=True)[1] for s in self.sets]

    @cached_property
    def moves(self) -> Floats:
        """By how much each coin raises each cell, in records; (cells, coins)."""
        every = zip(self.sets, self.cells, strict=True)
        return np.concatenate([self._moves(self.canaries[list(s)][:, c], self._moved[list(s)]) for s, c in every])

    def _moves(self, cells: NDArray[Any], records: NDArray[Any]) -> Floats:
        """(cells, coins) from cells (k, cells) and the moved records on the same attributes (k, records)."""
        same = np.all(cells[:, :, None] == records[:, None, :], axis=0) * self._sign
        return np.stack([np.bincount(self._coin, row, self.canaries.shape[1]) for row in same])

    def counts(self, codes: Codes, weights: Floats | None = None) -> Floats:
        """What the synthetic records in each cell count, scaled to what the records of a run usually do; (cells,).

        weights: of each record, (n,); None: 1.
        """
        weighed = np.ones(codes.shape[1]) if weights is None else weights
        out = np.zeros(sum(len(c) for c in self.cells))
        for start in range(0, codes.shape[1], BLOCK):
            block, weight = codes[:, start : start + BLOCK], weighed[start : start + BLOCK]
            equal = [row[:, None] == canary[None, :] for row, canary in zip(block, self.canaries, strict=True)]
            at = 0
            for s, c in zip(self.sets, self.cells, strict=True):
                same = equal[s[0]][:, c].copy()
                for j in s[1:]:
                    same &= equal[j][:, c]
                out[at : at + len(c)] += weight @ same
                at += len(c)
        return np.asarray(out * self._usual / max(1.0, float(weighed.sum())))

    def evidence(self, measured: Sequence[Measurement], unit: float = 1.0) -> CanaryCounts:
        """What released marginals say of the canaries' cells.

        Exact counts of all other records are subtracted: the attacker knows these records.

        Args:
            measured: of the records of the world, or of some of their columns.
            unit: by how much more they count each record than the world does.
        """
        rows, gaps, weights = [], [], []
        for one in measured:
            if one.sigma <= 0:
                continue
            at = [self.domain.index(name) for name in one.attributes]
            canaries, moved, others = (
                _recoded(c[at], one, self.domain) for c in (self.canaries, self._moved, self._known)
            )
            first = np.unique(canaries, axis=1, return_index=True)[1] if at else np.zeros(1, dtype=np.intp)
            cells = canaries[:, first]
            exact = np.all(cells[:, :, None] == others[:, None, :], axis=0) @ self._known_weights
            rows.append(self._moves(cells, moved))
            gaps.append(one.values[tuple(cells)].ravel() / unit - exact)
            weights.append(np.full(len(first), unit**2 / one.sigma**2))
        if not rows:
            return CanaryCounts(design=np.zeros((0, self.canaries.shape[1])), gaps=np.zeros(0), weights=np.zeros(0))
        return CanaryCounts(design=np.concatenate(rows), gaps=np.concatenate(gaps), weights=np.concatenate(weights))

    def beliefs(self, measured: Sequence[Measurement]) -> Floats:
        """Estimates of the coins from released marginals, one for each of NOISES, (NOISES, coins), or (0, coins)."""
        return self.evidence(measured).beliefs()


@dataclass(frozen=True, kw_only=True, slots=True)
class CanaryCounts:
    """Released counts of cells in which canaries lie.

    design: (cells, coins), by how much each coin raises each count. gaps: (cells,), how far the released counts are
    above those without canaries. weights: (cells,), inverse variances of the noise.
    """

    design: Floats
    gaps: Floats
    weights: Floats

    def __add__(self, other: CanaryCounts) -> CanaryCounts:
        """Both together."""
        return CanaryCounts(
            design=np.concatenate([self.design, other.design]),
            gaps=np.concatenate([self.gaps, other.gaps]),
            weights=np.concatenate([self.weights, other.weights]),
        )

    def beliefs(self) -> Floats:
        """Estimates of the coins, one for each of NOISES; (len(NOISES), coins), or (0, coins) of no counts."""
        if not len(self.gaps):
            return np.zeros((0, self.design.shape[1]))
        return np.stack([coins_of(self.design, self.gaps[None], self.weights / noise**2)[0] for noise in NOISES])


class TreeProbe:
    """The cells of the views of linked tables: those of the roots, and of the children of each stage.

    Tables of consecutive siblings are not looked at: which of them follow each other is drawn anew in every run.
    """

    def __init__(self, views: Sequence[tuple[Probe, float]]) -> None:
        """views: the probe of each, and by how much more its released tables count a record."""
        self._views = tuple(views)

    @cached_property
    def moves(self) -> Floats:
        """See `Probe.moves`; of all views."""
        return np.concatenate([probe.moves for probe, _ in self._views])

    def counts(self, made: Sequence[tuple[Codes, Floats]]) -> Floats:
        """See `Probe.counts`. codes and weights are those of the synthetic records of each view."""
        return np.concatenate([p.counts(*part) for (p, _), part in zip(self._views, made, strict=True)])

    def beliefs(self, measured: Sequence[Sequence[Measurement]]) -> Floats:
        """See `Probe.beliefs`. measured: the released tables of each view."""
        evidence = [p.evidence(tables, unit) for (p, unit), tables in zip(self._views, measured, strict=True)]
        return sum(evidence[1:], evidence[0]).beliefs()


def _recoded(codes: Codes, one: Measurement, domain: Domain) -> NDArray[np.intp]:
    """Codes on the axes of a marginal, some of which are coarser than the schema's."""
    return (
        np.stack(
            [
                one.recodes[name].map[row] if name in one.recodes else row.astype(np.intp)
                for name, row in zip(one.attributes, codes, strict=True)
            ]
        )
        if one.attributes
        else np.zeros((0, codes.shape[1]), dtype=np.intp)
    )


def coins_of(design: Floats, gaps: Floats, weights: Floats) -> Floats:
    """Ridge estimates of fair coins: (runs, coins) from gaps (runs, cells), design (cells, coins), weights (cells,)."""
    weighted = design * weights[:, None]
    inner = design.T @ weighted + PRIOR * np.eye(design.shape[1])
    return np.asarray(np.linalg.solve(inner, (gaps @ weighted + PRIOR / 2).T).T)


def learnt(outcomes: Sequence[Outcome], moves: Floats, train: int) -> list[Floats]:
    """Scores of all coins by every attacker, (runs, coins) each; what has to be learnt is learnt on `train` runs.

    The last attacker adds the others up, with weights that fit the coins of the training runs.
    """
    coins = np.stack([o.coins for o in outcomes]).astype(np.float64)
    counts = np.stack([o.counts for o in outcomes])
    rest = counts[:train] - coins[:train] @ moves.T
    usual, spread = rest.mean(axis=0), rest.var(axis=0, ddof=1) + 0.05**2
    beliefs = [coins_of(moves, counts - usual, trust / spread) for trust in TRUSTS]
    kinds = min(o.scores.shape[0] for o in outcomes)
    beliefs += [np.stack([o.scores[k] for o in outcomes]) for k in range(kinds)]
    tall = np.stack([f[:train].ravel() for f in beliefs] + [np.ones(train * coins.shape[1])], axis=1)
    weights = np.linalg.lstsq(tall, coins[:train].ravel(), rcond=1e-6)[0]
    return [*beliefs, np.asarray(sum(w * f for w, f in zip(weights, beliefs, strict=False)) + weights[-1])]
