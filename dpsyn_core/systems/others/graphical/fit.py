"""Fitting a graphical model, with the library or without.

Fits a graphical model to noisy marginals: mirror descent with belief propagation, in plain array code.

Minimises sum ||mu_r - y_r||^2 / (2 sigma_r^2) over the marginals mu of tables of total N. Source: McKenna, Sheldon
and Miklau 2019, algorithm 1. Messages are passed in logarithms; there is nothing to compile, which is what takes the
time of array-program libraries on models of this size.

The same fit by the library mbi (extra `pgm`): slower to start, a second opinion on the built-in engine.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MethodError
from dpsyn_core.schema import AttributeSet
from dpsyn_core.systems.others.graphical.model import JunctionTree, Model, junction_tree, reduce_axes, spread, sum_axes

Array = NDArray[np.float64]
Potentials = dict[AttributeSet, Array]


@dataclass(frozen=True, kw_only=True, slots=True)
class NoisyMarginal:
    """A noisy marginal to fit. values, variances: one axis an attribute; variances in squared counts."""

    attributes: AttributeSet
    values: Array
    variances: Array


def estimate_total(targets: Sequence[NoisyMarginal]) -> float:
    """Number of records by inverse variance from the sums of all targets; may be negative."""
    sums = [float(t.values.sum()) for t in targets]
    return float(np.average(sums, weights=[1 / float(t.variances.sum()) for t in targets]))


_TINY = 1e-300  # stands for a probability that left the floats


def _log_sum(x: Array, axes: tuple[int, ...]) -> Array:
    if not axes:
        return x
    top = float(x.max())
    return np.asarray(np.log(np.maximum(sum_axes(np.exp(x - top), axes), _TINY)) + top)


class _Propagation:
    """Belief propagation on one junction tree, with all axes and shapes worked out once."""

    def __init__(self, tree: JunctionTree, sizes: Mapping[str, int], sets: Sequence[AttributeSet]) -> None:
        self.tree = tree
        self.shapes = [tuple(sizes[n] for n in c) for c in tree.cliques]
        cells = [int(np.prod(s)) for s in self.shapes]
        self.host: dict[AttributeSet, int] = {}
        for s in sets:
            inside = [i for i, c in enumerate(tree.cliques) if set(s) <= set(c)]
            self.host[s] = min(inside, key=lambda i: cells[i])
        self.lift = {s: spread(s, tree.cliques[i], sizes) for s, i in self.host.items()}
        self.drop = {s: reduce_axes(tree.cliques[i], s) for s, i in self.host.items()}
        links = list(zip(tree.cliques, tree.parents, tree.separators, strict=True))
        self.own_axes = [reduce_axes(c, sep) for c, _, sep in links]
        self.parent_axes = [() if p < 0 else reduce_axes(tree.cliques[p], sep) for _, p, sep in links]
        self.parent_shape = [() if p < 0 else spread(sep, tree.cliques[p], sizes) for _, p, sep in links]
        self.own_shape = [spread(sep, c, sizes) for c, _, sep in links]

    def tables(self, potentials: Potentials) -> list[Array]:
        """Probabilities of every clique under these log potentials."""
        beliefs = [np.zeros(s) for s in self.shapes]
        for s, i in self.host.items():
            beliefs[i] += potentials[s].reshape(self.lift[s])
        sent: list[Array] = [np.zeros(())] * len(beliefs)
        for i in range(len(beliefs) - 1, 0, -1):
            sent[i] = _log_sum(beliefs[i], self.own_axes[i])
            beliefs[self.tree.parents[i]] += sent[i].reshape(self.parent_shape[i])
        beliefs[0] -= _log_sum(beliefs[0], tuple(range(beliefs[0].ndim)))
        tables = [np.exp(beliefs[0])]
        for i in range(1, len(beliefs)):
            back = np.log(np.maximum(sum_axes(tables[self.tree.parents[i]], self.parent_axes[i]), _TINY))
            beliefs[i] += (back.ravel() - sent[i].ravel()).reshape(self.own_shape[i])
            tables.append(np.exp(beliefs[i]))
        return tables

    def marginals(self, tables: Sequence[Array], total: float) -> Potentials:
        """Expected counts of every fitted set."""
        return {s: sum_axes(tables[i], self.drop[s]) * total for s, i in self.host.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFit:
    """A model, half the weighted squared error, and where the next fit may start: potentials and length of a step."""

    model: Model
    potentials: Potentials
    loss: float
    step: float


def fit(
    targets: Sequence[NoisyMarginal],
    sizes: Mapping[str, int],
    *,
    iterations: int = 1000,
    start: Potentials | None = None,
    step: float | None = None,
    tolerance: float = 1e-4,
    total: float | None = None,
) -> ModelFit:
    """Fits a model to noisy marginals.

    Args:
        targets: what was measured; several may share a set.
        sizes: all attributes in domain order.
        iterations: most steps taken.
        start: potentials of an earlier fit.
        step: length of its last step; default a small one, which then grows.
        tolerance: stops when 20 steps lower the loss by less than this share of it.
        total: number of records; default by inverse variance from the targets, at least 1.
    """
    total = max(1.0, estimate_total(targets)) if total is None else total
    sets = list(dict.fromkeys(t.attributes for t in targets))
    precision: Potentials = {}
    pull: Potentials = {}
    constant = 0.0
    for t in targets:
        w = 1 / t.variances
        precision[t.attributes] = precision.get(t.attributes, 0.0) + w
        pull[t.attributes] = pull.get(t.attributes, 0.0) + w * t.values
    best = {s: pull[s] / precision[s] for s in sets}
    constant = sum(float((((t.values - best[t.attributes]) ** 2) / t.variances).sum()) / 2 for t in targets)
    spreader = _Propagation(junction_tree(sets, sizes), sizes, sets)
    potentials = {s: np.zeros(best[s].shape) if start is None or s not in start else start[s].copy() for s in sets}
    tables = spreader.tables(potentials)
    loss, slope = _loss(spreader.marginals(tables, total), best, precision)
    if step is None:
        step = 1 / (total * max(float(p.max()) for p in precision.values()) * len(sets))
    history = [loss]
    for _ in range(iterations):
        trial = {s: potentials[s] - step * slope[s] for s in sets}
        trial_tables = spreader.tables(trial)
        trial_loss, trial_slope = _loss(spreader.marginals(trial_tables, total), best, precision)
        if trial_loss <= loss:
            potentials, tables, loss, slope = trial, trial_tables, trial_loss, trial_slope
            step *= 1.15
        else:
            step *= 0.5
        history.append(loss)
        if len(history) > 20 and history[-21] - loss <= tolerance * max(loss, 1.0) and step > 0:
            break
    model = Model(tree=spreader.tree, sizes=dict(sizes), total=total, tables=tables)
    return ModelFit(model=model, potentials=potentials, loss=loss + constant, step=step)


def _loss(mu: Potentials, best: Potentials, precision: Potentials) -> tuple[float, Potentials]:
    loss, slope = 0.0, {}
    for s, expected in mu.items():
        gap = expected - best[s]
        slope[s] = precision[s] * gap
        loss += float((slope[s] * gap).sum()) / 2
    return loss, slope


def require_mbi(method: str) -> None:
    """Raises MethodError when the library is not installed; imports nothing."""
    if importlib.util.find_spec("mbi") is None:
        msg = (
            f"engine 'mbi' of {method} needs the library mbi; add it with: python -m pip install "
            "\"dpsyn-studio[pgm]\", or use the engine 'builtin'"
        )
        raise MethodError(msg)


def fit_by_mbi(
    targets: Sequence[NoisyMarginal], sizes: Mapping[str, int], *, iterations: int, total: float | None = None
) -> Model:
    """Mirror descent by mbi, read into the same Model. Arguments as in `fit`."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_enable_compilation_cache", False)
    import mbi

    total = max(1.0, estimate_total(targets)) if total is None else total
    measured = []
    for t in targets:
        weights = 1 / np.sqrt(t.variances.ravel())
        # unit deviation and weighted cells, so that cells of different variance share one measurement
        measured.append(
            mbi.LinearMeasurement(t.values.ravel() * weights, t.attributes, 1.0, query=mbi.WeightedQuery(weights))
        )
    domain = mbi.Domain(tuple(sizes), tuple(sizes.values()))
    fitted = mbi.estimation.MirrorDescent().estimate(domain, measured, known_total=total, iters=iterations)
    tree = junction_tree([t.attributes for t in targets], sizes)
    tables = []
    for clique in tree.cliques:
        table = np.clip(np.asarray(fitted.project(clique).transpose(clique).values, dtype=np.float64), 0, None)
        tables.append(table / table.sum())
    return Model(tree=tree, sizes=dict(sizes), total=total, tables=tables)
