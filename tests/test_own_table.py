"""A first try with one's own table: each case of docs/evidence/own-table.md comes out as the page says."""

import pytest

from benchmarks.own_table import CASES, foreign, in_python


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_a_newcomers_table_comes_out_as_the_page_says(case):
    assert case.check()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("one", foreign(600), ids=lambda one: one.name)
def test_every_column_of_a_foreign_table_comes_back_in_its_own_form(one):
    assert in_python(one)[2] == ()
