"""Every system: dates keep the rhythm that the schema declares, and whole numbers without blanks get none."""

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core import synthesize
from dpsyn_core.schema.rhythm import keeps
from dpsyn_core.systems.registry import config_class, names
from tests.schema.helpers import cat, schema
from tests.systems.test_contract import MINI

N = 400


@pytest.mark.parametrize("name", names())
def test_dates_keep_their_rhythm_and_whole_numbers_stay_filled_and_inside(name):
    rng = np.random.default_rng(0)
    months = (np.datetime64("2019-01", "M") + rng.integers(1, 49, N)).astype("datetime64[D]") - 1
    rating = rng.integers(1, 11, N)
    seen = np.datetime64("2024-03-01T08:00", "s") + 900 * rng.integers(0, 40, N)
    table = pa.table(
        {"closed": pa.array(months), "rating": pa.array(rating), "seen": seen, "kind": rng.choice(["a", "b"], N)}
    )
    date = {
        "name": "closed",
        "kind": "datetime",
        "min": "2019-01-01",
        "max": "2022-12-31",
        "rhythm": "month-end",
        "group": "g",
    }
    timed = date | {
        "name": "seen",
        "min": "2024-03-01T08:00:00",
        "max": "2024-03-01T18:00:00",
        "rhythm": "quarter-hours",
    }
    promised = config_class(name).guarantee
    made = schema(
        date, timed, cat("rating", list(range(1, 11)), ordered=True, other=True), cat("kind", ["a", "b"], group="g"),
        n_records=N, unit={"neighbours": promised.neighbours[0]},
    )  # fmt: skip
    release = synthesize(
        table, made, epsilon=1.0, delta=1e-6 if promised.approximate else 0.0, rng=1, method=name,
        settings=MINI.get(name, {}), ledger=None,
    )  # fmt: skip
    out = release.table
    days = out.column("closed").cast(pa.int32()).to_numpy().astype(np.int64)
    assert out.num_rows and keeps("month-end", days).all()
    assert keeps("quarter-hours", out.column("seen").cast(pa.int64()).to_numpy()).all()
    assert set(out.column("rating").to_pylist()) <= set(range(1, 11))
