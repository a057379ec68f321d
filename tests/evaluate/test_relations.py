"""Relations between columns: which are seen, and how much of them is kept."""

import numpy as np

from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.findings.columns import of_other_people
from dpsyn_core.evaluate.relations import relations
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
