"""The base of a metric, and the registry of all.

What a metric is: a question about a synthetic table, and a score with a sentence that answers it.

Registry of metrics: adding one is adding one file with @register to this package.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

import dpsyn_core.evaluate as package
from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.progress import Progress, silent

PRIVATE_LABEL = "reads private data: for the owner only, not DP"
SAFE_LABEL = "from released values alone: safe to publish"
WORD_LABEL = "from released values alone; the promise rests on the owner's word for the query behind the records"
UNKNOWN_LABEL = "without the real table; no manifest says what was promised, so ask before you publish"
UNPROVED_LABEL = "the manifest is not proved to be this table's: not to be published"
ANOTHER_LABEL = "from released values alone, but of a file that is not the one that was written: not to be published"
UNSAFE_LABEL = "NOT PRIVATE: made without a guarantee, not to be published"

Goal = Literal["low", "high", "zero"]
GOAL_WORDS: dict[Goal, str] = {"low": "lower is better", "high": "higher is better", "zero": "nearer to 0 is better"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """The answer of one metric for one synthetic table.

    value: the headline number; floor: what a fresh sample of the real table of the same size would score on
    average, or None; details: tables behind the number, of JSON types once `plain` has run.
    """

    metric: str
    value: float
    sentence: str
    floor: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses a headline that is not a number: no metric answers NaN in silence."""
        if not math.isfinite(self.value):
            msg = f"{self.metric} has no finite value on these tables; compare tables with more records"
            raise MetricError(msg)

    def to_json(self) -> dict[str, Any]:
        """As JSON types."""
        out = {"value": float(self.value), "sentence": self.sentence, "floor": self.floor, "details": self.details}
        return plain(out)  # type: ignore[no-any-return]


class Metric(ABC):
    """One question. Subclasses are frozen dataclasses whose fields are settings, registered by `@register`."""

    name: ClassVar[str]
    title: ClassVar[str]
    question: ClassVar[str]
    goal: ClassVar[Goal]
    minimum: ClassVar[float | None]
    maximum: ClassVar[float | None]
    unit: ClassVar[str]
    reads_private: ClassVar[bool] = True
    on: ClassVar[str] = "values and bins of the schema"  # what it is computed on, in words for the page
    quick: ClassVar[bool] = True  # cheap enough for `dpsyn compare`

    @abstractmethod
    def compute(self, comparison: Comparison) -> Score:
        """Scores a synthetic table. Raises MetricError when it cannot be computed."""

    def score(self, comparison: Comparison) -> Score:
        """The score, computed once per comparison, so that metrics that combine scores share them."""
        if self not in comparison.scores:
            comparison.scores[self] = self.compute(comparison)
        score: Score = comparison.scores[self]
        return score

    @classmethod
    def label(cls) -> str:
        """The tag that every figure and table of this metric wears."""
        return PRIVATE_LABEL if cls.reads_private else SAFE_LABEL


def plain(value: Any) -> Any:
    """Turns arrays, tuples and numpy numbers into JSON types; a number that is not finite becomes None."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


_metrics: dict[str, type[Metric]] = {}
_order: dict[str, int] = {}
M = TypeVar("M", bound=type[Metric])


def register(order: int) -> Callable[[M], M]:
    """Class decorator: registers a metric under its `name`; reports list metrics by `order`."""

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
        wanted: names, or metrics with settings; None: all.
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
