"""From declared questions to quantities: which figures of which tables of counts a question asks for. Blind."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SizeError
from dpsyn_core.estimate import Recodes, coarsen
from dpsyn_core.questions.answer import Axis
from dpsyn_core.questions.answers.functionals import MOST_CELLS, Floats
from dpsyn_core.questions.answers.quantities import (
    Cells,
    Explained,
    Gaps,
    Gini,
    InBins,
    Means,
    Quantity,
    SharesBelow,
    WeightedCounts,
)
from dpsyn_core.questions.forms import (
    GapQuestion,
    GiniQuestion,
    GroupedQuestion,
    MeanQuestion,
    PredictQuestion,
    QuantileQuestion,
    Question,
    RangeQuestion,
    TableQuestion,
)
from dpsyn_core.questions.meaning import code_of, conditions, groups_of, numbers_of, spans
from dpsyn_core.schema import AttributeSet, Domain, Schema

MOST_FIGURES = 20_000  # of one question
MOST_WEIGHTS = 200_000_000  # figures times cells of one question: about a minute
AT_ONCE = 4_000_000  # of these, in one batch: 32 MB
TablesOf = Callable[[AttributeSet], Floats]  # scaled synthetic counts over some attributes


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionQuantities:
    """What a question asks for.

    axes: names and labels of its figures. parts: quantities, each with the flat positions of its figures among them.
    """

    axes: tuple[Axis, ...]
    parts: tuple[tuple[Quantity, NDArray[np.intp]], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the figures."""
        return tuple(len(a.labels) for a in self.axes)


def asked(question: Question, schema: Schema, tables: TablesOf) -> QuestionQuantities:
    """The quantities of every kind of question but a regression, at the resolution of the schema.

    Args:
        question: fits the schema.
        schema: of the release.
        tables: gives the scaled synthetic counts of some attributes.

    Raises:
        SizeError: more figures than `MOST_FIGURES`, or a table of too many cells.
    """
    domain = schema.domain()
    if isinstance(question, TableQuestion):
        return _cells(question, schema, domain)
    if isinstance(question, RangeQuestion):
        return _range(question, schema, domain)
    if isinstance(question, PredictQuestion):
        return _predict(question, schema, domain)
    if isinstance(question, GroupedQuestion):
        return _grouped(question, schema, domain, tables)
    msg = "a regression is answered by its own fits"
    raise TypeError(msg)


def _check(figures: int, cells: int, name: str) -> None:
    if figures > MOST_FIGURES or cells > MOST_CELLS or figures * cells > MOST_WEIGHTS:
        msg = f"question '{name}' has {figures:,} figures of {cells:,} cells; give coarser bins or fewer attributes"
        raise SizeError(msg)


def _cells(question: TableQuestion, schema: Schema, domain: Domain) -> QuestionQuantities:
    """One figure a cell: products of indicators of (coarse) values."""
    axes, maps = [], {}
    for name in question.of:
        recode, labels = groups_of(schema[name], question.bins.get(name))
        axes.append(Axis(name=name, labels=tuple(labels)))
        maps[name] = recode
    names = domain.ordered_set(question.of)
    shape = [len(axes[question.of.index(n)].labels) for n in names]
    _check(math.prod(shape), domain.cells(names), question.name)
    flat = np.arange(math.prod(shape)).reshape(shape)
    order = [names.index(n) for n in question.of]  # figures stand in the order of the question
    place = np.empty(flat.size, dtype=np.intp)
    place[flat.transpose(order).ravel()] = np.arange(flat.size)
    step = max(1, AT_ONCE // domain.cells(names))
    parts = []
    for first in range(0, flat.size, step):
        last = min(first + step, flat.size)
        cells = Cells(attributes=names, maps=tuple(maps[n] for n in names), shape=tuple(shape), first=first, last=last)
        parts.append((cells, place[first:last]))
    return QuestionQuantities(axes=tuple(axes), parts=tuple(parts))


def _range(question: RangeQuestion, schema: Schema, domain: Domain) -> QuestionQuantities:
    shares = conditions(question.where, schema)
    names = domain.ordered_set(n for n, share in shares.items() if not (share == 1).all())  # what is no condition
    _check(1, domain.cells(names), question.name)
    weights: Floats = np.ones(1)
    for name in names:
        weights = np.multiply.outer(weights, shares[name])
    counts = WeightedCounts(attributes=names, weights=weights, floor=0.0)
    return QuestionQuantities(axes=(), parts=((counts, np.zeros(1, dtype=np.intp)),))


def _predict(question: PredictQuestion, schema: Schema, domain: Domain) -> QuestionQuantities:
    names = question.predictors or tuple(a.name for a in schema.coded if a.name != question.of)
    target = schema[question.of]
    parts = []
    for i, name in enumerate(names):
        pair = domain.ordered_set((question.of, name))
        _check(1, domain.cells(pair), question.name)
        share = Explained(attributes=pair, target=pair.index(question.of), plain=int(target.size - target.special))
        parts.append((share, np.array([i], dtype=np.intp)))
    return QuestionQuantities(axes=(Axis(name="from", labels=tuple(names)),), parts=tuple(parts))


def _grouped(question: GroupedQuestion, schema: Schema, domain: Domain, tables: TablesOf) -> QuestionQuantities:
    """Figures of one number, one a group; groups are in domain order inside, in the order of the question outside."""
    names = domain.ordered_set(question.attributes)
    by = tuple(n for n in names if n in question.by)
    coarse = {n: groups_of(schema[n], question.bins.get(n)) for n in by}
    maps = {n: coarse[n][0] for n in question.bins}
    shape = tuple(coarse[n][0].size for n in by)
    groups = math.prod(shape)
    _check(groups, domain.cells(names), question.name)
    axes = [Axis(name=n, labels=tuple(coarse[n][1])) for n in question.by]
    flat = np.arange(groups).reshape(shape)
    place = np.empty(groups, dtype=np.intp)
    place[flat.transpose([by.index(n) for n in question.by]).ravel()] = np.arange(groups)
    numbers, axis = numbers_of(schema[question.of]), names.index(question.of)
    if isinstance(question, QuantileQuestion):
        table, ends = coarsen(tables(names), names, maps), spans(schema[question.of])
        many = len(question.at)
        axes.append(Axis(name="quantile", labels=tuple(f"{q:g}" for q in question.at)))
        return QuestionQuantities(
            axes=tuple(axes),
            parts=tuple(
                (
                    _in_bins(
                        SharesBelow.of(
                            attributes=names, axis=axis, numbers=numbers, ends=ends, at=float(q), table=table
                        ),
                        maps,
                    ),
                    place * many + i,
                )
                for i, q in enumerate(question.at)
            ),
        )
    out: Quantity
    if isinstance(question, GapQuestion):
        name, sides = question.sides
        first, second = (code_of(schema[name], v) for v in sides)
        out = Gaps(attributes=names, axis=axis, side=names.index(name), codes=(first, second), numbers=numbers)
    elif isinstance(question, MeanQuestion):
        out = Means(attributes=names, axis=axis, numbers=numbers)
    elif isinstance(question, GiniQuestion):
        out = Gini(attributes=names, axis=axis, numbers=numbers)
    else:
        every = Means(attributes=names, axis=axis, numbers=numbers)
        influence = np.tile(np.nan_to_num(numbers), groups)
        sizes = tuple(maps[n].size if n in maps else size for n, size in zip(names, domain.shape(names), strict=True))
        out = WeightedCounts(attributes=names, weights=every.spread(influence, sizes))
    return QuestionQuantities(axes=tuple(axes), parts=((_in_bins(out, maps), place),))


def _in_bins(quantity: Quantity, maps: Recodes) -> Quantity:
    """The quantity of a table whose groups are put into bins; unchanged where none are."""
    return InBins.of(quantity, maps) if maps else quantity
