"""Seeded bugs that add other noise than was charged, for T3."""

import numpy as np

from dpsyn_core.measure import partitions, sparse
from dpsyn_core.measure.gate import Gate
from tests.audit import layers
from tests.audit.mutants.base import mutant, replacing


def few(name, runs=60):
    return lambda: layers.t3(name, runs=runs)


@mutant("sigma is 1.25 times too small when noise is added", "T3", few("independent", runs=150))
def under_noised():
    def noisy(self, exact, charge):
        return exact + self._noise.gaussian(charge.scale / 1.25, exact.size).reshape(exact.shape)

    with replacing((Gate, "_noisy", noisy)):
        yield


@mutant("empty cells get no noise", "T3", few("independent", runs=150))
def quiet_empties():
    real = Gate._noisy
    with replacing((Gate, "_noisy", lambda self, exact, charge: np.where(exact == 0, 0, real(self, exact, charge)))):
        yield


@mutant("the total is released without noise", "T3", few("rls"))
def exact_release_of_total():
    real = Gate._noisy
    with replacing(
        (Gate, "_noisy", lambda self, exact, charge: exact if charge.name == "total" else real(self, exact, charge))
    ):
        yield


@mutant("empty cells of a sparse table never come out", "T3", few("probe"))
def no_ghosts():
    real = sparse.noisy_above

    def occupied_only(index, counts, noise, **kwargs):
        kept, values = real(index, counts, noise, **kwargs)
        own = np.isin(kept, index)
        return kept[own], values[own]

    with replacing((sparse, "noisy_above", occupied_only)):
        yield


@mutant("empty cells of a contingency table get no prior", "T3", few("dirichlet-multinomial"))
def no_prior_for_empties():
    real = sparse.dirichlet_multinomial

    def occupied_only(counts, prior, draws, *, noise, weights=None):
        out = np.zeros_like(counts)
        weights = None if weights is None else weights[counts > 0]
        out[counts > 0] = real(counts[counts > 0], prior, draws, noise=noise, weights=weights)
        return out

    with replacing((sparse, "dirichlet_multinomial", occupied_only)):
        yield


@mutant("keys of one individual come out too often under Gaussian noise", "T3", few("probe"))
def loose_gaussian_threshold():
    real = partitions.gaussian_failure
    with replacing((partitions, "gaussian_failure", lambda *a: real(*a) / 8)):
        yield


@mutant("keys of one individual come out too often", "T3", few("probe"))
def loose_threshold():
    real = partitions.reach_for
    with replacing((partitions, "reach_for", lambda *a: max(1, real(*a) - 2))):
        yield


@mutant("selection takes the best without noise", "T3", few("probe"))
def greedy():
    with replacing((Gate, "_chosen", lambda self, gaps, rate, charge: int(np.argmin(gaps)))):
        yield


@mutant("one draw is added to all cells of a table", "T3", few("independent"))
def one_draw():
    def noisy(self, exact, charge):
        return exact + int(self._noise.gaussian(charge.scale, 1)[0])

    with replacing((Gate, "_noisy", noisy)):
        yield


@mutant("tables of one size share their noise", "T3", few("independent"))
def shared_noise():
    def noisy(self, exact, charge):
        self.drawn = getattr(self, "drawn", {})
        if exact.size not in self.drawn:
            self.drawn[exact.size] = np.round(self._noise.gaussian(1000.0, exact.size) / 1000.0 * charge.scale)
        return exact + self.drawn[exact.size].astype(np.int64).reshape(exact.shape)

    with replacing((Gate, "_noisy", noisy)):
        yield


@mutant("noise is drawn once and kept for all runs", "T3", few("independent"))
def noise_of_the_process():
    drawn = {}

    def noisy(self, exact, charge):
        if charge.name not in drawn:
            drawn[charge.name] = self._noise.gaussian(charge.scale, exact.size)
        return exact + drawn[charge.name].reshape(exact.shape)

    with replacing((Gate, "_noisy", noisy)):
        yield
