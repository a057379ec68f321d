"""Items of a battery share one noisy mean of their tables where scores say that they depend alike, and no others do."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.estimate.marginals.released_file import load_measurements, pack_measurements
from dpsyn_core.estimate.marginals.types import MeanTable, ReleasedTables, at_margins
from dpsyn_core.privacy.charge_record import ChargeRecord
from dpsyn_core.runs.verify.stated_noise import underpaid
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.rls.alike_tables import form
from dpsyn_core.systems.rls.batteries import AlikePairs
from dpsyn_core.systems.rls.mean_targets import mean_targets, symmetric
from tests.systems.rls.test_hierarchies import run

N, ITEMS = 3_000, 9
SIZES = {"sex": 2, **{f"q{i}": 5 for i in range(ITEMS)}, "age": 6}


def scale(*, loading=0.5, two=False, seed=0):
    """Nine items that depend weakly, and nothing else. two: the last five are of another trait."""
    rng = np.random.default_rng(seed)
    traits = rng.normal(size=(2, N))
    items = [
        np.clip(np.rint(2 + loading * traits[int(two and i > 3)] + rng.normal(size=N)), 0, 4) for i in range(ITEMS)
    ]
    return np.stack([rng.integers(0, 2, N), *items, rng.integers(0, 6, N)]).astype(np.uint8)


def targets_of(view, scale):
    tables = {m.attributes: m.sigma for m in view.joint if len(m.attributes) > 1}
    tuning = view.tuning.records
    return mean_targets(view.means, view.domain, tables=tables, product=view.product, scale=scale, tuning=tuning)


def alpha(codes):
    items = codes[1 : ITEMS + 1].astype(float)
    return ITEMS / (ITEMS - 1) * (1 - items.var(axis=1).sum() / items.sum(axis=0).var())


@pytest.fixture(scope="module")
def released():
    return run(scale(), Domain.of(SIZES), epsilon=1.5)


def test_a_scale_is_as_reliable_as_it_is(released):
    """Without the mean table half of it is lost: few pairs pay for a table of their own."""
    system, measured, charges = released
    (mean,) = measured.means
    names = [c.name for c in charges if c.name.startswith("mean marginal")]
    assert names == [f"mean marginal of {len(mean.pairs)}: {' x '.join(mean.pairs[0])}"]
    assert set(mean.pairs) <= set(combinations([f"q{i}" for i in range(ITEMS)], 2))
    assert mean.values.shape == (5, 5)
    assert alpha(scale()) == pytest.approx(0.67, abs=0.02)

    def made(tables):
        return alpha(system.synthesize(tables, None, rng=np.random.default_rng(0)))

    assert made(measured) == pytest.approx(alpha(scale()), abs=0.12)
    without = measured.like(measured)
    without.means = ()
    assert made(without) < 0.5


def test_all_costs_together_are_the_budget(released):
    system, _, charges = released
    assert sum(c.rho for c in charges) == pytest.approx(system.cost.rho, rel=1e-6)


@pytest.mark.parametrize(
    ("codes", "sizes"),
    [
        (scale(loading=1.6, two=True), SIZES),  # two traits: the pairs differ
        (scale(loading=0.0), SIZES),  # no trait
        (scale(), dict(zip(["s", *"bcdefghij", "z"], SIZES.values(), strict=True))),  # names differ
    ],
)
def test_nothing_is_spent_where_pairs_differ_or_nothing_depends_or_no_columns_are_alike(codes, sizes):
    _, measured, charges = run(codes, Domain.of(sizes), epsilon=1.5)
    assert measured.means == ()
    assert not any(c.name.startswith("mean") for c in charges)


@pytest.mark.parametrize(
    ("name", "common"),
    [
        ("q1", "q#"), ("q12", "q#"), ("q1_3", "q1_#"), ("Q4b", "Q4?"), ("wave2_income", "wave#_income"),
        ("age", "age"), ("3", "#"), ("", ""), ("q2c3", "q2c#"), ("F7-A", "F#-A"),
    ],
)  # fmt: skip
def test_items_have_all_but_the_last_number_or_letter_of_their_names_in_common(name, common):
    assert form(name) == common


def test_a_file_keeps_them_and_refuses_what_does_not_fit(released, tmp_path):
    system, measured, _ = released
    path = tmp_path / "released.json.gz"
    path.write_bytes(pack_measurements(measured))
    (mean,), (found,) = measured.means, load_measurements(path, system.domain).means
    assert (found.pairs, found.sigma, found.law) == (mean.pairs, mean.sigma, mean.law)
    assert np.array_equal(found.values, mean.values)
    assert {n: r.map.tolist() for n, r in found.recodes.items()} == {n: r.map.tolist() for n, r in mean.recodes.items()}
    wrong = measured.like(measured)
    for pairs in (
        (*mean.pairs, ("q0", "sex")),  # another shape
        (*mean.pairs, mean.pairs[0]),  # twice
        (*mean.pairs, mean.pairs[0][::-1]),  # twice, the other way round
        (*mean.pairs, ("q0", "q0")),
        (*mean.pairs, ("q0", "nobody")),
        (),
    ):
        wrong.means = (replace(mean, pairs=pairs),)
        path.write_bytes(pack_measurements(wrong))
        with pytest.raises(TableError, match="does not hold released marginals"):
            load_measurements(path, system.domain)


def test_a_mean_that_nothing_paid_for_is_found(released):
    system, measured, charges = released
    listed = [ChargeRecord.of(c) for c in charges]
    assert underpaid(listed, system.unit, measured) == []
    (mean,) = measured.means
    for other in (
        replace(mean, sigma=mean.sigma / 2),
        replace(mean, pairs=mean.pairs[1:]),
        replace(mean, pairs=mean.pairs[1:] + mean.pairs[:1]),
    ):
        more = measured.like(measured)
        more.means = (other,)
        (sentence,) = underpaid(listed, system.unit, more)
        assert "a mean of" in sentence
    assert any("a mean of" in s for s in underpaid([c for c in listed if c.kind != "mean"], system.unit, measured))


def test_targets_have_the_margins_of_each_pair_and_one_dependence(released):
    system, measured, _ = released
    view = system.view(measured)
    targets = targets_of(view, 2.0)
    assert len(targets) == len(measured.means[0].pairs)
    ratios = []
    for t in targets:
        first, second = (view.one_ways[i] for i in t.attributes)
        assert t.values.sum(axis=1) == pytest.approx(2 * first, rel=1e-3)
        assert t.values.sum(axis=0) == pytest.approx(2 * second, rel=1e-3)
        ratios.append(t.values[0, 0] * t.values[4, 4] / t.values[0, 4] / t.values[4, 0])
    assert np.allclose(ratios, ratios[0], rtol=1e-6)  # odds ratios do not depend on margins
    assert ratios[0] > 3
    noise = [m.sigma for m in view.joint if len(m.attributes) == 2] or [measured.means[0].sigma]
    assert {t.sigma for t in targets} == {2 * np.median(noise)}


def test_a_pair_with_a_table_of_its_own_has_no_target(released):
    system, measured, _ = released
    (mean,) = measured.means
    names = mean.pairs[0]
    (known,) = [m for m in measured if m.attributes == ("sex",)][:1]
    more = measured.like([*measured, replace(known, attributes=names, values=mean.values)])
    places = {t.attributes for t in targets_of(system.view(more), 1.0)}
    assert tuple(system.domain.index(n) for n in names) not in places
    assert len(places) == len(mean.pairs) - 1


def test_the_strength_of_a_block_is_that_of_its_scores_without_noise_and_chance():
    rng, alone = np.random.default_rng(0), np.full((4, 4), 100.0)
    true, sigma, m = 300.0, 200.0, 20_000
    block = AlikePairs(
        pairs=(("a", "b"),) * m,
        recodes={},
        alone=(alone,) * m,
        scores=np.zeros(m),
        sigma=sigma,
    )
    chance = float(block.chance[0])
    found = replace(block, scores=np.hypot(true, chance) + rng.normal(0, sigma, m))
    assert found.strength == pytest.approx(true, rel=0.03)
    assert block.strength == 0
    assert not symmetric(found.pairs)
    assert symmetric([("a", "b"), ("b", "c")])
    few = block.only([0, 1, 2, 3])
    assert replace(few, scores=np.full(4, chance + 301.0)).sure(3.0)
    assert not replace(few, scores=np.full(4, chance + 299.0)).sure(3.0)
    assert few.noise(2.0) == pytest.approx(np.sqrt(2 / np.pi) * 2.0 * 16, rel=1e-4)


def test_a_table_at_other_margins_keeps_its_odds():
    table, rows, columns = np.array([[4.0, 1, 2], [1, 3, 1]]), np.array([30.0, 10]), np.array([10.0, 20, 10])
    found = at_margins(table, rows, columns)
    assert found.sum(axis=1) == pytest.approx(rows, rel=1e-6)
    assert found.sum(axis=0) == pytest.approx(columns, rel=1e-6)
    assert found[0, 0] * found[1, 1] / found[0, 1] / found[1, 0] == pytest.approx(12.0)
    assert not at_margins(np.zeros((2, 3)), rows, columns).any()


def test_tables_that_are_made_like_others_keep_their_means(released):
    _, measured, _ = released
    assert measured.like([]).means == measured.means
    assert ReleasedTables().means == ()
    assert isinstance(measured.means[0], MeanTable)
