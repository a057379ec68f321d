"""SDNist's unique matches and principal components, against what is counted by hand."""

from collections import Counter

import numpy as np
import pytest

from dpsyn_core.evaluate.base import metric_class
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.subsample import component_distances, unique_met
from dpsyn_core.schema.domain import Domain


def tables(seed, n=300, m=200):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 6, (3, n)).astype(np.uint8), rng.integers(0, 6, (3, m)).astype(np.uint8)


@pytest.mark.parametrize("seed", range(5))
def test_unique_matches_are_those_that_are_counted_record_by_record(seed):
    real, synthetic = tables(seed)
    held = Counter(map(tuple, real.T.tolist()))
    made = set(map(tuple, synthetic.T.tolist()))
    alone = {r for r, k in held.items() if k == 1}
    assert unique_met(real, synthetic) == (len(alone), len(alone & made))


def test_components_of_the_same_records_are_nowhere_apart_and_those_of_moved_ones_are():
    real, _ = tables(0)
    assert np.allclose(component_distances(real, real[:, ::-1]), 0)
    moved = np.clip(real.astype(int) + 2, 0, 5).astype(np.uint8)
    assert component_distances(real, moved).mean() > 0.3
    assert len(component_distances(np.zeros((3, 4), np.uint8), np.ones((3, 4), np.uint8))) == 0


def test_a_component_is_scaled_by_the_spread_of_the_real_records():
    x = np.arange(100)
    real, synthetic = np.stack([x, x]).astype(np.uint8), np.stack([x, x]).astype(np.uint8)[:, 50:]
    found = component_distances(real, synthetic)
    assert found.shape == (1,)  # two equal columns have one direction
    assert found[0] == pytest.approx(25 / x.std(), rel=0.02)


def test_both_are_metrics_that_read_the_real_table():
    real, synthetic = tables(1)
    c = Comparison(domain=Domain.of({"a": 6, "b": 6, "c": 6}), real=real, synthetic=synthetic)
    for name in ("unique-matches", "components"):
        kind = metric_class(name)
        assert kind.reads_private and not kind.quick
        assert kind().compute(c).value >= 0
