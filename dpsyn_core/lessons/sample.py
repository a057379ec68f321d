"""What labs 9, 14, 18 and 20 ask of the bundled sample: its pay gap, and results that were computed beforehand."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

NOT_APPLICABLE = 999_998  # the sample's code for those who are too young to be asked for a wage


def pay_gap(table: Any) -> float:
    """Mean yearly wage of men less that of women, among wage earners, in dollars; of a pyarrow table."""
    import pandas as pd  # heavy

    frame = table.select(["SEX", "INCWAGE"]).to_pandas()
    wage = pd.to_numeric(frame["INCWAGE"])
    paid = (wage > 0) & (wage < NOT_APPLICABLE)
    means = wage[paid].groupby(frame["SEX"][paid]).mean()
    return float(means.get("Male", np.nan) - means.get("Female", np.nan))


@cache
def results(name: str) -> dict[str, Any]:
    """A file that `python -m benchmarks.lessons` wrote: 'systems' or 'membership'."""
    found: dict[str, Any] = json.loads((Path(__file__).parent / "results" / f"{name}.json").read_bytes())
    return found
