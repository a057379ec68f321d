"""The ends of a column that single counts do not show: counted in blocks of their own, they keep their thin tails."""

from dataclasses import replace

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.records.rls.oneway.coarse_sums import shrink_with_sums
from dpsyn_core.estimate.records.rls.oneway.empty_runs import supported
from dpsyn_core.estimate.records.rls.oneway.shape import Sums
from dpsyn_core.estimate.records.rls.oneway.tails import ends_of, with_ends
from dpsyn_core.estimate.records.rls.tuning import RECORDS
from dpsyn_core.schema.domain import CodedAttribute

SIZE, TOTAL, SIGMA, OF_SUMS = 900, 20_000.0, 20.0, 50.0


def column(*, heavy, turned=False):
    """20,000 records: a hump at one end, or a heavy tail that falls from there, and is some two records high."""
    place = np.arange(SIZE)
    truth = (place + 30.0) ** -2.5 if heavy else np.exp(-0.5 * ((place - 60) / 20) ** 2) * (place < 120)
    truth *= TOTAL / truth.sum()
    return truth[::-1] if turned else truth


def estimates(truth, seeds=6):
    """Estimated counts on seeded noise, counted twice as `rls` does."""
    kwargs = {"ordered": True, "special": 0, "total": TOTAL}
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        values = truth + rng.normal(0, SIGMA, SIZE)
        known = shrink_with_sums(values, SIGMA, [], **kwargs)
        recode = Coarsening.by_mass(known, CodedAttribute(name="a", size=SIZE, ordered=True), least=TOTAL / 32).map
        recode = with_ends(recode, supported(values, SIGMA, strict_ends=True))
        held = np.bincount(recode, weights=truth)
        sums = Sums(recode, held + rng.normal(0, OF_SUMS, 99)[: len(held)], OF_SUMS)
        yield shrink_with_sums(values, SIGMA, [sums], **kwargs)


def drift(found, truth):
    """What the Wasserstein distance adds up."""
    return np.abs(np.cumsum(found - truth)).sum() / TOTAL


@pytest.mark.parametrize("turned", [False, True])
def test_blocks_of_their_own_say_how_far_a_thin_tail_reaches(turned):
    """Where the tail was one coarse value, the mean distance was 4.3; 3.2 and 3.5 here."""
    truth = column(heavy=True, turned=turned)
    assert np.mean([drift(found, truth) for found in estimates(truth)]) < 3.7


def test_noise_hardly_ever_shows_records_far_beyond_the_last_one():
    """Records far out move a mean by several times; with an `empty_chance` of .05, 18 of these columns showed some."""
    truth, rng = np.where(np.arange(SIZE) < 250, np.exp(-np.arange(SIZE) / 40), 0.0), np.random.default_rng(0)
    truth *= TOTAL / truth.sum()
    far = [supported(truth + rng.normal(0, SIGMA, SIZE), SIGMA, strict_ends=True)[320:].any() for _ in range(1000)]
    assert sum(far) <= 10


@pytest.mark.parametrize("turned", [False, True])
def test_an_end_without_records_stays_empty(turned):
    found = [f[::-1] if turned else f for f in estimates(column(heavy=False, turned=turned))]
    assert max(f[180:].sum() for f in found) < OF_SUMS
    assert np.median([f[180:].sum() for f in found]) < 1e-6


def test_beside_a_spike_nothing_is_made_up():
    """A smooth shape that continues a spike would be wrong by everything; the blocks' own counts stand."""
    truth = np.zeros(SIZE)
    truth[40] = TOTAL
    for found in estimates(truth):
        assert found.sum() == pytest.approx(TOTAL)
        assert found[40] > 0.995 * TOTAL


def test_amounts_of_a_few_beside_0_of_most_lie_where_they_are():
    """Their shape does not continue that of 0, nor does it only fall: means were 16 % too low before, here 7 %."""
    place = np.arange(SIZE)
    truth = np.exp(-0.5 * ((np.log(np.maximum(place, 1)) - 4.8) / 0.6) ** 2) / np.maximum(place, 1) * (place > 0)
    truth *= 0.04 * TOTAL / truth.sum()
    truth[0] = TOTAL - truth.sum()
    ratios = [float(found @ place / (truth @ place)) for found in estimates(truth, 12)]
    assert 0.88 < np.mean(ratios) < 1.12


def test_ends_are_divided_into_blocks_that_grow_outwards_and_all_else_stays():
    recode = np.concatenate([np.arange(500) // 50, [10, 11]])  # two special values
    shown = np.zeros(500, dtype=bool)
    shown[180:240] = True
    found = with_ends(recode, shown)
    lengths = np.bincount(found)
    assert (np.diff(found) >= 0).all() and found[0] == 0 and len(found) == 502
    assert lengths[:3].tolist() == [120, 48, 12]  # downwards from 180
    assert lengths[-5:].tolist() == [48, 192, 8, 1, 1] and lengths[-6] == 12
    assert (np.diff(found[180:240]) == np.diff(recode[180:240])).all()


def test_columns_that_show_records_everywhere_or_nowhere_have_no_ends():
    for shown in (np.ones(200, dtype=bool), np.zeros(200, dtype=bool), np.arange(200) >= 10):
        assert ends_of(shown) == []
        assert (with_ends(np.arange(200) // 9, shown) == np.arange(200) // 9).all()


@pytest.mark.parametrize(("power", "least"), [(2.5, 0.96), (1.9, 0.97)])
def test_means_of_long_tails_are_hardly_lower(power, least):
    """Where ends were cut at the noise of a block, means were 5 and 4 % too low."""
    place = np.arange(SIZE)
    truth = (place + 30.0) ** -power * np.exp(-place / 400)
    truth *= TOTAL / truth.sum()
    ratios = [float(found @ place / (truth @ place)) for found in estimates(truth, 40)]
    assert least < np.mean(ratios) < 1.02


def test_past_the_blocks_that_show_records_an_end_falls_as_fast_as_before():
    """A block that noise lifts by one deviation draws records there, half as many with this."""
    truth = np.exp(-np.arange(SIZE) / 70)
    truth *= TOTAL / truth.sum()
    recode = with_ends((np.arange(SIZE) // 28).astype(np.intp), supported(truth, SIGMA, strict_ends=True))
    held = np.bincount(recode, weights=truth)
    held[-1] += OF_SUMS
    guarded, free = (
        shrink_with_sums(
            truth, SIGMA, [Sums(recode, held, OF_SUMS)], ordered=True, special=0, total=TOTAL, tuning=tuning
        )[500:].sum()
        for tuning in (RECORDS.shrinkage, replace(RECORDS.shrinkage, tail_sure=-np.inf))
    )
    assert 0 < guarded < 0.6 * free
