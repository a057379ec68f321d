"""Figures of a language with a decimal comma: captions, titles and ticks have it too."""

import re

import numpy as np
import pytest

from dpsyn_core.report import figures
from dpsyn_core.report.figures import columns, glance
from dpsyn_core.report.words import ENGLISH

COMMA = {**ENGLISH, "decimal_mark": ","}
ENGLISH_NUMBER = r"\d\.\d"


def texts():
    z = np.array([[np.nan, 0.123, 0.024], [0.123, np.nan, 0.111], [0.024, 0.111, np.nan]])
    made = figures.pair_map(["a", "b", "c"], z, words=COMMA)
    yield made.caption
    yield from map(str, figures.pairs.root_ticks(0.123, COMMA)["ticktext"][1:])
    panel = glance.Panel(name="x", labels=["a", "b"], shares={"real": np.array([0.4, 0.6])}, difference=0.1234)
    yield glance.title(panel, COMMA)
    yield from glance.frame([panel], COMMA)["title"]
    one = {"real": np.array([0.3, 0.7]), "here": np.array([0.4123, 0.5877])}
    yield columns.overlay("x", ["a", "b"], one, words=COMMA).caption


@pytest.mark.parametrize("text", list(texts()))
def test_no_figure_writes_a_decimal_point_where_the_language_has_a_comma(text):
    assert re.search(r"\d", text) and not re.search(ENGLISH_NUMBER, text)
