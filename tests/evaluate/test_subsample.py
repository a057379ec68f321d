"""The equivalent subsample: a random part of the real records is worth what it is."""

from dataclasses import replace

import numpy as np
import pytest

from dpsyn_core.evaluate.base import metric_class
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.subsample import subsample_distance
from dpsyn_core.schema.domain import Domain


def real(n=4000):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 6, n)
    return np.stack([a, (a + rng.integers(0, 3, n)) % 6, rng.integers(0, 4, n)]).astype(np.uint8)


def compared(codes, synthetic):
    return Comparison(domain=Domain.of({"a": 6, "b": 6, "c": 4}), real=codes, synthetic=synthetic)


def test_the_distance_of_a_subsample_is_that_of_the_hypergeometric_law():
    from scipy.stats import hypergeom

    n = 40
    for m in (1, 7, 20, 39, 40):
        for r in (1, 5, 20, 39):
            x = np.arange(0, n + 1)
            law = hypergeom(n, r, m)
            wanted = (law.pmf(x) * np.abs(x / m - r / n)).sum()
            got = subsample_distance(np.array([r]), np.array([1]), n, m)
            assert got == pytest.approx(wanted, abs=1e-12), (m, r)


@pytest.mark.parametrize("share", [0.05, 0.4, 0.9])
def test_a_random_part_of_the_real_records_is_as_good_as_itself(share):
    codes = real()
    part = np.random.default_rng(1).permutation(codes.shape[1])[: int(share * codes.shape[1])]
    for name in ("k-marginal", "tvd-1way", "tvd-2way"):
        score = metric_class(name)().compute(compared(codes, codes[:, part]))
        assert score.details["equivalent_subsample"] == pytest.approx(share, rel=0.35 if name == "tvd-1way" else 0.15)
    assert "sample of the real records" in score.sentence


def test_the_table_itself_has_all_points_and_another_one_next_to_none():
    codes = real()
    score = metric_class("k-marginal")().compute(compared(codes, codes))
    assert score.value == 1000 and score.details["equivalent_subsample"] == 1
    same = replace(compared(codes, codes), synthetic=np.zeros_like(codes))
    score = metric_class("k-marginal")().compute(same)
    assert score.value < 200 and "less than a 0.1% sample" in score.sentence
