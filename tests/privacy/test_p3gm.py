"""The calculator of P3GM's Theorem 4 against the numbers of the paper's settings, and what it refuses."""

import math

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.composition import Composition
from dpsyn_core.privacy.conversions import gdp_epsilon
from dpsyn_core.privacy.p3gm import Phases
from dpsyn_core.privacy.subsampling import SHARE, Sampling, sampled_mu
from tests.systems.deep.test_o18 import FLAGS, SIGMA_P, STATED, enough, epsilon

DELTA = 1e-5
ADULT = {"sigma_p": SIGMA_P, "sigma_e": 100.0, "records": 40_699, "batch": 200, "epochs": 5}


def phases(table, sigma_p, sigma_e, **others):
    records, batch, epochs, sigma_s = STATED[table]
    made = Phases(sigma_p=sigma_p, sigma_e=sigma_e, records=int(0.9 * records), batch=batch, epochs=epochs, **others)
    return made.epsilons(sigma_s, DELTA)


@pytest.mark.parametrize("table", STATED)
def test_theorem_4_comes_to_the_sums_of_the_oracle_for_what_the_paper_states(table):
    for sigma_e in (math.inf, 100.0, enough(table)):
        expected = epsilon(*STATED[table], SIGMA_P, sigma_e)
        assert phases(table, SIGMA_P, sigma_e)["theorem_4"] == pytest.approx(expected, rel=1e-3)
    assert phases(table, FLAGS[table][-1], 100.0)["theorem_4"] == pytest.approx(epsilon(*FLAGS[table]), rel=1e-3)


@pytest.mark.parametrize("table", STATED)
def test_adding_promises_costs_most_and_what_is_booked_least(table):
    found = phases(table, SIGMA_P, 100.0)
    assert found["booked"] < found["theorem_4"] < found["baseline"]


def test_the_mixture_pays_for_every_part_and_iteration():
    one, three = (phases("Adult", 5.0, 100.0, parts=parts)["theorem_4"] for parts in (1, 3))
    assert (one, three) == (pytest.approx(1.243, abs=1e-3), pytest.approx(1.319, abs=1e-3))
    assert Phases(**ADULT, iterations=40).rho == pytest.approx(1 / (2 * SIGMA_P**2) + 40 * 7 / (2 * 100.0**2))


def test_a_batch_of_all_records_is_no_sample():
    bare = {"sigma_p": math.inf, "sigma_e": math.inf}
    found = Phases(**bare, records=100, batch=100, epochs=4).epsilons(4.0, DELTA)
    assert found["booked"] == pytest.approx(gdp_epsilon(math.sqrt(4) / 4.0, DELTA), rel=0.02)
    assert found["theorem_4"] == pytest.approx(min(a / 8 + math.log(1e5) / (a - 1) for a in range(2, 256)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"sigma_p": 0}, {"sigma_p": "much"}, {"sigma_e": -1.0}, {"sigma_e": math.nan}, {"sigma_e": None}, {"parts": 0},
        {"records": 1.5}, {"epochs": True}, {"batch": 50_000}, {"iterations": "20"}, {"epochs": 10**9},
    ],
)  # fmt: skip
def test_numbers_that_mean_nothing_are_refused_by_name(wrong):
    with pytest.raises(BudgetError, match=rf"{'number of steps' if wrong == {'epochs': 10**9} else next(iter(wrong))}"):
        Phases(**ADULT | wrong).epsilons(1.4, DELTA)


@pytest.mark.parametrize("sigma_s", [0.0, 1e-9, -1.0, math.nan])
def test_a_training_without_noise_is_refused(sigma_s):
    with pytest.raises(BudgetError, match="sigma_s"):
        Phases(**ADULT).epsilons(sigma_s, DELTA)


def test_the_least_noise_that_is_taken_gives_finite_numbers():
    found = Phases(sigma_p=0.05, sigma_e=0.05, records=1000, batch=10, epochs=1).epsilons(0.05, DELTA)
    assert all(math.isfinite(e) and e > 100 for e in found.values())


GIVEN = ["sigma_p=48.09", "sigma_e=100", "records=40699", "batch=200", "epochs=5"]


def test_the_command_prints_a_line_per_noise_of_the_training(capsys):
    assert main(["noise", "--delta", "1e-5", "--p3gm", *GIVEN, "sigma_s=1.4,2"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("sigma_s=1.4") and "theorem_4: epsilon 0.9326" in first
    assert second.startswith("sigma_s=2")
    assert main(["noise", "--delta", "1e-5", "--json", "--p3gm", *GIVEN, "sigma_s=1.4"]) == 0
    assert '"epsilon_by_sigma_s"' in capsys.readouterr().out


@pytest.mark.parametrize(
    "wrong",
    [
        ["sigma_s=1.4", "sigma_x=1"], ["sigma_s=a,b"], ["sigma_s="], ["sigma_s=0"], [], ["sigma_s"],
        ["sigma_s=1.4", "sigma_s=2"], ["sigma_s=1.4", "parts=x"], ["sigma_s=[1]"],
    ],
)  # fmt: skip
def test_a_mistake_in_the_command_is_one_sentence(wrong, capsys):
    assert main(["noise", "--delta", "1e-5", "--p3gm", *GIVEN, *wrong]) == 2
    error = capsys.readouterr().err
    assert error.startswith("dpsyn noise: ") and error.count("\n") == 1 and "Traceback" not in error


def test_what_is_booked_is_what_a_ledger_composes_of_both_phases():
    made, noise = Phases(**ADULT), 1.5
    steps = 5 * (40_699 // 200)
    trained = Sampling(rate=200 / 40_699, multiplier=noise, steps=steps)
    both = Composition(mu2=2 * made.rho + sampled_mu(trained, DELTA * SHARE) ** 2, delta=DELTA * SHARE)
    assert made.epsilons(noise, DELTA)["booked"] == pytest.approx(both.epsilon(DELTA), rel=1e-9)
