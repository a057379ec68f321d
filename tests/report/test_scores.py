"""Scores in the report: which lead, in which unit they are shown, and what each is compared with."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import Score
from dpsyn_core.report import scores
from dpsyn_core.report.figures import scores as figures
from dpsyn_core.report.figures.scores import runs_plot
from dpsyn_core.report.page import number, percent
from dpsyn_core.report.scores import against, headlines, second_floor, shown


class Spoken:
    """A page that keeps what it is told; a sentence is its name and what fills it in."""

    def __init__(self):
        self.told, self.notes = [], []

    def say(self, key, **values):
        return " ".join([key, *(f"{k}={v}" for k, v in values.items())])

    def local(self, text):
        return text

    def facts(self, items):
        self.told += items

    def note(self, text):
        self.notes.append(text)


def score(value=0.25, floor=None, **details):
    return Score(metric="m", value=value, sentence="", details=details, floor=floor)


def table(found, *, numbers=(), real=True, name="t"):
    listed = [SimpleNamespace(number=n) for n in numbers or (False,)]
    c = SimpleNamespace(domain=SimpleNamespace(attributes=listed), real=object() if real else None)
    return SimpleNamespace(scores=found, comparison=c, name=name)


@pytest.mark.parametrize(
    ("numbers", "grade", "lead"),
    [
        ((True, False), None, ["relations", "rank-correlation", "wasserstein", "tvd-2way", "range-queries"]),
        ((True, False, False), None, ["relations", "tvd-2way", "rank-correlation", "wasserstein", "range-queries"]),
        ((True, True), "apart", ["rank-correlation", "wasserstein", "tvd-2way", "range-queries", "nist"]),
        ((False,), "near", ["relations", "tvd-2way", "rank-correlation", "wasserstein", "range-queries"]),
    ],
)
def test_five_scores_lead_and_those_of_numbers_first_where_half_of_the_columns_are_numbers(
    monkeypatch, numbers, grade, lead
):
    monkeypatch.setattr(scores, "of", lambda c: None if grade is None else SimpleNamespace(grade=grade))
    monkeypatch.setattr(scores, "APART", ("apart",))
    monkeypatch.setattr(scores, "against", lambda page, table, name, s: name)
    names = ["nist", "tvd-2way", "wasserstein", "relations", "rank-correlation", "range-queries", "pay-gap", "odd"]
    page = Spoken()
    headlines(page, [table({n: score() for n in names}, numbers=numbers), table({}, name="other")])
    assert [said for _, _, said in page.told] == lead
    assert page.notes == ["facts_of table=t"]
    alone = Spoken()
    headlines(alone, [table({"nist": score(), "tvd-2way": MetricError("none")})])
    assert [said for _, _, said in alone.told] == ["nist"] and alone.notes == []


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        *(("share of records", 0.25, "25"), ("share of the way", 0.25, "25"), ("points of 1000", 1234.0, "1")),
        *(("nats", 0.0, "0.000"), ("nats", 0.01, "0.010"), ("nats", 0.0099, "0.0099"), ("nats", -0.5, "-0.500")),
        *(("nats", -0.0012345, "-0.0012"),),
    ],
)
def test_a_value_is_shown_in_the_unit_of_its_metric(monkeypatch, unit, value, text):
    monkeypatch.setattr(scores, "names", lambda: ["m"])
    monkeypatch.setattr(scores, "metric_class", lambda name: SimpleNamespace(unit=unit))
    found = shown(Spoken(), "m", value)
    assert found.startswith(text) and ("%" in found) == unit.startswith("share")
    assert "%" in shown(Spoken(), "a metric of somebody else", 0.25)


def test_a_score_is_compared_with_what_is_known_best(monkeypatch):
    page, floors = Spoken(), SimpleNamespace(fresh=0.01, unrelated=0.5)
    monkeypatch.setattr(scores, "shown", lambda page, name, x: f"<{x}>")
    monkeypatch.setattr(scores, "between", lambda c, name, s: floors)
    assert against(page, table({}), "relations", score()) == "against_relations"
    assert against(page, table({}), "tvd-2way", score(floor=3.0)) == "against_both fresh=<0.01> unrelated=<0.5>"
    assert against(page, table({}, real=False), "tvd-2way", score(floor=3.0)) == "against_fresh fresh=<3.0>"
    monkeypatch.setattr(scores, "between", lambda c, name, s: None)
    assert against(page, table({}), "measured-fit", score(floor=3.2)) == "against_noise value=3"
    assert against(page, table({}), "tvd-2way", score(floor=0.0)) == "against_fresh fresh=<0.0>"
    assert against(page, table({}), "learning", score(ceiling=0.87654)) == "against_ceiling value=0.877"
    assert against(page, table({}), "nist", score()) == "against_points"
    assert against(page, table({}), "pay-gap", score()) == "against_order"
    assert against(page, table({}), "range-queries", score()) == ""


def test_the_second_floor_is_that_of_unrelated_columns(monkeypatch):
    monkeypatch.setattr(scores, "between", lambda c, name, s: SimpleNamespace(unrelated=0.5) if name == "x" else None)
    assert second_floor(table({"x": score()}), "x") == 0.5
    assert second_floor(table({"y": score()}), "y") is None
    assert second_floor(table({"relations": score()}), "relations") == 0.0
    assert second_floor(table({"x": score()}, real=False), "x") is None
    assert second_floor(table({"x": MetricError("none")}), "x") is None and second_floor(table({}), "x") is None


@pytest.mark.parametrize(
    ("x", "share", "amount"),
    [
        *((0.0, "0.0%", "0"), (0.01, "1.0%", "0.01"), (0.00994, "0.99%", "0.00994"), (-0.5, "-50.0%", "-0.5")),
        *((99.5, "9950.0%", "99.5"), (100.4, "10040.0%", "100"), (12.0, "1200.0%", "12"), (None, "–", "–")),
        (-1234.5, "-123450.0%", "-1,234"),
    ],
)
def test_shares_and_amounts_have_as_many_digits_as_their_size_asks_for(x, share, amount):
    assert (percent(x), number(x)) == (share, amount)


def test_runs_are_sorted_by_their_best_and_each_has_a_row():
    runs = {"b": [0.03, 0.05], "a": [0.04, 0.041], "c": [0.02]}
    figure = runs_plot(runs)
    assert [t["x"].tolist() for t in figure.data[1::2]] == [[0.02], [0.03, 0.05], [0.04, 0.041]]
    assert [t["x"] for t in figure.data[::2]] == [[0.02, 0.02], [0.03, 0.05], [0.04, 0.041]]
    assert [t["y"] for t in figure.data[::2]] == [["c"] * 2, ["b"] * 2, ["a"] * 2]
    top, bottom = figure.layout["yaxis"]["range"][::-1]
    assert top < 0 < len(runs) - 1 < bottom < len(runs)
    heights = [runs_plot({str(i): [0.1] for i in range(n)}).layout["height"] for n in (1, 2, 30)]
    assert heights == [90 + 44, 90 + 2 * 44, 90 + 30 * 44]
    assert "c" in figure.caption and "2.0%" in figure.caption and runs_plot({}).caption == ""


def test_an_axis_of_many_words_names_a_few_ranks_from_the_smallest_to_the_largest_that_is_drawn(monkeypatch):
    monkeypatch.setattr(figures, "MOST_WORDS", 6)
    monkeypatch.setattr(figures, "FEW_RANKS", 4)
    nan = float("nan")
    assert figures._ranks(6, [np.array([2.0])]) == [0, 1, 2, 3, 4, 5]
    assert figures._ranks(7, [np.array([2.0, nan]), np.array([5.0, 3.0])]) == [2, 3, 4, 5]
    assert figures._ranks(31, [np.array([nan])]) == [0, 10, 20, 30]
