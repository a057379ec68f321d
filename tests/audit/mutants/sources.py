"""Seeded bugs in the source of noise, for T0."""

from unittest import mock

import numpy as np

from dpsyn_core.privacy.noise import choice, gaussian, laplace, stream
from dpsyn_core.privacy.noise.system import SystemNoise
from tests.audit import layers
from tests.audit.mutants.base import mutant, replacing


def quick_t0():
    layers.t0(draws=2_000_000)  # so that 0.55 % is six standard deviations beyond the threshold


@mutant("the stream's key is fixed", "T0", quick_t0)
def fixed_key():
    with mock.patch.object(stream.os, "urandom", bytes):
        yield


@mutant("noise comes from NumPy with a seed", "T0", quick_t0)
def numpy_seeded():
    def draw(self, sigma, size):
        return np.rint(np.random.default_rng(0).normal(0, sigma, size)).astype(np.int64)

    with replacing((SystemNoise, "gaussian", draw)):
        yield


@mutant("one vector of noise is used for every release of its size", "T0", quick_t0)
def reused():
    real, kept = SystemNoise.geometric, {}

    def draw(self, scale, size):
        key = (id(self), scale, size)
        if key not in kept:
            kept[key] = real(self, scale, size)
        return kept[key]

    with replacing((SystemNoise, "geometric", draw)):
        yield


@mutant("sigma is 0.55 % too small in the sampler", "T0", quick_t0)
def slightly_small():
    real = gaussian.rounded_gaussian
    with replacing((gaussian, "rounded_gaussian", lambda s, n, bits: real(s * 0.9945, n, bits))):
        yield


@mutant("sigma is halved in the sampler", "T0", quick_t0)
def halved_sampler():
    real = gaussian.rounded_gaussian
    with replacing((gaussian, "rounded_gaussian", lambda s, n, bits: real(s / 2, n, bits))):
        yield


@mutant("noise is cut off at four sigma", "T0", quick_t0)
def cut_tails():
    real = gaussian.rounded_gaussian
    with replacing((gaussian, "rounded_gaussian", lambda s, n, b: np.clip(real(s, n, b), -int(4 * s), int(4 * s)))):
        yield


@mutant("the Gaussian is rounded toward zero", "T0", quick_t0)
def truncated():
    def draw(self, sigma, size):
        return np.random.default_rng().normal(0, sigma, size).astype(np.int64)

    with replacing((SystemNoise, "gaussian", draw)):
        yield


@mutant("the Laplace scale is 2 % too small", "T0", quick_t0)
def small_laplace():
    real = laplace.two_sided_geometric
    with replacing((laplace, "two_sided_geometric", lambda b, n, bits: real(b * 0.98, n, bits))):
        yield


@mutant("selection is sharper than it is charged", "T0", quick_t0)
def sharp_choice():
    real = choice.choose
    with replacing((choice, "choose", lambda gaps, rate, bits: real(gaps, rate * 1.2, bits))):
        yield
