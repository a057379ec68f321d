"""The mechanisms of `rls` that `benchmarks.ablation` takes out, and what takes the place of each."""

from __future__ import annotations

import math
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

from dpsyn_core.estimate import Coarsening
from dpsyn_core.estimate.records.rls.denoise import shrink_one_way, shrink_pair
from dpsyn_core.estimate.records.rls.oneway import shape
from dpsyn_core.estimate.records.rls.oneway.empty_runs import supported
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.systems.rls import pairs as rls_pairs
from dpsyn_core.systems.rls.evidence import RlsEvidence

ENGINE = "dpsyn_core.systems.rls"
RECORDS = "dpsyn_core.estimate.records.rls"
STANDING_OUT = rls_pairs._standing_out  # before anything is replaced
OF_TARGETS = (
    "resolution of two numbers", "denoising of triples", "targets", "fewer pairs with a target",
    "fewer values with a target",
)  # fmt: skip
OF_STRUCTURE = (
    "rare values apart", "margins of sampling errors", "strong pairs", "scores shrunk where hopeless",
    "columns that follow", "values that columns have together", "mean tables of batteries", "noise of alike tables",
    "pairs that others explain", "groups one by one", "finer pairs of numbers",
    "second walk of shapes", "lengths of bins", "mostly 0 numbers", "heaps",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Part:
    """A mechanism. instead: what takes its place, by the function that is replaced.

    measuring: it acts while tables are measured; making: while records are made from them.
    """

    instead: Mapping[str, Callable[..., Any]]
    measuring: bool = False
    making: bool = False


def _none(*_: object, **__: object) -> None:
    return None


def _false(*_: object, **__: object) -> bool:
    return False


def _unlimited(*_: object, **__: object) -> float:
    return math.inf


def _empty(*_: object, **__: object) -> list[Any]:
    return []


def _none_empty(counts: Sequence[np.ndarray], *_: object, **__: object) -> list[np.ndarray]:
    return [np.zeros(c.shape, dtype=bool) for c in counts]


def _shown(values: np.ndarray, *_: object, **__: object) -> np.ndarray:
    return np.ones(len(values), dtype=bool)


def _first(value: Any, *_: object, **__: object) -> Any:
    return value


def _zeros(size: int, *_: object, **__: object) -> np.ndarray:
    return np.zeros(size)


def _once(cost: Cost, *_: object, **__: object) -> tuple[Cost, None]:
    return cost, None


def _by_mass(
    view: RlsEvidence, name: str, resolution: float, *, least: float | None = None, alone: bool = False
) -> Coarsening:
    """The coarse values of an attribute, each with enough records; what is rare is merged."""
    i = view.domain.index(name)
    limit = view.tuning.resolution.held * view.counted[i] if least is None else least
    a, least = view.attributes[i], max(view.total / resolution, limit)
    return Coarsening.by_mass(view.one_ways[i], a, least=least, gaps=a.number and not alone)


def _poisson(expected: Sequence[np.ndarray]) -> np.ndarray:
    """Sampling errors of tables whose cells vary as if their margins did."""
    cells = [np.minimum(rls_pairs.HALF_NORMAL_MEAN * np.sqrt(e), 2 * e).sum() for e in expected]
    return np.array(cells, dtype=np.float64)


def _none_strong(*args: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    left, excess, strong = STANDING_OUT(*args)
    return left, excess, np.zeros_like(strong)


def _no_followers(*_: object, cost: Cost, **__: object) -> tuple[list[Any], tuple[()], Cost]:
    return [], (), cost


def _none_together(*_: object, cost: Cost, **__: object) -> tuple[tuple[()], Cost]:
    return (), cost


def _with_all_noise(tables: Any, *_: object, **__: object) -> Any:
    return tables


def _no_means(counter: Any, view: Any, pairs: Any, **_: object) -> tuple[tuple[()], Any]:
    return (), pairs


def _one_walk(
    seen: np.ndarray, goal: np.ndarray, width: np.ndarray, rough: np.ndarray, tuning: Any, start: Any = None
) -> np.ndarray:
    """Shares of units as `shape._likeliest` finds them from the stiffest penalty on alone."""
    log = np.zeros(len(width)) if start is None else start
    best, top, penalty = width / width.sum(), -np.inf, rough.T @ rough
    for strength in np.geomspace(tuning.shape_stiff, tuning.shape_loose, tuning.shape_penalties):
        log, curvature, misfit = shape._fit(log, seen, goal, width, strength * penalty)
        determinant = float(np.linalg.slogdet(curvature + shape.FLAT * np.eye(len(width)))[1])
        evidence = 0.5 * len(rough) * np.log(strength) - 0.5 * determinant - misfit
        best, top = (shape._shares(log, width), evidence) if evidence > top else (best, top)
    return np.asarray(best)


def _even_lengths(*args: Any, lengths: object = None, **named: Any) -> np.ndarray:
    return shape.smooth_counts(*args, **named)


def _pair_of_numbers(
    values: np.ndarray, rows: np.ndarray, columns: np.ndarray, sigma: float, *, tuning: Any
) -> tuple[np.ndarray, float]:
    expected = np.outer(rows, columns) / max(float(rows.sum()), 1e-9)
    return shrink_pair(values, expected, sigma, tuning=tuning), 1.0


def _without_heaps(
    values: np.ndarray, sigma: float, *, ordered: bool, special: int, total: float, tuning: Any, **_: object
) -> np.ndarray:
    return shrink_one_way(values, sigma, ordered=ordered, special=special, total=total, tuning=tuning)


def _all_lenient(values: np.ndarray, sigma: float, *, tuning: Any, **_: object) -> np.ndarray:
    return supported(values, sigma, tuning=tuning)


PARTS: dict[str, Part] = {
    "second rounds": Part(
        measuring=True, instead={f"{ENGINE}.system.triples_may_pay": _false, f"{ENGINE}.orders.Search.pays": _false}
    ),
    "wider sets": Part(measuring=True, instead={f"{ENGINE}.orders._best_parts": _empty}),
    "search for any order": Part(measuring=True, instead={f"{ENGINE}.orders.Search.pays": _false}),
    "second scores of pairs": Part(
        measuring=True, instead={f"{ENGINE}.pairs._second_scoring": lambda *_, **__: np.zeros(0, dtype=np.intp)}
    ),
    "pairs that others imply": Part(
        measuring=True, instead={f"{ENGINE}.pairs._implied": lambda pairs, *_: np.zeros(len(pairs))}
    ),
    "pairs that others explain": Part(
        measuring=True, instead={f"{ENGINE}.pairs._doubtful": lambda pairs, *_: np.zeros(len(pairs), dtype=bool)}
    ),
    "finer pairs of numbers": Part(measuring=True, instead={f"{ENGINE}.system.of_numbers": lambda *_: []}),
    "groups one by one": Part(measuring=True, instead={f"{ENGINE}.pairs._with_groups": _first}),
    "rare values apart": Part(
        measuring=True, making=True, instead={f"{ENGINE}.evidence.RlsEvidence.recode": _by_mass}
    ),
    "margins of sampling errors": Part(
        measuring=True, making=True,
        instead={
            f"{ENGINE}.pairs.sampling_errors": _poisson, f"{ENGINE}.implied_dependence.sampling_errors": _poisson,
            f"{ENGINE}.explained_pairs.sampling_errors": _poisson,
        },
    ),
    "strong pairs": Part(measuring=True, instead={f"{ENGINE}.pairs._standing_out": _none_strong}),
    "columns that follow": Part(measuring=True, instead={f"{ENGINE}.system.measure_followers": _no_followers}),
    "values that columns have together": Part(
        measuring=True, instead={f"{ENGINE}.system.measure_together": _none_together}
    ),
    "mean tables of batteries": Part(measuring=True, instead={f"{ENGINE}.system.measure_mean_tables": _no_means}),
    "noise of alike tables": Part(
        measuring=True,
        making=True,
        instead={
            f"{ENGINE}.evidence.without_noise_of_alike": _with_all_noise,
            f"{ENGINE}.evidence.alike_one_ways": _with_all_noise,
        },
    ),
    "second walk of shapes": Part(
        measuring=True, making=True, instead={f"{RECORDS}.oneway.shape._likeliest": _one_walk}
    ),
    "lengths of bins": Part(
        measuring=True, making=True, instead={f"{RECORDS}.oneway.few_records.smooth_counts": _even_lengths}
    ),
    "mostly 0 numbers": Part(
        measuring=True, making=True,
        instead={f"{ENGINE}.evidence.RlsEvidence._filled": lambda view, *_: view.total},
    ),
    "pairs that scores deny": Part(making=True, instead={f"{ENGINE}.system.denied_pairs": lambda *_: []}),
    "clusters of numbers": Part(
        measuring=True, making=True,
        instead={"dpsyn_core.estimate.marginals.coarsening._clusters": lambda counts, _: [np.arange(len(counts))]},
    ),
    "resolution by strength": Part(
        measuring=True, making=True, instead={f"{ENGINE}.budget._resolution": lambda _, tuning: tuning.resolution.usual}
    ),
    "resolution of two numbers": Part(measuring=True, instead={f"{ENGINE}.budget._number_resolution": _unlimited}),
    "resolution of mixed pairs": Part(
        measuring=True, making=True, instead={f"{ENGINE}.budget._mixed_resolution": _unlimited}
    ),
    "share of one-ways": Part(measuring=True, instead={f"{ENGINE}.budget._one_way_share": lambda *_: 0.25}),
    "share of scores": Part(measuring=True, instead={f"{ENGINE}.budget._score_share": lambda *a: a[-1].scores}),
    "number of records again": Part(measuring=True, instead={f"{ENGINE}.budget.total_again_cost": _none}),
    "scores shrunk where hopeless": Part(measuring=True, instead={f"{ENGINE}.budget._hopeless": _false}),
    "weight of numbers": Part(measuring=True, instead={f"{ENGINE}.budget._counted": _first}),
    "blocks": Part(
        measuring=True, making=True, instead={f"{ENGINE}.budget._blocks": lambda each, *_: tuple(None for _ in each)}
    ),
    "second one-ways": Part(measuring=True, making=True, instead={f"{ENGINE}.budget._twice": _once}),
    "undeclared order": Part(measuring=True, making=True, instead={f"{ENGINE}.evidence.in_order": _false}),
    "denoising of one-ways of few records": Part(
        measuring=True, making=True, instead={f"{RECORDS}.oneway.few_records.shrink_few": _without_heaps}
    ),
    "heaps": Part(
        measuring=True, making=True,
        instead={
            f"{RECORDS}.oneway.heaps.expected_heaps": _zeros,
            f"{RECORDS}.oneway.heaps.in_heavy_runs": lambda first, **_: np.zeros(len(first.recode), dtype=bool),
            f"{RECORDS}.oneway.few_records.heaped_counts": lambda _, chance, *__, **___: np.zeros(len(chance)),
        },
    ),
    "tails": Part(
        measuring=True, making=True,
        instead={
            f"{RECORDS}.oneway.tails.with_ends": _first, f"{RECORDS}.oneway.tails.ends_of": _empty,
            f"{RECORDS}.oneway.coarse_sums.supported": _all_lenient,
        },
    ),
    "empty stretches": Part(
        measuring=True, making=True,
        instead={
            f"{ENGINE}.evidence.supported": _shown, f"{RECORDS}.denoise.supported": _shown,
            f"{RECORDS}.oneway.coarse_sums.supported": _shown,
        },
    ),
    "denoising of pairs": Part(
        measuring=True, making=True,
        instead={f"{ENGINE}.evidence.RlsEvidence._clean_pair": lambda _, m, *__: (m.values, m.sigma)},
    ),
    "copula of two numbers": Part(
        measuring=True, making=True, instead={f"{RECORDS}.numbers.shrink_numbers": _pair_of_numbers}
    ),
    "denoising of triples": Part(
        making=True, instead={f"{ENGINE}.evidence.RlsEvidence._clean_wide": lambda _, m, *__: (m.values, m.sigma)}
    ),
    "targets": Part(measuring=True, instead={f"{ENGINE}.system.Rls.target": _none}),
    "fewer pairs with a target": Part(
        measuring=True,
        instead={
            f"{ENGINE}.question_tables.pairs_to_score": lambda _, view, plan, *__, **___: (
                view.domain.subsets(2),
                plan.scores,
            )
        },
    ),
    "fewer values with a target": Part(measuring=True, instead={f"{ENGINE}.question_tables.beside_target": _first}),
    "weight of pairs with a target": Part(
        measuring=True, instead={f"{ENGINE}.question_tables.pair_weights": lambda *_, **__: {}}
    ),
    "gaps at full size": Part(making=True, instead={f"{ENGINE}.evidence.with_gaps": _first}),
    "evening": Part(making=True, instead={f"{ENGINE}.system.pays": _false}),
    "placing by category": Part(making=True, instead={f"{ENGINE}.system.place_by_category": _none}),
    "empty cells": Part(making=True, instead={f"{ENGINE}.evidence.empty_cells": _none_empty}),
    "placing": Part(making=True, instead={f"{ENGINE}.system.place_numbers": _none}),
}  # fmt: skip


def _owner(path: str) -> tuple[Any, str]:
    """The module or class that holds a function, and its name there. Raises where either is missing."""
    owner, name = path.rsplit(".", 1)
    return pkgutil.resolve_name(owner), name


@contextmanager
def without(part: Part) -> Iterator[None]:
    """The engine without a mechanism."""
    with ExitStack() as stack:
        for path, instead in part.instead.items():
            owner, name = _owner(path)
            stack.enter_context(mock.patch.object(owner, name, instead))
        yield


@contextmanager
def watched(paths: Sequence[str], called: set[str]) -> Iterator[None]:
    """Notes which of these functions are called."""

    def noting(path: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            called.add(path)
            return original(*args, **named)

        return call

    with ExitStack() as stack:
        for path in paths:
            owner, name = _owner(path)
            stack.enter_context(mock.patch.object(owner, name, noting(path, getattr(owner, name))))
        yield
