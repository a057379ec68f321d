"""Answers of linked questions in words and as rows: one figure, several, and none."""

import numpy as np
import pytest

from dpsyn_core.questions.answer import Axis
from dpsyn_core.runs.trees.answers import LinkedAnswer


def answer(estimate, half, synthetic, *, at_most=None, axes=()):
    estimate, half = np.array(estimate, float), np.array(half, float)
    return LinkedAnswer(
        name="q", about="people", at_most=at_most, axes=axes, unit="EUR", estimate=estimate, low=estimate - half,
        high=estimate + half, synthetic=np.array(synthetic, float),
    )  # fmt: skip


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_figure_stands_with_its_interval(shape):
    one = answer(np.full(shape, 12.3456), np.full(shape, 2.0), np.full(shape, 11.0))
    assert one.sentence() == "q: 12.35 (EUR), between 10.35 and 14.35 at 95% confidence; the synthetic tables say 11."
    none = answer(np.full(shape, 12.0), np.full(shape, np.nan), np.full(shape, 11.0), at_most=3)
    assert none.sentence() == (
        "q: no figure (EUR), for noise is all that its table holds; the synthetic tables say 11. "
        "Of one root at most 3 records count fully."
    )


def test_several_figures_say_how_far_a_typical_one_is_off():
    axes = (Axis(name="sex", labels=("F", "M")),)
    two = answer([1.0, 2.0], [0.5, 1.5], [1.0, np.nan], axes=axes)
    assert two.sentence() == "q: 2 figures (EUR); a typical one is off by at most 1 at 95% confidence for each."
    part = answer([1.0, 2.0], [0.5, np.nan], [1.0, 2.0], axes=axes)
    assert "at most 0.5 at 95%" in part.sentence()
    assert "at most nan" in answer([1.0, 2.0], [np.nan] * 2, [1.0, 2.0], axes=axes).sentence()
    assert two.rows() == [
        {"labels": {"sex": "F"}, "estimate": 1.0, "low": 0.5, "high": 1.5, "synthetic": 1.0},
        {"labels": {"sex": "M"}, "estimate": 2.0, "low": 0.5, "high": 3.5, "synthetic": None},
    ]
    plain = two.plain()
    assert plain["figures"] == two.rows() and (plain["at_most"], plain["confidence"]) == (None, 0.95)
