"""The list of slow tests follows from what a run printed, and names tests that there are."""

from pathlib import Path

from tests.left_out import SLOW
from tools.slow_tests import slow_tests

ROOT = Path(__file__).resolve().parents[2]
RUN = """
============================= slowest durations ==============================
0.80s setup    tests/a/test_b.py::test_set_up
0.30s call     tests/a/test_b.py::test_set_up
0.90s call     tests/a/test_b.py::test_short[x y]
3.00s call     tests/a/test_b.py::test_long[x y]
9 passed in 60.00s
"""


def test_set_up_and_test_count_together():
    assert slow_tests(RUN.splitlines()) == ["tests/a/test_b.py::test_long[x y]", "tests/a/test_b.py::test_set_up"]


def test_every_test_of_the_list_stands_in_its_file():
    for name in SLOW:
        path, _, test = name.partition("::")
        assert f"def {test.partition('[')[0]}(" in (ROOT / path).read_text(encoding="utf-8"), name
