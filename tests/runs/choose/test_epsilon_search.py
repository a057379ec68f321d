"""From a target to epsilon: it undoes the curve forward, in one step for a gain, and by the forecast for an error."""

import json

import numpy as np
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.data import paths
from dpsyn_core.errors import BudgetError, SettingError
from dpsyn_core.runs.choose.columns import columns_of, schema_of
from dpsyn_core.runs.choose.epsilon_search import (
    HALVINGS,
    _first,
    choices,
    epsilon_for_error,
    epsilon_for_gain,
    error_at,
    gain,
    rounded_down,
    rounded_up,
)  # fmt: skip
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema.document import Schema

QUESTIONS = [{"name": "people by city", "kind": "table", "of": ["CITY"]}]
SAMPLE = paths("sample")[1]


@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-3])
@pytest.mark.parametrize("most", [0.01, 0.05, 0.2311, 0.49])
def test_the_epsilon_of_a_gain_gives_that_gain_back(most, delta):
    assert gain(epsilon_for_gain(most, delta), delta) == pytest.approx(most, rel=1e-9)


def test_known_gains():
    assert gain(1.0, 0.0) == pytest.approx(np.e / (1 + np.e) - 0.5)
    assert epsilon_for_gain(0.25, 0.0) == pytest.approx(np.log(3))


@pytest.mark.parametrize("most", [0.0, -0.1, 0.5, 1.0, float("nan")])
def test_a_gain_out_of_range_is_refused(most):
    with pytest.raises(SettingError, match="the gain is"):
        epsilon_for_gain(most, 0.0)


def test_a_delta_that_allows_the_gain_alone_is_refused():
    with pytest.raises(BudgetError, match="smaller delta"):
        epsilon_for_gain(0.01, 0.1)


@pytest.mark.parametrize("of", ["columns", "pairs"])
@pytest.mark.parametrize("method", ["rls", "dpsyn"])
def test_the_epsilon_of_an_error_meets_it_and_little_less_does_not(of, method):
    spec, schema = RunSpec.of(epsilon=1.0, delta=1e-9, method=method), schema_of(columns_of("a=4,b=5,c=60,d=9"))
    found = epsilon_for_error(spec, schema, of=of, target=0.03, n_records=20_000)
    assert error_at(spec, schema, of, 20_000, found.epsilon) <= 0.03
    step = (found.epsilons[1] / found.epsilons[0]) ** (0.5**HALVINGS)  # the curve of rls has steps, so near it
    assert error_at(spec, schema, of, 20_000, found.epsilon / step) > 0.03
    assert error_at(spec, schema, of, 20_000, found.rounded()) <= 0.03
    assert len(found.epsilons) == len(found.errors) and found.epsilons[0] < found.epsilon < found.epsilons[-1]


def test_a_question_is_forecast_as_it_is_declared():
    schema = Schema.load(SAMPLE)
    spec = RunSpec.of(epsilon=1.0, delta=1e-9, questions=QUESTIONS)
    assert choices(spec, schema) == ["columns", "pairs", "people by city"]
    found = epsilon_for_error(spec, schema, of="people by city", target=0.02, n_records=20_000)
    assert error_at(spec, schema, "people by city", 20_000, found.epsilon) <= 0.02
    with pytest.raises(SettingError, match="no question is called 'wages'"):
        error_at(spec, schema, "wages", 20_000, 1.0)


def test_more_records_need_a_smaller_epsilon():
    spec, schema = RunSpec.of(epsilon=1.0, delta=1e-9, method="dpsyn"), schema_of(columns_of("a=4,b=5,c=60"))
    few, many = (
        epsilon_for_error(spec, schema, of="pairs", target=0.05, n_records=n).epsilon for n in (2_000, 200_000)
    )
    assert many < few / 10


def test_an_error_that_no_budget_reaches_has_no_epsilon():
    spec, schema = RunSpec.of(epsilon=1.0, delta=1e-9, method="dpsyn"), schema_of(columns_of("a=900,b=900"))
    found = epsilon_for_error(spec, schema, of="pairs", target=0.001, n_records=50)
    assert found.epsilon is None and found.rounded() is None
    independent = RunSpec.of(epsilon=1.0, delta=1e-9, method="independent")
    assert epsilon_for_error(independent, schema, of="pairs", target=0.5, n_records=10**6).epsilon is None


def test_a_curve_that_rises_again_counts_from_where_it_stays_below():
    assert _first([0.5, 0.01, 0.4, 0.02, 0.01], 0.05) == 3
    assert _first([0.01, 0.01], 0.05) == 0
    assert _first([0.01, None], 0.05) is None


def test_rounding_keeps_what_was_promised():
    assert rounded_up(0.4237) == 0.43 and rounded_down(0.4237) == 0.42
    assert rounded_up(0.43) == 0.43 and rounded_down(0.43) == 0.43
    assert rounded_up(12.31) == 13 and rounded_down(12.31) == 12


def test_the_command_says_both_and_the_curve(capsys):
    words = ["plan", "--delta", "1e-9", "--schema", str(SAMPLE), "--n-records", "20000"]
    assert main([*words, "--gain", "0.05", "--error", "0.05", "--of", "columns"]) == 0
    said = capsys.readouterr().out
    assert "gain 0.05: epsilon 0.2 at most (exactly 0.200671)" in said
    assert "error 0.05 of columns with about 20,000 records: epsilon" in said and "points of 100" in said
    assert main([*words, "--error", "0.05", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)["error"]
    assert len(document["curve"]) == 33 and document["epsilon"] > 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--of", "pairs"], "--of goes with --error"),
        (["--error", "2"], "--schema is missing"),
        (["--gain", "5"], "the gain is 5"),
        (["--gain", "0.1", "--epsilon", "1"], "leave --epsilon out"),
    ],
)
def test_the_command_refuses_in_a_sentence(more, said, capsys):
    assert main(["plan", "--delta", "1e-9", *more]) == 2
    assert said in capsys.readouterr().err
