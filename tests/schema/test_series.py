"""Rows in equal steps of time are asked about before a run: one individual, or as many as rows."""

import numpy as np
import pandas as pd
import pyarrow as pa

from dpsyn_core.schema import Schema
from dpsyn_core.schema.drafts.series import series

HOURS = {"version": 1, "name": "use", "attributes": [
    {"name": "at", "kind": "datetime", "min": "2024-01-01T00:00:00", "max": "2024-12-31T23:00:00"},
    {"name": "meter", "kind": "categorical", "values": ["a", "b", "c"]},
    {"name": "use", "kind": "numeric", "dtype": "float", "min": 0, "max": 9},
]}  # fmt: skip


def table(meters, each, *, mixed=False):
    rng = np.random.default_rng(1)
    at = np.datetime64("2024-01-01T00:00:00") + np.arange(each).astype("timedelta64[h]")
    whole = np.tile(at, len(meters))
    whole = rng.choice(whole, len(whole)) if mixed else whole
    frame = pd.DataFrame({"at": whole.astype("datetime64[s]"), "meter": np.repeat(meters, each)})
    return pa.Table.from_pandas(frame.assign(use=rng.random(len(frame))), preserve_index=False)


def test_one_series_and_several_are_recognised():
    one = series(Schema.of(HOURS), table(["a"], 300))
    assert (one.date, one.key, one.keys, one.rows) == ("at", "", 1, 300)
    several = series(Schema.of(HOURS), table(["a", "b", "c"], 200))
    assert (several.key, several.keys, several.rows) == ("meter", 3, 600)


def test_persons_with_dates_are_no_series():
    assert series(Schema.of(HOURS), table(["a", "b", "c"], 200, mixed=True)) is None
    assert series(Schema.of(HOURS), table(["a"], 50)) is None


def test_guests_who_come_on_any_day_of_a_town_are_no_series():
    """The days of all towns together are even; those of one town are not."""
    rng = np.random.default_rng(2)
    towns = [f"t{i}" for i in range(15)]
    at = np.datetime64("2024-01-01T00:00:00") + np.concatenate(
        [rng.choice(300, 60, replace=False) for _ in towns]
    ).astype("timedelta64[D]")
    frame = pd.DataFrame({"at": at.astype("datetime64[s]"), "meter": np.repeat(towns, 60)})
    guests = pa.Table.from_pandas(frame.assign(use=rng.random(len(frame))), preserve_index=False)
    of = [{**a, "values": towns} if a["name"] == "meter" else a for a in HOURS["attributes"]]
    assert series(Schema.of({**HOURS, "attributes": of}), guests) is None
