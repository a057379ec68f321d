"""Numbers in groups that lie far apart, as places of towns on a map, stay with the category that says which group."""

import numpy as np
import pytest

from dpsyn_core.estimate.marginals import coarsening
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.rls import system
from tests.systems.rls.test_system import run

N, MIDDLES, BINS = 6_000, np.array([40, 90, 230, 420]), 500


def towns():
    """The postcode, the latitude of an address in it, and a yes/no that says nothing of either."""
    rng = np.random.default_rng(6)
    town = rng.choice(4, N, p=[0.4, 0.3, 0.2, 0.1])
    latitude = np.clip(MIDDLES[town] + rng.normal(0, 4, N), 0, BINS - 1)
    domain = Domain((
        CodedAttribute(name="town", size=4), CodedAttribute(name="latitude", size=BINS, ordered=True, number=True),
        CodedAttribute(name="paid", size=2),
    ))  # fmt: skip
    return np.stack([town, latitude, rng.integers(0, 2, N)]).astype(np.uint16), domain


def elsewhere(rows):
    """Share of the records whose latitude is nearer to another town."""
    nearest = np.abs(rows[1][:, None].astype(int) - MIDDLES).argmin(axis=1)
    return float((nearest != rows[0]).mean())


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_addresses_stay_in_their_town(monkeypatch, epsilon):
    """The town follows from the latitude, which is known here and put out of the way first."""
    codes, domain = towns()
    assert elsewhere(run(codes, domain, epsilon=epsilon, seed=3)[0]) < 0.1 / epsilon
    monkeypatch.setattr(system, "measure_followers", lambda *_, cost, **__: ([], (), cost))
    apart = elsewhere(run(codes, domain, epsilon=epsilon, seed=3)[0])
    monkeypatch.setattr(coarsening, "_clusters", lambda counts, _: [np.arange(len(counts))])
    merged = elsewhere(run(codes, domain, epsilon=epsilon, seed=3)[0])
    assert elsewhere(codes) == 0 and apart < 0.1 / epsilon and apart < 0.7 * merged
