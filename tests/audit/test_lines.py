"""Files of odd lines and their neighbours, by every reader of delimited text: see `tests/audit/lines.py`."""

import pytest

from tests.audit.lines import lines_fuzzed

pytestmark = pytest.mark.chance("T0", "T3")


def test_a_changed_or_added_line_changes_one_record_whatever_ends_the_lines_and_whatever_reads_them(tmp_path):
    assert lines_fuzzed(range(12), tmp_path) == 2400


@pytest.mark.slow
def test_the_same_of_many_more_files(tmp_path):
    assert lines_fuzzed(range(1000, 1050), tmp_path) == 10_000
