"""Siblings without an order start alike where a released strength says so, and else are fitted as consecutive ones."""

import pytest

from benchmarks.linked_tables import teams, trips
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.trees import synthesis as making


@pytest.mark.parametrize(("shape", "alike"), [(teams, True), (trips, False)])
def test_siblings_start_alike_where_a_released_strength_is_large(shape, alike, monkeypatch):
    given, found = shape(1, roots=1_500), []
    monkeypatch.setattr(making, "fit_linked", lambda records, *_, **__: found.append(records.ordered))
    synthesize(given.tables, given.schema, epsilon=20.0, delta=1e-9, rng=1)
    assert set(found) == {not alike}, "fitted, and once more when they are spread"
