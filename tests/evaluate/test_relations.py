"""Relations between columns: which are seen, and how much of them is kept."""

import numpy as np
import pytest

from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.findings.columns import of_other_people
from dpsyn_core.evaluate.relations import _commonest, relations
from dpsyn_core.schema.domain import CodedAttribute, Domain


def test_a_relation_of_a_column_whose_values_are_all_rare_is_seen():
    """Of 150 shops none is common enough for a group of its own; taken together they said nothing of their areas."""
    rng = np.random.default_rng(4)
    shop = rng.integers(0, 152, (2, 6000))
    area = np.where(rng.random((2, 6000)) < 0.7, shop // 19, rng.integers(0, 8, (2, 6000)))
    domain = Domain((CodedAttribute(name="shop", size=152), CodedAttribute(name="area", size=8)))
    real, fresh = (np.stack(x).astype(np.uint8) for x in zip(shop, area, strict=True))
    shuffled = np.stack([rng.permutation(fresh[0]), fresh[1]])
    assert relations(Comparison(domain=domain, real=real, synthetic=fresh)).share > 0.9
    assert relations(Comparison(domain=domain, real=real, synthetic=shuffled)).share < 0.1


def test_a_table_without_pairs_keeps_all_relations_that_other_people_would():
    rng = np.random.default_rng(5)
    one = Domain((CodedAttribute(name="shop", size=4),))
    real, fresh = (rng.integers(0, 4, (1, 500)).astype(np.uint8) for _ in range(2))
    assert of_other_people(Comparison(domain=one, real=real, synthetic=fresh)) == 1.0


@pytest.mark.parametrize("most", [2, 3, 8])
@pytest.mark.parametrize("shape", ["one large", "even", "steep", "many small"])
def test_values_of_a_category_share_groups_of_which_there_are_no_more_than_may_be(most, shape):
    rng = np.random.default_rng(most)
    size = {"one large": 150, "even": 6, "steep": 40, "many small": 150}[shape]
    weights = {"one large": np.r_[150.0, np.ones(149)], "even": np.ones(6), "steep": 0.8 ** np.arange(40)}
    p = weights.get(shape, np.ones(size))
    codes = rng.choice(size, 5000, p=p / p.sum())
    (groups, other), number = _commonest([codes, codes[:7]], CodedAttribute(name="a", size=size), most, 5000)
    assert len(set(groups.tolist())) == number <= most and groups.max() < most
    assert other.tolist() == groups[:7].tolist()
    assert len({(c, g) for c, g in zip(codes.tolist(), groups.tolist(), strict=True)}) == len(set(codes.tolist()))
    if shape == "one large":
        assert (groups[codes == 0] == 0).all() and (groups[codes != 0] > 0).all()
