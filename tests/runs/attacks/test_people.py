"""Attacks on people, against second implementations that read one record after the other."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.runs.attacks import people
from dpsyn_core.schema.domain import CodedAttribute, Domain


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(("size", "special"), [(2, 0), (3, 1), (3, 0), (6, 2)])
def test_the_distance_of_two_values_is_that_of_gower(ordered, size, special):
    attribute = CodedAttribute(name="a", size=size, ordered=ordered, special=special)
    codes, plain = np.arange(size), size - special
    got = people.distances(codes, codes, attribute)
    for i in range(size):
        for j in range(size):
            ranks = ordered and plain >= 3 and i < plain and j < plain
            assert got[i, j] == (abs(i - j) / (plain - 1) if ranks else float(i != j))


def test_a_record_fits_a_statement_where_all_its_columns_have_the_stated_values():
    rng = np.random.default_rng(1)
    codes, values, used = rng.integers(0, 2, (3, 40)), rng.integers(0, 2, (3, 12)), rng.random((3, 12)) < 0.6
    got = people._matches(codes, values, used)
    for r in range(40):
        for s in range(12):
            assert got[r, s] == all(codes[k, r] == values[k, s] for k in range(3) if used[k, s])


@pytest.mark.parametrize("over", [0, 1, 400])
def test_an_attack_reads_each_synthetic_record_once_and_no_more_than_it_may(over, monkeypatch):
    n = people.LOOKED_AT + over
    seen = []

    def linked(records, made, domain, rng):
        seen.append(made)
        return np.zeros(records.shape[1], dtype=bool), np.zeros(records.shape[1])

    monkeypatch.setattr(people, "_link", linked)
    made = np.stack([np.arange(n) % 100, np.arange(n) // 100])
    world = SimpleNamespace(coins=30, codes=made[:, :60], target=np.arange(30))
    domain = Domain((CodedAttribute(name="a", size=100), CodedAttribute(name="b", size=100)))
    tossed = np.arange(30) % 3 == 0
    rng = np.random.default_rng(2)
    got = people.attack(world, domain, tossed, made, SimpleNamespace(kind="linkage", secret=None), rng)
    read = seen[0][0] + 100 * seen[0][1]
    assert len(read) == people.LOOKED_AT == len(set(read.tolist()))
    tally = got.tallies["all columns"]
    assert (tally.inside, tally.control, tally.inside_right) == (10, 20, 0)


def test_without_synthetic_records_nothing_is_guessed():
    got = people.attack(SimpleNamespace(), None, np.ones(3, dtype=bool), np.zeros((2, 0)), None, None)
    assert got.tallies == {} or not got.tallies
