"""Every metric answers a question, stays in its range, and is explained."""

import dataclasses
import inspect
from pathlib import Path

import pytest

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.base import GOAL_WORDS, PRIVATE_LABEL, SAFE_LABEL, Score, compute, metric_class, names, plain
from dpsyn_core.evaluate.comparison import Roles
from dpsyn_core.evaluate.tvd import KWayTVD, OneWayTVD
from tests.evaluate.tables import small
from tests.evaluate.test_released_fit import measured

EXPLAINED = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", names())
def test_a_metric_names_itself_and_is_explained(name):
    metric = metric_class(name)
    assert metric.name == name
    assert metric.question.endswith("?")
    assert metric.goal in GOAL_WORDS
    assert dataclasses.is_dataclass(metric)
    assert metric.__dataclass_params__.frozen
    assert not inspect.isabstract(metric)
    assert f"`{name}`" in EXPLAINED
    assert metric.label() == (PRIVATE_LABEL if metric.reads_private else SAFE_LABEL)


def test_every_score_lies_in_its_range_and_speaks_a_sentence():
    c = small(n=300, m=250, blur=0.5, roles=Roles(income="pay"))
    values = {side: {"age": codes[0].astype(float), "pay": codes[4].astype(float)} for side, codes in
              (("real_values", c.real), ("synthetic_values", c.synthetic))}  # fmt: skip
    c = dataclasses.replace(c, measurements=measured(c.real, 5.0, 0), **values)
    wanted = [n for n in names() if n != "learning"]
    for name, score in compute(c, wanted).items():
        assert isinstance(score, Score), score
        metric = metric_class(name)
        assert (metric.minimum is None) or metric.minimum <= score.value
        assert (metric.maximum is None) or score.value <= metric.maximum
        assert score.sentence.endswith(".")
        assert plain(score.details) == plain(plain(score.details))


def test_metrics_with_settings_of_their_own_are_computed_beside_names():
    got = compute(small(n=50, m=50), ["tvd-2way", OneWayTVD(), KWayTVD(order=4)])
    assert list(got) == ["tvd-2way", "tvd-1way", "tvd"]


def test_progress_names_each_metric():
    seen = []
    compute(
        small(n=50, m=50), ["tvd-1way", "gini"], progress=lambda stage, done, total: seen.append((stage, done, total))
    )
    assert seen == [("scoring: tvd-1way", 0, 2), ("scoring: gini", 1, 2), ("scored", 2, 2)]


def test_an_unknown_metric_is_one_sentence():
    with pytest.raises(MetricError, match="unknown metric 'beauty'; known are relations, tvd-1way, "):
        compute(small(n=5, m=5), ["beauty"])


def test_a_headline_that_is_not_a_number_is_refused():
    with pytest.raises(MetricError, match="no finite value"):
        Score(metric="m", value=float("nan"), sentence="")


def test_a_score_is_computed_once_a_comparison():
    c = small(n=50, m=50)
    assert OneWayTVD().score(c) is OneWayTVD().score(c)
    assert OneWayTVD().score(dataclasses.replace(c)) is not OneWayTVD().score(c)
