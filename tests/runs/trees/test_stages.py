"""Which pairs the views of a stage count."""

import pytest

from dpsyn_core.runs.trees.stages import stages_of
from tests.runs.trees.small import SCHEMAS


@pytest.mark.parametrize("name", ["plain", "ordered", "many"])
def test_every_pair_of_siblings_looks_at_both_of_them(name):
    # a pair of one child's own columns is measured of all children; of those with a sibling before, a fit would hold
    # all children against a table of fewer, and flatten it
    found = [s.siblings for s in stages_of(SCHEMAS[name]) if s.siblings is not None]
    assert found
    for view in found:
        kinds = {c.attribute.name: c.kind for c in view.columns}
        assert view.pairs and all({kinds[n] for n in pair} != {"own"} for pair in view.pairs)
