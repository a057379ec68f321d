"""Components, mixture, features and decoder against independent computations; no torch."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

from dpsyn_core.errors import EngineError, SettingError
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.deep.decoder import layout_of, linear_start, probabilities
from dpsyn_core.systems.deep.features import smoothed, space_of
from dpsyn_core.systems.deep.mixture import Components, Mixture, cells, components, maximised, statistics
from dpsyn_core.systems.deep.model import Seen
from dpsyn_core.systems.deep.network import Shape
from dpsyn_core.systems.deep.p3gm import P3GMConfig
from dpsyn_core.systems.deep.settings import MOST_WEIGHTS
from dpsyn_core.systems.deep.training import Optimiser
from tests.systems.harness import task_for


def space(codes, domain, sigma=1e-9, values=16):
    ones = [
        Measurement(attributes=(a.name,), values=np.bincount(c, minlength=a.size).astype(float), sigma=sigma)
        for a, c in zip(domain.attributes, codes, strict=True)
    ]
    return space_of(domain, ones, None, values=values, weights={})


DOMAIN = Domain(
    (
        CodedAttribute(name="n", size=30, ordered=True, number=True, special=1),
        CodedAttribute(name="m", size=30, ordered=True, number=True),
        CodedAttribute(name="c", size=5),
    )
)


def numbers(n=4000, seed=0):
    """Two correlated numbers and a category that follows them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    a = np.clip(np.rint(14 + 5 * z), 0, 28).astype(int)
    b = np.clip(np.rint(14 + 4 * z + 3 * rng.normal(size=n)), 0, 29).astype(int)
    c = np.clip(np.rint(2 + z), 0, 4).astype(int)
    a[rng.random(n) < 0.05] = 29  # missing
    return np.stack([a, b, c]).astype(np.uint8)


def test_components_without_noise_are_those_of_scikit_learn_in_sign_and_order():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(500, 6)) @ rng.normal(size=(6, 6))
    x -= x.mean(axis=0)
    x /= np.linalg.norm(x, axis=1).max()
    found = components(x.T @ x, 500, 0.0, 4)
    known = PCA(4, svd_solver="full").fit(x)
    rows = known.components_
    signs = np.sign(rows[np.arange(4), np.abs(rows).argmax(axis=1)])
    assert np.allclose(found.vectors.T, rows * signs[:, None], atol=1e-9)
    assert np.allclose(found.deviations**2, known.explained_variance_ * 499 / 500)


def test_components_below_the_noise_are_left_out_and_one_is_always_kept():
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(40, 40)) * 50
    assert components(noise, 1000, 50.0, 10).vectors.shape[1] <= 2
    assert components(np.zeros((3, 3)), 0, 1.0, 10).vectors.shape == (3, 1)


@pytest.mark.parametrize("tied", [True, False])
def test_the_steps_of_the_mixture_without_noise_are_those_of_scikit_learn(tied):
    rng = np.random.default_rng(3)
    z = np.concatenate([rng.normal(-1, 0.4, (600, 2)), rng.normal(1, 0.4, (900, 2))])
    z = (z - z.mean(0)) / z.std(0)
    start = Mixture(weights=np.array([0.5, 0.5]), means=np.array([[-0.5, 0.1], [0.5, 0.0]]), variances=np.ones((2, 2)))
    mixture, reach = start, 100.0
    for _ in range(60):
        summed = statistics(mixture, z, reach, tied=tied).sum(axis=0)
        assert summed.size == cells(2, 2, tied=tied)
        mixture = maximised(summed, mixture, reach, tied=tied)
    known = GaussianMixture(
        2, covariance_type="diag", weights_init=start.weights, means_init=start.means, precisions_init=np.ones((2, 2)),
        max_iter=200, tol=1e-9, reg_covar=0,
    ).fit(z)  # fmt: skip
    assert np.allclose(mixture.weights, known.weights_, atol=0.01 if tied else 1e-3)
    assert np.allclose(mixture.means, known.means_, atol=0.05 if tied else 1e-3)
    if not tied:
        assert np.allclose(mixture.variances, np.maximum(known.covariances_, 0.05), atol=1e-3)


def test_the_vector_of_a_record_is_at_most_one_long():
    rng = np.random.default_rng(4)
    mixture = Mixture(weights=np.full(3, 1 / 3), means=rng.normal(size=(3, 5)), variances=np.ones((3, 5)))
    z = rng.normal(size=(2000, 5)) * np.exp(rng.normal(size=(2000, 1)) * 3)
    for tied in (True, False):
        assert np.linalg.norm(statistics(mixture, z, 3.0, tied=tied), axis=1).max() <= 1 + 1e-12


def test_features_of_a_record_do_not_depend_on_others_and_codes_come_back_from_coarse_values():
    codes = numbers()
    known = space(codes, DOMAIN)
    assert np.array_equal(known.features(codes)[:7], known.features(codes[:, :7]))
    assert np.linalg.norm(known.clipped(codes), axis=1).max() <= 1 + 1e-12
    back = known.fine(known.coarse(codes), np.random.default_rng(0))
    assert np.array_equal(known.coarse(back), known.coarse(codes))
    assert np.allclose(known.features(codes).mean(axis=0), 0, atol=0.05)


def test_the_encoders_noise_is_a_function_of_the_record_and_the_step():
    codes = numbers(600)
    seen = Seen.of(space(codes, DOMAIN), DOMAIN)
    block = np.zeros((600, seen.features.width))
    seen.features.fill(block, dict(zip(DOMAIN.names, codes, strict=True)))
    draws = seen.jitter(3, 4)(block)
    assert np.array_equal(seen.jitter(3, 4)(block[::-1])[::-1], draws)
    assert not np.array_equal(seen.jitter(4, 4)(block), draws)
    distinct = np.unique(draws, axis=0)
    assert abs(distinct.mean()) < 0.15 and 0.85 < distinct.std() < 1.15


def test_a_decoder_that_says_nothing_gives_the_released_shares():
    known = space(numbers(), DOMAIN)
    layout = layout_of(known)
    for group in layout.groups:
        got = probabilities(group, np.zeros((1, layout.outputs)))[0]
        for row, at in zip(got, group.attributes, strict=True):
            assert np.allclose(row[: known.blocks[at].size], known.blocks[at].shares)


def test_without_reduction_latent_values_are_the_features_at_unit_variance():
    codes = numbers()
    seen = space(codes, DOMAIN)
    found = Components.of_features(seen)
    z = found(seen.features(codes) / seen.radius)
    assert z.shape == (codes.shape[1], seen.width)
    np.testing.assert_allclose((z**2).mean(axis=0), 1, atol=0.05)
    np.testing.assert_allclose(z * found.deviations * seen.radius, seen.features(codes), atol=1e-9)


def test_the_linear_start_predicts_a_category_from_the_components():
    codes = numbers()
    known = space(codes, DOMAIN)
    x = known.clipped(codes)
    found = components(x.T @ x, codes.shape[1], 0.0, 2)
    layout = layout_of(known)
    z = found(x)
    outputs = np.concatenate([z, np.ones((len(z), 1))], axis=1) @ linear_start(known, layout, found)
    group = next(g for g in layout.groups if 2 in g.attributes)
    p = probabilities(group, outputs)[:, list(group.attributes).index(2)]
    right = (p.argmax(axis=1) == known.coarse(codes)[:, 2]).mean()
    assert right > known.blocks[2].shares.max() + 0.1


def test_pure_noise_leaves_the_weights_where_they_were():
    rng = np.random.default_rng(5)
    still, moved = (Optimiser(np.zeros((1, 2000)), rate=0.02, steps=50, averaging=0.9) for _ in range(2))
    for _ in range(50):
        noise = rng.normal(size=(1, 2000))
        still.step(noise, 1.0)
        moved.step(noise + 3.0, 1.0)
    assert np.abs(still.averaged).mean() < 0.01 < np.abs(moved.averaged).mean()


def test_a_gradient_that_is_no_number_ends_the_run():
    with pytest.raises(EngineError, match="not finite"):
        Optimiser(np.zeros((1, 2)), rate=0.1, steps=1, averaging=0.9).step(np.array([[np.nan, 1.0]]))


@pytest.mark.parametrize("share", [0.3, 0.02])
def test_a_column_of_few_values_keeps_them_all_however_many_columns_there_are_beside_it(share):
    n = 4000
    names = [CodedAttribute(name=f"x{i}", size=16, ordered=True, number=True) for i in range(700)]
    domain = Domain((*names, CodedAttribute(name="label", size=2)))
    rare = int(share * n)
    counts = [np.full(16, n / 16)] * 700 + [np.array([n - rare, rare])]
    ones = [
        Measurement(attributes=(a.name,), values=c.astype(float), sigma=20.0)
        for a, c in zip(domain.attributes, counts, strict=True)
    ]
    found = space_of(domain, ones, None, values=64, weights={})
    assert found.blocks[-1].shares == pytest.approx([1 - share, share])
    assert found.blocks[0].size == 16 and found.blocks[0].features.shape[1] == 1


def test_smooth_counts_lose_most_of_their_noise_and_heaped_ones_are_left_as_they_are():
    rng = np.random.default_rng(8)
    at = np.linspace(-4, 4, 40)
    bell = 10_000 * np.exp(-(at**2) / 2) / np.exp(-(at**2) / 2).sum()
    for _ in range(5):
        noisy = bell + 60 * rng.normal(size=40)
        assert np.linalg.norm(smoothed(noisy, 60.0) - bell) < 0.7 * np.linalg.norm(noisy - bell)
    heaped = np.where(np.arange(40) % 5 == 0, 1000.0, 50.0)
    assert smoothed(heaped + 60 * rng.normal(size=40), 60.0) is None
    assert smoothed(bell, 0.0) is None and smoothed(bell[:4], 60.0) is None


def test_networks_of_more_weights_than_the_cap_are_refused_in_a_sentence_and_those_at_it_are_not():
    system = P3GMConfig().build(task_for("p3gm", {"a": 3, "b": 4}, 10))
    at = Shape(latent=9, hidden=0, outputs=(MOST_WEIGHTS - 9) // 10)  # (9 + 1) * outputs, and a variance a dimension
    assert at.size <= MOST_WEIGHTS < at.size + 10 and system.hidden_units(at) is at
    for shape, members in ((Shape(latent=9, hidden=0, outputs=at.outputs + 1), 1), (at, 2)):
        with pytest.raises(SettingError, match=rf"{shape.size * members:,} weights, above the cap of 8,000,000; lower"):
            system.hidden_units(shape, members)
