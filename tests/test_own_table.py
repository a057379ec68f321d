"""A first try with one's own table: each case of docs/evidence/own-table.md comes out as the page says."""

import pytest

from benchmarks.own_table import CASES, foreign, in_python, other_digits


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_a_newcomers_table_comes_out_as_the_page_says(case):
    assert case.check()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("one", foreign(600), ids=lambda one: one.name)
def test_every_column_of_a_foreign_table_comes_back_in_its_own_form(one):
    assert in_python(one)[2] == ()


def test_digits_in_front_and_their_number_are_seen_where_writing_is_fixed():
    loose, fixed = ["1.3.2024", "12.11.2024"], ["01.03.2024", "12.11.2024"]
    assert other_digits(loose, fixed) and other_digits(fixed, loose) and not other_digits(loose, ["3.12.2023"])
    assert other_digits(["10:05:01.123"], ["09:15:01.4"]) and not other_digits(["12.50", "3.05"], ["112.07"])
    assert not other_digits(["1,234.50", "7"], ["23,456.70", "12"])
