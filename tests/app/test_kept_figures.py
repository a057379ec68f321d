"""Figures of a report are drawn once for their visitor, in the visitor's theme, and only the last of them are kept."""

import plotly.graph_objects as go

from ui.shared import results
from ui.shared.state import Workspace
from ui.shared.theme import DARK, LIGHT


def test_a_figure_is_made_once_a_theme_and_the_oldest_goes_first(monkeypatch):
    made, space = [], Workspace("somebody")

    def make():
        made.append(1)
        return go.Figure()

    first = results.drawn(space, ("map", 1), make)
    assert results.drawn(space, ("map", 1), make) is first and len(made) == 1
    assert first.layout.template.layout.font.color == LIGHT.ink
    monkeypatch.setattr(results, "dark", lambda: True)
    assert results.drawn(space, ("map", 1), make).layout.template.layout.font.color == DARK.ink
    for i in range(results.FIGURES):
        results.drawn(space, ("two", i), make)
    assert len(space.memo[results.FIGURES_KEY]) == results.FIGURES
    before = len(made)
    results.drawn(space, ("two", 0), make)
    assert len(made) == before
    results.drawn(space, ("map", 1), make)
    assert len(made) == before + 1


def test_another_visitor_gets_a_figure_of_their_own():
    mine, theirs = (results.drawn(Workspace(name), ("map", 1), go.Figure) for name in ("me", "you"))
    assert mine is not theirs
