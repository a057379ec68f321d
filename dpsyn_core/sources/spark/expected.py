"""What a run on Spark will take, from the sizes of its files and the schema: said to the owner before it starts."""

from __future__ import annotations

import itertools

import numpy as np

from dpsyn_core.counting.spark import ROUND
from dpsyn_core.schema.document import Schema
from dpsyn_core.sources.choose import period, shown
from dpsyn_core.tables.batches import Batches

# of one core, in a second, as `python -m benchmarks.scale_spark` measures them on one busy machine
ENCODED, COUNTED = 8_000_000, 78_000_000  # cells; entries of pairs, one for each record and pair


def expected(batches: Batches, schema: Schema) -> str:
    """Sentences on time, memory of the executors, and what comes to the driver; for the owner only, as they tell sizes.

    Args:
        batches: the files, whose records are known (Parquet) or guessed from their bytes, then too many.
        schema: public metadata.
    """
    sizes = schema.domain().sizes
    records, pairs = batches.likely_records, len(sizes) * (len(sizes) - 1) // 2
    codes = records * len(sizes) * np.min_scalar_type(max(sizes, default=1) - 1).itemsize
    cells = sum(a * b for a, b in itertools.combinations(sizes, 2))
    about = "about" if batches.records is not None else "at most about"
    jobs = max(1, -(-cells // ROUND))
    return (
        f"{about} {records:,} records take {period(records * len(sizes) / ENCODED)} of one core to encode and "
        f"{period(records * pairs / COUNTED)} to count all pairs once, which all cores of the executors share; their "
        f"codes take {shown(codes)} of the executors' memory, and all pairs at full resolution send {shown(8 * cells)} "
        f"to the driver in {jobs} job{'s' * (jobs > 1)}"
    )
