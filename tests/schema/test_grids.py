"""Fine grids that follow from a range, a step and a scale alone."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.grids import FINE, calendar_width, fine_starts
from tests.schema.helpers import encode_one, schema


def number(**more):
    return {"name": "a", "kind": "numeric", "dtype": "float", **more}


def test_every_value_has_a_bin_of_its_own_where_there_are_few():
    a = schema(number(min=0, max=6, step=0.01))["a"]
    assert a.size == 601 and a.labels()[:3] == ["0", "0.01", "0.02"] and a.labels()[-1] == "6"
    drawn = a.binning.draw(np.arange(601), np.random.default_rng(0))
    assert [f"{v!r}" for v in drawn.tolist()] == [repr(i / 100) for i in range(601)]
    assert a.middles()[[0, 29, 600]].tolist() == [0.0, 0.29, 6.0]


def test_numbers_that_were_computed_fall_into_the_bin_of_the_multiple_that_they_miss_by_rounding():
    attribute = number(min=0, max=6, step=0.1)
    assert encode_one(attribute, [0.1 + 0.2, 0.3, 0.1 * 3 - 1e-15, 1.1, 5.999999999]) == [3, 3, 3, 11, 60]


def test_wide_ranges_have_bins_that_are_narrow_near_zero_and_even_far_from_it():
    a = schema({"name": "a", "kind": "numeric", "dtype": "integer", "min": 0, "max": 10_000_000})["a"]
    first, last = a.binning.bounds()
    assert a.labels()[:10] == [str(i) for i in range(10)] and 500 < a.size <= FINE
    assert (last - first).max() <= 20_000 and (last[first < 10_000] - first[first < 10_000]).max() <= 200


def test_a_declared_scale_takes_all_bins():
    starts = {s: np.array(fine_starts(0, 10_000_000, Fraction(1), s), dtype=float) for s in ("linear", "log")}
    assert set(np.diff(starts["linear"])) == {1, 9_999, 10_000}  # 0 has a bin of its own
    wide = starts["log"][starts["log"] >= 10]
    assert (np.diff(wide) / wide[:-1]).max() <= 0.1 + 1e-12 and len(wide) > 500


def test_logarithmic_bins_mirror_each_other_around_zero():
    a = schema({"name": "a", "kind": "numeric", "dtype": "integer", "min": -1000, "max": 1000, "scale": "log"})["a"]
    bins = set(zip(*(side.tolist() for side in a.binning.bounds()), strict=True))
    assert bins == {(-last, -first) for first, last in bins} and {(0, 0), (1, 1)} < bins


@settings(max_examples=120, deadline=None)
@given(
    st.one_of(st.floats(-1e200, 1e200), st.integers(-(10**9), 10**9), st.sampled_from([0, 1e-9])),
    st.one_of(st.floats(1e-9, 1e200), st.integers(1, 10**12)),
    st.sampled_from([None, "linear", "log"]),
    st.sampled_from([7, 100, FINE]),
)
def test_any_range_is_cut_into_about_as_many_bins_as_asked_and_covered(low, span, scale, most):
    high = low + span
    if not low < high:
        return
    starts = fine_starts(low, high, None, scale, most)
    assert float(starts[0]) == float(low) and list(starts) == sorted(set(starts)) and starts[-1] <= Fraction(str(high))
    decades = 660  # of floats, three boundaries each, where bins must grow over all of them
    assert len(starts) <= most + 5 or (scale != "linear" and len(starts) <= most + 3 * decades)


def test_whole_numbers_and_dates_are_cut_at_round_places():
    a = schema({"name": "a", "kind": "numeric", "dtype": "integer", "min": 7, "max": 5000, "scale": "linear"})["a"]
    assert a.labels()[:3] == ["7-9", "10-14", "15-19"]
    day = schema({"name": "d", "kind": "datetime", "min": "2000-01-01", "max": "2001-06-30"})["d"]
    assert day.size == 547 and day.labels()[0] == "2000-01-01"
    moment = {"name": "d", "kind": "datetime", "min": "2000-01-01T05:03:00", "max": "2000-02-01T00:00:00"}
    assert schema(moment)["d"].labels()[1] == "2000-01-01T06:00:00"
    assert [calendar_width(n, seconds=True) for n in (100, 2000, 10**6, 10**8)] == [1, 2, 1800, 172_800]


def test_steps_of_whole_numbers_are_kept_when_values_are_drawn():
    a = schema({"name": "a", "kind": "numeric", "dtype": "integer", "min": 0, "max": 10**6, "step": 500})["a"]
    drawn = a.binning.draw(np.random.default_rng(1).integers(0, a.size, 2000), np.random.default_rng(2))
    assert (drawn % 500 == 0).all() and a.labels()[1] == "500"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"step": 0}, "above 0"),
        ({"step": -1}, "above 0"),
        ({"step": 0.01, "decimals": 2}, "drop decimals"),
        ({"scale": "log", "bins": {"edges": [1, 2]}}, "drop one of them"),
        ({"step": 100}, "no multiple"),
        ({"step": 1e-300}, "too small"),
        ({"scale": "sqrt"}, "scale"),
    ],
)
def test_steps_and_scales_that_make_no_sense_are_refused(more, said):
    with pytest.raises(SchemaError, match=said):
        schema(number(min=1, max=10, **more))


def test_a_document_without_step_scale_and_bins_stays_without_them():
    document = schema(number(min=0, max=1)).document()["attributes"][0]
    assert not {"bins", "step", "scale"} & set(document)
    both = schema(number(min=0, max=1, step=0.5, scale="linear"))
    assert both.document()["attributes"][0]["step"] == 0.5 and type(both).of(both.document()) == both
