"""Which tests run in one process: those of one costly start, and browser tests in two groups."""

from tests.together import WALKS, group_of


def test_files_that_share_a_costly_start_are_one_group():
    assert group_of("tests/measure/spark/test_spark.py") == group_of("tests/measure/spark/test_audit.py") == "spark"
    assert group_of("tests/test_postgresql.py") == group_of("tests/test_postgresql_queries.py") == "postgresql"


def test_tests_in_a_browser_are_two_groups_of_about_as_many_files():
    groups = [group_of(f"tests/browser/{name}") for name in WALKS]
    assert len(WALKS) > 10 and set(groups) == {"browser 0", "browser 1"}
    assert abs(groups.count("browser 0") - groups.count("browser 1")) <= 1


def test_other_tests_may_run_anywhere():
    assert group_of("tests/estimate/test_sums.py") is None
