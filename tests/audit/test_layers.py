"""T0 to T3 on every registered system; each failure is an alarm, and no alarm is tried again."""

import pytest

from tests.audit import bought, whole
from tests.audit.apart import t1_apart
from tests.audit.layers import t0, t0_samples, t1, t2, t3
from tests.audit.world import accessors, flavours, random_pairs, systems

pytestmark = pytest.mark.chance("T0", "T3")

DEEP = ("p3gm-ae", "dp-vae", "dp-gm")  # go through the gate as p3gm does, which takes T3 for them, and most neighbours
LONG = ("discovery", "probe", "dpsyn-2018")  # seconds each through T2


@pytest.mark.parametrize("name", accessors())
def test_t1_a_constant_tape_gives_the_same_bytes_for_arbitrary_tables(name):
    t1(name)


@pytest.mark.parametrize("name", [s for s in systems() if s not in ("probe", "dirichlet-multinomial")])
def test_t1_a_whole_release_under_a_constant_tape_does_not_depend_on_the_table(name):
    whole.t1_whole(name)


@pytest.mark.slow
def test_t1_what_one_run_has_read_does_not_stay_for_the_next():
    t1_apart()


@pytest.mark.parametrize(
    "name", [way if way.startswith("rls") else pytest.param(way, marks=pytest.mark.slow) for way in flavours()]
)
def test_t1_and_t2_hold_for_every_choice_and_switch_of_a_system(name):
    t1(name)
    t2(name, seeds=(0,))


def test_t0_samples_hold_every_record_by_itself_with_the_charged_probability():
    t0_samples()


def test_t0_sources_differ_and_a_million_draws_fit_their_law():
    t0()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in accessors()]
)
def test_t2_neighbours_move_every_access_by_at_most_what_is_charged(name):
    t2(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", accessors())
def test_t2_random_neighbours_move_every_access_by_at_most_what_is_charged(name):
    count = 1 if name in DEEP else 6  # half a minute each
    t2(name, seeds=(0,), pairs_of=lambda neighbours: random_pairs(neighbours, count=count))


def test_t2_a_whole_release_bounds_each_individual_and_pays_for_what_it_counts():
    whole.t2_whole()


def test_t1_and_t2_a_bought_schema_is_paid_for_and_bounds_each_individual():
    bought.t1_bought()
    bought.t2_bought()


def test_t2_a_run_that_dies_while_counting_stays_on_the_ledger():
    whole.t2_crash()


def test_t2_knowledge_read_from_the_data_is_stamped_and_identifiers_stay_in():
    whole.stamp()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in systems() if name not in DEEP])
def test_t3_canary_scores_and_noise_are_what_the_charges_say(name):
    t3(name, runs=100 if name == "p3gm" else 500)
