"""The figures, verdicts and documents of attacks, without an attack."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import binomtest

from dpsyn_core.runs.attacks.judge import gained
from dpsyn_core.runs.attacks.result import LABEL, NOT_BOOKED, READING, AttackResult, AttackTally, Outcome, Rate, Roc

RESULT = {
    "kind": "linkage", "method": "mst", "epsilon": 2.0, "delta": 1e-6, "runs": 20, "records": 50, "table_records": 90,
    "coins": 200, "guesses": 37, "right": 31, "needed": 1.234, "sure": 0.5, "provable": 4.0, "verdict": "nothing",
}  # fmt: skip


def test_tallies_add_up_entry_by_entry():
    a, b = (
        AttackTally(inside=1, inside_right=2, control=4, control_right=8),
        AttackTally(inside=16, inside_right=32, control=64, control_right=128),
    )
    assert dataclasses.astuple(a + b) == (17, 34, 68, 136)
    assert dataclasses.astuple(AttackTally() + a) == (1, 2, 4, 8)


def test_an_outcome_without_scores_is_empty_and_comes_back_from_its_document():
    empty = Outcome(coins=np.array([True, False]))
    assert [getattr(empty, n).size for n in ("scores", "counts", "guessed", "said", "sure")] == [0] * 5
    full = Outcome(
        coins=np.array([True, False]), scores=np.array([[0.5, 1.5]]), counts=np.array([3.0]), guessed=np.array([1]),
        said=np.array([True]), sure=np.array([0.25]),
        tallies={"c": AttackTally(inside=1, inside_right=2, control=3, control_right=4)},
    )  # fmt: skip
    for outcome in (empty, full):
        back = Outcome.of(outcome.document())
        for f in dataclasses.fields(Outcome):
            one, other = getattr(outcome, f.name), getattr(back, f.name)
            if f.name == "tallies":
                assert one == other
            else:
                assert one.dtype == other.dtype and one.tolist() == other.tolist(), f.name


@pytest.mark.parametrize(("verdict", "begins"), [("leak", "LEAK: "), ("doubt", "In doubt: "), ("nothing", "No leak ")])
@pytest.mark.parametrize("provable", [1.99, 2.0, 2.01])
@pytest.mark.parametrize("tested", ["", "All roots were looked at."])
def test_sentences_begin_with_the_verdict_and_say_what_the_coins_cannot_show(verdict, begins, provable, tested):
    result = AttackResult(**RESULT | {"verdict": verdict, "provable": provable, "tested": tested})
    first, guesses, *rest = result.sentences
    assert first.startswith(begins) and "1.23" in first and "epsilon 2" in first
    assert all(str(RESULT[n]) in guesses for n in ("runs", "guesses", "coins", "right"))
    weak = provable <= 2
    assert len(rest) == bool(tested) + weak + 1 and rest[-1] == READING
    assert (f"epsilon {provable:.2f}" in rest[-2] if weak else True) and (rest[0] == tested or not tested)


def test_shares_of_no_attempts_are_none_and_results_are_labelled_and_cannot_be_changed():
    rate = {"name": "c", "excess": 0.1, "low": 0.0, "high": 0.2}
    for n, k in itertools.product((0, 1, 8), (0, 1)):
        one = Rate(tried=n, succeeded=k, control_tried=2 * n, control_succeeded=k, **rate)
        assert one.share == k / max(1, n) and one.control_share == k / max(1, 2 * n)
    result = AttackResult(**RESULT)
    assert (result.label, result.ledger, result.version, result.rates) == (LABEL, NOT_BOOKED, 1, ())
    for made in (result, one):
        with pytest.raises(ValidationError, match="frozen"):
            made.name = "x"
        with pytest.raises(ValidationError, match="Extra inputs"):
            type(made)(**made.model_dump() | {"more": 1})


@pytest.mark.parametrize(
    "result", [AttackResult(**RESULT), Roc(alarms=(0.0,), found=(0.0,), low=(0.0,), high=(1.0,), area=0.5)]
)
def test_results_of_attacks_cannot_be_changed(result):
    with pytest.raises(ValidationError, match="frozen"):
        setattr(result, next(iter(type(result).model_fields)), None)


def test_right_guesses_prove_the_logit_of_a_lower_limit_of_their_share():
    right, guesses = np.array([0, 3, 50, 99, 100, 0]), np.array([10, 4, 100, 100, 100, 0])
    found = gained(right, guesses)
    for k, n, epsilon in zip(right[:-1], guesses[:-1], found[:-1], strict=True):
        low = binomtest(int(k), int(n)).proportion_ci(0.90, method="wilson").low
        assert epsilon == pytest.approx(math.log(max(low, 1e-9) / (1 - low)), abs=2e-3, rel=1e-3)
    assert found[-1] == -np.inf
