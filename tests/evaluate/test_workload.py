"""Range queries: the compiled counts against a plain loop, workloads by their laws."""

import math
from functools import partial

import numpy as np
import pytest

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.workload import (
    CountQuery,
    Filter,
    chance_workload,
    count_queries,
    count_records,
    random_workload,
)
from dpsyn_core.schema.domain import CodedAttribute, Domain
from tests.evaluate.tables import draw, small, small_domain


def passes(query, record, domain, numbers):
    for c in query.conditions:
        if c.codes is not None:
            if record[domain.index(c.attribute)] not in c.codes:
                return False
        elif not c.low <= numbers[c.attribute] <= c.high:
            return False
    return True


def test_counts_equal_a_plain_loop_for_more_queries_than_a_block_and_more_records_than_a_pass():
    domain = small_domain()
    codes = draw(4100, 3)
    queries = random_workload(domain, 1100, seed=1)
    got = count_records(domain, codes, {}, queries)
    for i in range(0, 1100, 37):
        keep = np.ones(4100, bool)
        for c in queries[i].conditions:
            keep &= np.isin(codes[domain.index(c.attribute)], c.codes)
        assert got[i] == keep.sum()


def test_every_small_number_of_records_is_counted_exactly():
    domain = small_domain()
    queries = [*random_workload(domain, 70, seed=2), CountQuery(())]
    for n in (1, 2, 7, 8, 9, 16, 17):
        codes = draw(n, n)
        want = [sum(passes(q, r, domain, {}) for r in codes.T) for q in queries]
        assert count_records(domain, codes, {}, queries).tolist() == want


def test_closed_intervals_on_numbers_hold_their_ends_and_no_missing_value():
    domain = Domain((CodedAttribute(name="x", size=4, ordered=True, special=1), CodedAttribute(name="y", size=2)))
    numbers = np.array([1.5, 2.0, 2.5, np.nan, -1.0, 2.0])
    codes = np.array([[0, 1, 2, 3, 0, 1], [0, 1, 0, 1, 0, 1]], np.uint8)
    asked = [(1.5, 2.0), (2.0, 2.0), (-math.inf, math.inf), (1.6, 1.9), (2.0, 9.0)]
    queries = [CountQuery((Filter(attribute="x", low=a, high=b),)) for a, b in asked]
    assert count_records(domain, codes, {"x": numbers}, queries).tolist() == [3, 2, 5, 0, 3]
    both = CountQuery((Filter(attribute="x", low=2.0, high=3.0), Filter(attribute="y", codes=(1,))))
    assert count_records(domain, codes, {"x": numbers}, [both, CountQuery(())]).tolist() == [2, 6]
    on_codes = CountQuery((Filter(attribute="x", low=0, high=9),))  # the missing cell is no number
    assert count_records(domain, codes, {}, [on_codes]).tolist() == [5]


def test_two_conditions_on_one_attribute_must_both_hold():
    domain = small_domain()
    codes = draw(500, 4)
    q = CountQuery((Filter(attribute="age", codes=(1, 2, 3)), Filter(attribute="age", codes=(3, 4))))
    r = CountQuery((Filter(attribute="age", low=1, high=4), Filter(attribute="age", codes=(3, 9))))
    assert count_records(domain, codes, {}, [q, r]).tolist() == [(codes[0] == 3).sum()] * 2


def test_real_and_synthetic_are_counted_apart():
    c = small(n=300, m=200)
    real, synthetic = count_queries(c, [CountQuery(()), CountQuery((Filter(attribute="sex", codes=(1,)),))])
    assert real.tolist() == [300, (c.real[1] == 1).sum()]
    assert synthetic.tolist() == [200, (c.synthetic[1] == 1).sum()]


def test_random_workloads_repeat_by_seed_and_stay_in_the_domain():
    domain = small_domain()
    assert random_workload(domain, 50, seed=3) == random_workload(domain, 50, seed=3)
    assert random_workload(domain, 50, seed=3) != random_workload(domain, 50, seed=4)
    for q in random_workload(domain, 300, seed=5):
        assert 1 <= len(q.conditions) <= 3
        for c in q.conditions:
            assert 0 < len(c.codes) <= domain[c.attribute].size
            if domain[c.attribute].ordered:
                assert c.codes == tuple(range(c.codes[0], c.codes[-1] + 1))
            else:
                assert len(c.codes) < domain[c.attribute].size


def test_a_chance_workload_asks_for_each_attribute_as_often_as_told_and_for_something():
    domain = Domain.of({f"a{i}": 5 for i in range(8)} | {"one": 1})
    queries = chance_workload(domain, 2000, seed=1, keep=0.25)
    assert queries == chance_workload(domain, 2000, seed=1, keep=0.25)
    asked = [{c.attribute for c in q.conditions} for q in queries]
    assert min(map(len, asked)) == 1
    nothing = 0.75**8  # such queries ask for one attribute instead
    for i in range(8):
        share = sum(f"a{i}" in a for a in asked) / 2000
        assert share == pytest.approx(0.25 + nothing / 8, abs=0.03)
    assert not any("one" in a for a in asked)
    assert {len(c.codes) for q in queries for c in q.conditions} == {1, 2, 3, 4}


@pytest.mark.parametrize("workload", [random_workload, partial(chance_workload, keep=0.3)])
def test_a_domain_of_single_values_has_no_range(workload):
    with pytest.raises(MetricError, match="single value"):
        workload(Domain.of({"a": 1}), 3, seed=0)


def test_an_interval_on_an_unordered_attribute_is_refused():
    c = Comparison(domain=small_domain(), real=draw(5, 1), synthetic=draw(5, 2))
    with pytest.raises(MetricError, match="'city' has no order"):
        count_queries(c, [CountQuery((Filter(attribute="city", low=0, high=1),))])
