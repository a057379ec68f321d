"""Two causes of one outcome stay independent of each other across a link."""

import numpy as np
import pytest

from benchmarks.linked_scores import flat, forest_of, pair
from benchmarks.linked_tables import teams
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.trees import synthesis as making


def of_trade_and_years(shaped, made):
    """Distance of the table of both; a member's pay follows from them, and they have nothing to do with each other."""
    real, forest = (forest_of(shaped.schema, t) for t in (shaped.tables, made))
    (above, own), (above_made, own_made) = flat(real, 0), flat(forest, 0)
    both = [np.stack([a[0], b[0]]) for a, b in ((above, own), (above_made, own_made))]
    return pair(both[0], both[1], 0, 1, [5, 30], False)


@pytest.fixture(scope="module")
def shaped():
    return teams(3, 4_000)


def test_a_low_score_takes_back_what_a_fit_adds_across_a_link(shaped, monkeypatch):
    off = {}
    for name in ("taken back", "left"):
        if name == "left":
            monkeypatch.setattr(making, "denied_targets", lambda *_: [])
        made = synthesize(shaped.tables, shaped.schema, epsilon=2.0, delta=1e-9, rng=1).arrows
        off[name] = of_trade_and_years(shaped, made)
    assert off["taken back"] < 0.6 * off["left"], off
