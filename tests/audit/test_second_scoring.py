"""Pairs that rls scores a second time, which takes larger tables than the mini-world, pass the audits as well."""

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.systems.rls import finer_pairs
from dpsyn_core.systems.rls import pairs as rls_pairs
from dpsyn_core.systems.rls import system as rls
from dpsyn_core.systems.rls.explained_pairs import ExplainedPairs
from tests.audit import layers
from tests.audit.gates import TapeGate
from tests.audit.mutants.base import replacing
from tests.audit.world import DOMAIN, calibrated, random_table
from tests.seeded import SeededNoise

pytestmark = pytest.mark.chance("T0", "T3")


@pytest.fixture
def second_scores():
    """Every pair is scored again with the last two values of each column merged; by itself so few stay apart."""

    def smaller(scores, excess, *, cells, noise, tuning):
        return np.flatnonzero(cells[1] < cells[0])

    def merged(view, pair, coarser, usual):
        return {
            n: Coarsening.of(np.minimum(np.arange(view.domain[n].size), max(view.domain[n].size - 2, 1))) for n in pair
        }

    with replacing((rls_pairs, "_coarser", merged), (rls_pairs, "_second_scoring", smaller)):
        yield


@pytest.mark.parametrize("n", [1, 400])
def test_the_mini_world_is_scored_a_second_time(second_scores, n):
    system = calibrated("rls", Unit())
    gate = TapeGate(account=Account(system.cost), noise=SeededNoise(0), unit=Unit())
    system.measure(MemoryCounter(random_table(n, 1), DOMAIN), gate=gate)
    assert "scores of coarser pairs" in [c.name for c in gate.account.charges]


@pytest.mark.parametrize("layer", [layers.t1, layers.t2])
def test_it_passes_the_layer(second_scores, layer):
    layer("rls")


@pytest.fixture
def scores_against_a_fit():
    """All pairs but the first one wait for it, and no scores against independence say that it explains any."""

    def waiting(pairs, excess, sigma, expected, chosen, tuning):
        return chosen & (np.cumsum(chosen) > 1)

    def unclear(explained, noise):
        return np.zeros(len(explained.pairs.sets), dtype=bool)

    with replacing(
        (rls_pairs, "_doubtful", waiting),
        (ExplainedPairs, "by_scores", unclear),
        (ExplainedPairs, "vague", True),
    ):
        yield


def test_the_mini_world_is_scored_against_a_fit(scores_against_a_fit):
    system = calibrated("rls, pairs and triples", Unit(), epsilon=100.0)
    gate = TapeGate(account=Account(system.cost), noise=SeededNoise(0), unit=Unit())
    system.measure(MemoryCounter(random_table(400, 1), DOMAIN), gate=gate)
    assert "scores of pairs against a fit" in [c.name for c in gate.account.charges]


@pytest.mark.parametrize("layer", [layers.t1, layers.t2])
def test_scores_against_a_fit_pass_the_layer(scores_against_a_fit, layer):
    layer("rls, pairs and triples")


@pytest.fixture
def scores_of_finer_pairs():
    """Every pair counts as one of numbers, and how far all its values are from independence is scored."""

    def singly(m, view, plan):
        maps = {n: Coarsening.identity(view.domain[n].size) for n in m.attributes}
        return finer_pairs.FinerPair(
            names=m.attributes, maps=maps, expected=view.product(m.attributes, maps), error=0.0
        )

    def pairs(sets, view):
        return [s for s in sets if len(s) == 2]

    with replacing((finer_pairs, "_finer", singly), (finer_pairs, "of_numbers", pairs), (rls, "of_numbers", pairs)):
        yield


def test_finer_pairs_of_the_mini_world_are_scored(scores_of_finer_pairs):
    system = calibrated("rls, pairs and triples", Unit(), epsilon=100.0)
    gate = TapeGate(account=Account(system.cost), noise=SeededNoise(0), unit=Unit())
    system.measure(MemoryCounter(random_table(400, 1), DOMAIN), gate=gate)
    assert "scores of finer pairs" in [c.name for c in gate.account.charges]


@pytest.mark.parametrize("layer", [layers.t1, layers.t2])
def test_scores_of_finer_pairs_pass_the_layer(scores_of_finer_pairs, layer):
    layer("rls, pairs and triples")
