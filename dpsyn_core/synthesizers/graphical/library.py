"""The same fit by the library mbi (extra `pgm`): slower to start, a second opinion on the built-in engine."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence

import numpy as np

from dpsyn_core.errors import MethodError
from dpsyn_core.synthesizers.graphical.fit import NoisyMarginal, estimate_total
from dpsyn_core.synthesizers.graphical.model import Model
from dpsyn_core.synthesizers.graphical.tree import junction_tree


def require_mbi(method: str) -> None:
    """Raises MethodError when the library is not installed; imports nothing."""
    if importlib.util.find_spec("mbi") is None:
        msg = (
            f"engine 'mbi' of {method} needs the library mbi; install it with pip install 'dpsyn-studio[pgm]', or use "
            "the engine 'builtin'"
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
