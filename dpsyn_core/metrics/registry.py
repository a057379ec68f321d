"""Registry of metrics: adding one is adding one file with @register to this package."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import cache
from typing import TypeVar

import dpsyn_core.metrics as package
from dpsyn_core.errors import MetricError
from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Comparison
from dpsyn_core.progress import Progress, silent

_metrics: dict[str, type[Metric]] = {}
_order: dict[str, int] = {}
M = TypeVar("M", bound=type[Metric])


def register(order: int) -> Callable[[M], M]:
    """Class decorator: makes a metric known under its `name`; reports list metrics by `order`."""

    def keep(metric: M) -> M:
        _metrics[metric.name] = metric
        _order[metric.name] = order
        return metric

    return keep


@cache
def _import_all() -> None:
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")


def names(*, private: bool = True, quick: bool = False) -> list[str]:
    """Known metrics in the order of the report. private False: only those that read released values alone."""
    _import_all()
    kept = [n for n, m in _metrics.items() if (private or not m.reads_private) and (m.quick or not quick)]
    return sorted(kept, key=lambda n: (_order[n], n))


def metric_class(name: str) -> type[Metric]:
    """The class of a metric. Raises MetricError for an unknown name."""
    _import_all()
    if name not in _metrics:
        msg = f"unknown metric '{name}'; known are {', '.join(names())}"
        raise MetricError(msg)
    return _metrics[name]


def compute(
    comparison: Comparison, wanted: Iterable[str | Metric] | None = None, *, progress: Progress = silent
) -> dict[str, Score | MetricError]:
    """Scores by metric name; a metric that cannot be computed on these tables gives its error, not a number.

    Args:
        comparison: of one synthetic table.
        wanted: names, or metrics with settings of their own; None: all.
        progress: called before each metric.
    """
    chosen: list[str | Metric] = list(names() if wanted is None else wanted)
    out: dict[str, Score | MetricError] = {}
    for i, asked in enumerate(chosen):
        metric = metric_class(asked)() if isinstance(asked, str) else asked
        progress(f"scoring: {metric.name}", i, len(chosen))
        try:
            out[metric.name] = metric.score(comparison)
        except MetricError as error:
            out[metric.name] = error
    progress("scored", len(chosen), len(chosen))
    return out
