"""T1 to T3 from raw bytes, frames and databases, and every reader fuzzed record by record."""

import pytest

from tests.audit.raw import t1_raw, t2_nameless, t2_raw, t3_raw
from tests.audit.readers import READERS
from tests.audit.recordwise import KINDS, recordwise

pytestmark = pytest.mark.chance("T0", "T3")

POOLS = {"text": 4, "pandas": 2, "duckdb": 2}  # of records, each of them read alone and in tables; others: 1


@pytest.mark.parametrize("kind", READERS)
def test_t1_a_whole_release_under_a_constant_tape_does_not_depend_on_the_raw_table(kind):
    t1_raw(kind)


@pytest.mark.parametrize("kind", READERS)
def test_t2_neighbours_that_were_raw_tables_move_every_access_by_at_most_what_is_charged(kind):
    t2_raw(kind)


@pytest.mark.parametrize("kind", READERS)
def test_t2_records_without_a_name_move_nothing(kind):
    t2_nameless(kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", READERS)
def test_t3_canary_scores_of_neighbours_that_were_raw_tables_are_what_the_charges_say(kind):
    t3_raw(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_is_read_the_same_alone_and_in_any_table(kind, tmp_path):
    cases = sum(recordwise(kind, seed, tmp_path) for seed in range(POOLS.get(kind, 1)))
    assert cases > 50
