"""A number next to a category of many values: their coarser table keeps the categories, the number has few values."""

import numpy as np

from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.rls.pairs import FEWEST, _coarser
from tests.systems.rls.test_system import run

N, SCHOOLS, BINS = 12_000, 40, 200


def marks():
    """School, a mark that differs between schools by half of its spread, and a yes/no that says nothing."""
    rng = np.random.default_rng(3)
    school = rng.integers(0, SCHOOLS, N)
    mark = np.clip(100 + (rng.normal(0, 12, SCHOOLS)[school] + rng.normal(0, 24, N)), 0, BINS - 1)
    domain = Domain((
        CodedAttribute(name="school", size=SCHOOLS), CodedAttribute(name="mark", size=BINS, ordered=True, number=True),
        CodedAttribute(name="paid", size=2),
    ))  # fmt: skip
    return np.stack([school, mark, rng.integers(0, 2, N)]).astype(np.uint8), domain


def test_the_coarser_table_of_a_pair_keeps_the_categories_and_gives_the_number_fewer_values():
    codes, domain = marks()
    _, measured, _, system = run(codes, domain, epsilon=1.0, seed=1, settings={"triples": False})
    view = system.view(measured)
    usual, coarser = view.recodes(64.0), view.recodes(8.0)
    assert usual["school"].size == SCHOOLS > coarser["school"].size
    made = _coarser(view, ("school", "mark"), coarser, usual)
    assert made["school"] == usual["school"] and 2 <= made["mark"].size <= coarser["mark"].size
    assert made["mark"].size <= max(FEWEST, coarser["mark"].size * coarser["school"].size / SCHOOLS) + 1
    assert _coarser(view, ("school", "paid"), coarser, usual) is coarser  # no number
    assert _coarser(view, ("mark", "paid"), coarser, usual) is coarser  # a category that loses nothing
