"""A pair that others tell is not measured again."""

import numpy as np

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.measure.select import choose_tables
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.runs.trees.pair_choice import Told
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.rls.evidence import RlsEvidence

N = 10_000
COST = Budget(epsilon=1.0, delta=1e-9).gaussian()


def chosen(first, second, scores, *, names=("age", "sex", "role")):
    """Which of the pairs (first, role) and (second, role) are measured, where the first two columns stand; and all."""
    domain = Domain(tuple(CodedAttribute(name=n, size=4, ordered=False) for n in names))
    ones = [Measurement(attributes=(n,), values=np.full(4, N / 4), sigma=1.0) for n in names]
    maps = {n: Coarsening.identity(4) for n in names}
    evidence = RlsEvidence(domain, ones, N)
    pairs = [(names[0], names[2]), (names[1], names[2])]
    told = Told.by(evidence, pairs, [maps] * 3, [first, second], np.ones(len(first)))
    errors, cells = np.column_stack([scores, [0.0, 0.0]]), np.array([[0.0, 16.0], [0.0, 16.0]])
    how = {"cost": COST, "sensitivity": 1.0, "noise_factor": 0.7}
    return told(errors, cells, **how).tolist(), choose_tables(errors, cells, **how).tolist()


def test_of_two_columns_that_stand_and_are_one_the_stronger_is_measured():
    column = np.random.default_rng(1).integers(0, 4, N)
    assert chosen(column, column, [6000.0, 5000.0]) == ([1, 0], [1, 1])


def test_columns_that_have_nothing_to_do_with_each_other_are_both_measured():
    draw = np.random.default_rng(1)
    assert chosen(draw.integers(0, 4, N), draw.integers(0, 4, N), [6000.0, 5000.0]) == ([1, 1], [1, 1])


def test_pairs_with_the_number_of_children_count_in_full():
    column = np.random.default_rng(1).integers(0, 4, N)
    assert chosen(column, column, [6000.0, 5000.0], names=("age", "kids: number", "role"))[0] == [1, 1]
