"""Differences of a child in a single role from those before it are held surer in the second fit, and no other table."""

import numpy as np

from benchmarks.linked_tables import census
from dpsyn_core.estimate.records.linked import LinkedAxis, LinkedTarget
from dpsyn_core.runs.trees.stages import stages_of
from dpsyn_core.runs.trees.synthesis import SURE_DIFFERENCES, _surer
from tests.runs.trees.test_spans import parcels


def held(stage):
    """The sigma of a table of each column of a stage, and of a pair of the last two."""
    axes = []
    for place, column in enumerate(stage.view.columns):
        minus, of = column.of if column.kind == "difference" else (None, place)
        axes.append(LinkedAxis(map=np.zeros((1, 1), dtype=np.intp), other=minus, column=of))
    targets = [LinkedTarget(axes=(a,), values=np.ones(1), sigma=2.0) for a in axes]
    targets.append(LinkedTarget(axes=tuple(axes[-2:]), values=np.ones((1, 1)), sigma=2.0))
    return [t.sigma for t in _surer(targets, stage)]


def test_only_differences_from_single_siblings_by_themselves_are_surer():
    head, spouse, rest = stages_of(census(1, 10).schema)
    kinds = [c.kind for c in spouse.view.columns]
    assert "difference" in kinds and "difference" in [c.kind for c in rest.view.columns]
    assert held(spouse) == [2.0 * SURE_DIFFERENCES if kind == "difference" else 2.0 for kind in kinds] + [2.0]
    assert set(held(head)) == set(held(rest)) == {2.0}


def test_the_time_between_two_dates_stays_as_sure_as_it_is():
    document = parcels(10, missing=False).schema
    (stage,) = stages_of(document)
    assert any(c.span is not None for c in stage.view.columns) and set(held(stage)) == {2.0}
