"""Regressions by sums: the design of a model as numbers of codes, and the released sum of its records' score vectors.

A score vector is the term values of a record times its residual under start coefficients. At the coefficients of the
real table these vectors add up to zero; their sum at other coefficients says in which direction the real ones lie.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.schema import Domain

Floats = NDArray[np.float64]
STEEPEST = 35.0  # log odds beyond which a probability counts as 0 or 1


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelDesign:
    """A regression as numbers that codes stand for. Public.

    name: of the question. weight: its importance. lookups: for each attribute finite float64 (size, numbers), the last
    of which is 1 for a code that takes part and 0 for one that does not. terms: for each coefficient its label and the
    positions of the numbers, of all lookups in a row, whose product it multiplies; none for the intercept. outcome:
    the attribute. y: position of its number. logistic: whether that is 0 or 1, and its log odds are explained.
    functions: position -> attribute and function (None: unchanged) of the numbers that are not 0 or 1 by category.
    """

    name: str
    weight: float
    lookups: Mapping[str, Floats]
    terms: tuple[tuple[str, tuple[int, ...]], ...]
    outcome: str
    y: int
    logistic: bool
    functions: Mapping[int, tuple[str, Any]] = field(default_factory=dict)

    def same(self, other: ModelDesign) -> bool:
        """Whether both are one model, whatever it is called."""
        mine, its = ((d.terms, d.outcome, d.y, d.logistic, list(d.lookups)) for d in (self, other))
        return mine == its and all(np.array_equal(t, other.lookups[n]) for n, t in self.lookups.items())

    @property
    def labels(self) -> tuple[str, ...]:
        """Of the coefficients, the intercept first."""
        return tuple(label for label, _ in self.terms)

    def numbers(self, columns: Mapping[str, NDArray[np.integer[Any]]]) -> Floats:
        """The numbers of records, float64 (records, numbers of all lookups), from codes by attribute."""
        return np.column_stack([table[columns[name]] for name, table in self.lookups.items()])

    def complete(self, numbers: Floats) -> Floats:
        """1 for records that have every value, else 0."""
        ends = np.cumsum([table.shape[1] for table in self.lookups.values()]) - 1
        return np.asarray(numbers[:, ends].prod(axis=1))

    def x(self, numbers: Floats) -> Floats:
        """The terms of records, float64 (records, terms)."""
        out = np.ones((len(numbers), len(self.terms)))
        for j, (_, positions) in enumerate(self.terms):
            for i in positions:
                out[:, j] *= numbers[:, i]
        return out

    def expected(self, x: Floats, beta: Floats) -> Floats:
        """What coefficients expect of the outcome, by the terms of records."""
        eta = x @ beta
        return np.asarray(1 / (1 + np.exp(-np.clip(eta, -STEEPEST, STEEPEST))) if self.logistic else eta)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSum:
    """The released sum of clipped score vectors of one model.

    design: of the model. start: coefficients that residuals are taken from. scale: of a linear model, the largest
    residual that is reckoned with; the gate cuts what is beyond. turn: float64 (terms, terms), makes term values
    comparable. clip: largest norm of a vector. values: float64 (terms,), the sum with noise. sigma: standard deviation
    of the noise of each number.
    """

    design: ModelDesign
    start: Floats
    scale: float
    turn: Floats
    clip: float
    values: Floats
    sigma: float

    def weights(self, x: Floats) -> Floats:
        """What a residual counts, by the terms of its record: less where the vector could be longer than the clip."""
        p = self.design.expected(x, self.start)
        reach = np.maximum(p, 1 - p) if self.design.logistic else np.full(len(x), self.scale)
        length = np.sqrt(((x @ self.turn) ** 2).sum(axis=1)) * reach
        return np.asarray(np.minimum(1.0, self.clip / np.maximum(length, 1e-300)))

    def vectors(self, numbers: Floats) -> Floats:
        """Score vectors (records, terms), each from the numbers of its record alone, before they are clipped."""
        x = self.design.x(numbers)
        rest = (numbers[:, self.design.y] - self.design.expected(x, self.start)) * self.design.complete(numbers)
        return np.asarray((x @ self.turn) * (rest * self.weights(x))[:, None])

    def map(self, numbers: Floats) -> list[Floats]:
        """The vectors, as the gate asks for them."""
        return [self.vectors(numbers)]

    def redrawn(self, rng: Generator) -> ModelSum:
        """The same with noise drawn once more on top."""
        return replace(self, values=self.values + rng.normal(0.0, self.sigma, self.values.shape))


def packed_sum(s: ModelSum) -> dict[str, Any]:
    """As JSON values."""
    d = s.design
    return {
        "model": {
            "name": d.name,
            "weight": d.weight,
            "lookups": {n: t.tolist() for n, t in d.lookups.items()},
            "terms": [[label, list(positions)] for label, positions in d.terms],
            "outcome": d.outcome,
            "y": d.y,
            "logistic": d.logistic,
        },
        "start": s.start.tolist(),
        "scale": s.scale,
        "turn": s.turn.tolist(),
        "clip": s.clip,
        "values": s.values.tolist(),
        "sigma": s.sigma,
    }


def parsed_sum(entry: Mapping[str, Any], domain: Domain) -> ModelSum:
    """What `packed_sum` wrote. Raises ValueError, KeyError or TypeError where it is something else."""
    model = entry["model"]
    lookups = {str(n): np.asarray(t, dtype=np.float64) for n, t in model["lookups"].items()}
    terms = tuple((str(label), tuple(int(p) for p in positions)) for label, positions in model["terms"])
    design = ModelDesign(
        name=str(model["name"]),
        weight=float(model["weight"]),
        lookups=lookups,
        terms=terms,
        outcome=str(model["outcome"]),
        y=int(model["y"]),
        logistic=bool(model["logistic"]),
    )
    start, turn, values = (np.asarray(entry[k], dtype=np.float64) for k in ("start", "turn", "values"))
    scale, clip, sigma = (float(entry[k]) for k in ("scale", "clip", "sigma"))
    k, width = len(terms), sum(t.shape[1] for t in lookups.values())
    finite = all(np.isfinite(a).all() for a in (*lookups.values(), start, turn, values))
    fits = (
        all(t.ndim == 2 and len(t) == domain[n].size for n, t in lookups.items())
        and design.outcome in lookups
        and all(0 <= p < width for _, positions in (*terms, ("", (design.y,))) for p in positions)
        and (start.shape, turn.shape, values.shape) == ((k,), (k, k), (k,))
        and all(0 < v < np.inf for v in (scale, clip, sigma))
    )
    if not (finite and fits):
        msg = "a sum of a model does not fit"
        raise ValueError(msg)
    return ModelSum(design=design, start=start, scale=scale, turn=turn, clip=clip, values=values, sigma=sigma)
