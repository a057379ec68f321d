"""Figures of a report are drawn once for their visitor, in the visitor's theme, and only the last of them are kept."""

from collections import OrderedDict

import plotly.graph_objects as go
import pytest

from tests.app_driver import at_page, plots
from ui.learn import kept
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


def test_a_figure_of_a_lab_is_made_once_for_all_visitors_of_a_theme_and_a_language(monkeypatch):
    monkeypatch.setattr(kept, "_figures", OrderedDict())
    made = []

    def make(epsilon, values):
        made.append(epsilon)
        return go.Figure()

    one = kept.kept(make, 1.0, [1, 2], of=(1.0,), height=300)
    assert kept.kept(make, 1.0, [1, 2], of=(1.0,), height=300) is one and made == [1.0]
    assert one.layout.height == 300 and one.layout.template.layout.font.color == LIGHT.ink
    assert kept.kept(make, 2.0, [1, 2], of=(2.0,), height=300) is not one
    monkeypatch.setattr(kept, "dark", lambda: True)
    assert kept.kept(make, 1.0, [1, 2], of=(1.0,), height=300).layout.template.layout.font.color == DARK.ink
    monkeypatch.setattr(kept, "language", lambda: "de")
    kept.kept(make, 1.0, [1, 2], of=(1.0,), height=300)
    assert made == [1.0, 2.0, 1.0, 1.0]
    monkeypatch.setattr(kept, "MOST", 2)
    kept.kept(make, 3.0, [], of=(3.0,), height=300)
    assert len(kept._figures) == 2


MOVES = (
    ("count", {"count_epsilon": 2.0, "count_mechanism": "gaussian", "count_count": 7}),
    ("attacker", {"attacker_epsilon": 2.0, "attacker_delta": 1e-3, "attacker_prior": 0.1}),
    ("composition", {"composition_epsilon": 2.0, "composition_delta": 1e-5, "composition_rules": ["laplace_zcdp"]}),
    ("consistency", {"consistency_step": "total", "consistency_example": "negative"}),
    ("views", {"views_kind": "greedy", "views_size": 4}),
    ("leak", {"leak_epsilon": 2.0, "leak_delta": 1e-3, "leak_holders": 40}),
    ("reconstruction", {"reconstruction_people": 32, "reconstruction_answers": 1, "reconstruction_noise": 8.0}),
    ("asking", {"asking_epsilon": 2.0, "asking_people": 300, "asking_share": 5}),
    ("clipping", {"clipping_bound": 300, "clipping_people": 100, "clipping_epsilon": 2.0}),
    ("budgets", {"budgets_epsilon": 3.0, "budgets_systems": ["mst"], "budgets_metric": "tvd-3way"}),
    ("family", {"family_size": 2, "family_noise": "gaussian", "family_epsilon": 2.0}),
    ("choosing", {"choosing_way": "first", "choosing_assumed": 1, "choosing_epsilon": 2.0}),
    ("effect", {"effect_people": 500, "effect_size": 20, "effect_epsilon": 2.0}),
    ("groups", {"groups_systems": ["mst"], "groups_epsilon": 3.0, "groups_what": "within"}),
    ("membership", {"membership_system": "histogram", "membership_epsilon": 3.0}),
    ("training", {"training_view": "epsilon", "training_noise": 3.0, "training_batch": 20, "training_steps": 50}),
)


QUICK = ("composition", "choosing", "views")


@pytest.mark.parametrize(
    ("lab", "moves"), [pytest.param(*m, id=m[0], marks=() if m[0] in QUICK else pytest.mark.slow) for m in MOVES]
)
def test_every_move_of_a_lab_shows_the_figure_that_is_made_without_keeping_any(lab, moves, app):
    app.query_params.update({"lab": lab, "open": "1"})
    at_page(app, "learn")
    for key, value in moves.items():
        assert key in app.session_state, f"{key} is no control of the lab any more"
        app.session_state[key] = value
        shown = plots(app.run())
        assert not app.exception
        kept._figures.clear()
        assert plots(app.run()) == shown, key
