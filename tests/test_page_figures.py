"""What the figures of pages call a fault: the press below the fold, headings out of order, a page that is too wide."""

from dataclasses import replace

import pytest

from benchmarks.pages import Seen, disordered

GOOD = Seen(
    page="data", width=1280, fold=800, words=159, widgets=18, height=1852, primary=246, headings=(1, 2, 3, 2),
    seconds=2.0, cut=(), wider=0,
)  # fmt: skip


@pytest.mark.parametrize("levels", [(2, 2), (1, 3), (1, 2, 1), (), (1, 2, 4)])
def test_headings_begin_with_one_and_leave_no_level_out(levels):
    assert disordered(levels)
    assert not disordered((1, 2, 3, 2, 2))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"primary": 801}, "primary press at 801 of 800"),
        ({"primary": None}, "no primary press"),
        ({"headings": (1, 3)}, "headings 1 3"),
        ({"cut": ("a long word",)}, "cut off: a long word"),
        ({"wider": 4}, "wider than its window by 4"),
    ],
)
def test_each_fault_of_a_page_is_named(change, said):
    assert GOOD.faults() == []
    assert replace(GOOD, **change).faults() == [f"data at 1280: {said}"]


def test_a_page_that_answers_at_once_needs_no_press():
    assert replace(GOOD, page="plan", primary=None).faults() == []
