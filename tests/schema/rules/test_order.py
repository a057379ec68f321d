"""Orders: which records break them, which cells of a table are impossible, and the partners of an exchange."""

import numpy as np
import pytest

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.rules.columns import BLANK, PLAIN, RuleColumn, part
from dpsyn_core.schema.rules.order import OrderRule
from tests.schema.helpers import num, schema

SHAPE = schema(num("low", 0, 9, 10), num("high", 0, 9, 10), num("wide", 0, 9, 2), num("late", 9, 12, 4))


def group(**values):
    return {
        n: RuleColumn(SHAPE[n], np.array(v, dtype=np.int64), np.full(len(v), PLAIN, dtype=np.uint8))
        for n, v in values.items()
    }


def rule(strict=False, **more):
    return OrderRule(**({"lower": "low", "upper": "high", "strict": strict} | more))


@pytest.mark.parametrize("strict", [False, True])
def test_an_order_is_broken_above_and_where_it_is_strict_by_equal_values(strict):
    low, high = np.divmod(np.arange(100), 10)
    records = group(low=low, high=high)
    records["low"].state[0], records["high"].state[90] = BLANK, BLANK
    wrong = low >= high if strict else low > high
    wrong[[0, 90]] = False
    assert rule(strict).broken(records).tolist() == wrong.tolist()


@pytest.mark.parametrize(("upper", "lower", "strict", "fits"), [
    ("low", "late", False, True), ("low", "late", True, False), ("high", "low", True, True)
])  # fmt: skip
def test_an_order_that_no_values_meet_is_refused_at_the_very_end(upper, lower, strict, fits):
    declared = OrderRule(lower=lower, upper=upper, strict=strict)
    if fits:
        declared.check(SHAPE)
    else:
        with pytest.raises(SchemaError, match="no values can meet it"):
            declared.check(SHAPE)


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("name", ["low", "high"])
def test_a_partner_can_take_the_cell_or_give_one_that_fits_by_turns_and_comes_once(turn, name):
    rng = np.random.default_rng(3)
    records = group(low=rng.integers(0, 10, 300), high=rng.integers(0, 10, 300))
    wrong = rule().broken(records)
    left, others = np.flatnonzero(wrong), np.flatnonzero(~wrong)
    first, second = rule().partners(name, turn, left, others, records, rng)
    assert len(first) == len(second) == len(set(second.tolist())) > 20
    assert set(first.tolist()) <= set(left.tolist()) and set(second.tolist()) <= set(others.tolist())
    mine, theirs = part(records, first), part(records, second)
    giver, taker = (theirs, mine) if turn else (mine, theirs)
    low, high = (taker, giver) if name == "high" else (giver, taker)
    fits = low["low"].values <= high["high"].values
    assert fits.mean() > 0.9, "all but those for whom there is none"


def test_values_that_move_inside_their_bins_end_in_order_and_in_the_same_bins():
    rng = np.random.default_rng(4)
    records = group(low=rng.integers(0, 10, 400), wide=rng.integers(0, 10, 400))
    declared = OrderRule(lower="wide", upper="low")
    here = part(records, np.flatnonzero(declared.broken(records)))
    (moved,) = declared.inside_bins(here, rng)
    for name, column in moved.items():
        binning = SHAPE[name].binning
        assert (binning.find(column.values) == binning.find(here[name].values)).all()
    able = here["low"].values // 5 >= here["wide"].values // 5
    assert (~declared.broken(moved) == able).all() and 0 < able.sum() < len(able)
    assert not list(declared.inside_bins(here, rng, still=("low",)))


def test_changes_of_single_records_bring_them_into_order():
    records = group(low=[9, 5, 7], high=[1, 2, 6])
    keepers = group(low=[1, 2], high=[3, 4])
    for change in rule(strict=True).moves([], records, keepers, np.random.default_rng(1)):
        after = {n: records[n].holding(np.asarray(change[n])) if n in change else records[n] for n in records}
        fixed = ~rule(strict=True).broken(after)
        inside = [c.allows(c.values) for c in after.values()]
        assert fixed[1] and np.logical_and.reduce(inside).all()
