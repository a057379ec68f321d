"""Files that executors read, and what a plan may expect of them.

Time and memory of a run on Spark, from the sizes of its files and the schema: shown to the owner before it starts.

SparkFiles: files that every executor can read, or Parquet at an address that Spark can, as a source.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from dpsyn_core.errors import TableError
from dpsyn_core.measure.sources.base import Opened
from dpsyn_core.measure.sources.choice import period, shown
from dpsyn_core.measure.spark.counter import ROUND
from dpsyn_core.measure.spark.session import NO_SETTINGS, as_text, session
from dpsyn_core.measure.spark.source import SparkSource, columns_of, counted, encoding
from dpsyn_core.measure.spark.tasks import ENCODED, encode, guarded, of_parts, spoken, spread
from dpsyn_core.progress import Progress
from dpsyn_core.schema import Schema
from dpsyn_core.tables import ADDRESS, Batches, Part, ReadForm, parts_of

# of one core, in a second, as `python -m benchmarks.scale_spark` measures them on one busy machine
CELLS_ENCODED, ENTRIES_COUNTED = 8_000_000, 78_000_000  # cells; entries of pairs, one for each record and pair


def expected(batches: Batches, schema: Schema) -> str:
    """Sentences on time, memory of the executors, and what comes to the driver; for the owner only, as they tell sizes.

    Args:
        batches: the files; records are counted (Parquet) or estimated from bytes, which overstates them.
        schema: public metadata.
    """
    sizes = schema.domain().sizes
    records, pairs = batches.likely_records, len(sizes) * (len(sizes) - 1) // 2
    codes = records * len(sizes) * np.min_scalar_type(max(sizes, default=1) - 1).itemsize
    cells = sum(a * b for a, b in itertools.combinations(sizes, 2))
    about = "about" if batches.records is not None else "at most about"
    jobs = max(1, -(-cells // ROUND))
    return (
        f"{about} {records:,} records take {period(records * len(sizes) / CELLS_ENCODED)} of one core to encode and "
        f"{period(records * pairs / ENTRIES_COUNTED)} to count all pairs once, which all cores of the executors share; "
        f"their codes take {shown(codes)} of the executors' memory, and all pairs at full resolution send "
        f"{shown(8 * cells)} to the driver in {jobs} job{'s' * (jobs > 1)}"
    )


class SparkFiles:
    """A path or an address, read by the executors of a session that lives while the run measures.

    A path is read by the reader of every other run, in parts: groups of rows of Parquet, lines of CSV. It must name the
    same files on the driver and on every executor: this machine, or a folder that all of them share. An address such as
    hdfs://... or s3a://... is read by Spark, and holds Parquet.
    """

    def __init__(
        self,
        place: str | os.PathLike[str],
        form: ReadForm,
        *,
        master: str | None = None,
        settings: Mapping[str, str] = NO_SETTINGS,
    ) -> None:
        """Reads the heads of files, so that what cannot be a table is refused before Spark starts.

        Args:
            place: file, folder, pattern of files, or address.
            form: what is declared about delimited files.
            master, settings: see `session`.
        """
        self._place, self._form, self._master, self._settings = os.fspath(place), form, master, dict(settings)
        self._address = bool(ADDRESS.match(self._place))
        self.batches: Batches | None = None
        self._parts: list[Part] = []
        if not self._address:
            self.batches, self._parts = parts_of(place, form)

    @contextmanager
    def open(self, schema: Schema, *, progress: Progress) -> Iterator[Opened]:
        """See `SparkSource.open`; on leaving, the session is stopped too, unless it was there before."""
        columns = () if self.batches is None else self.batches.columns
        if self.batches is not None:
            columns_of(schema, columns)
        progress("starting Spark", 0, 1)
        with session(self._master, self._settings) as spark:
            if self._address:
                with SparkSource(self._at_address(spark), strict=self._form.strict, ours=True).open(
                    schema, progress=progress
                ) as opened:
                    yield opened
                return
            progress("encoding", 0, 1)
            work, parts = encoding(schema, columns, spark, strict=self._form.strict), self._parts

            def plan() -> Any:
                numbers = spark.range(0, len(parts), 1, len(parts))
                return numbers.mapInArrow(guarded(lambda batches: encode(of_parts(batches, parts), work)), ENCODED)

            with counted(spark, plan, work) as (counter, n_records):
                yield Opened(counter=counter, n_records=n_records, columns=columns)

    def _at_address(self, spark: Any) -> Any:
        """The DataFrame of an address, which may hold a password, so that nothing of it is shown."""
        with contextlib.suppress(TableError), as_text(spark):
            return spoken(lambda: spark.read.parquet(self._place))
        msg = "Spark cannot read Parquet at this address; check the address and what the cluster may read"
        raise TableError(msg)

    def returned(self, table: Any) -> Any:
        """The synthetic pyarrow table, for a file."""
        return table

    def spread(self, work: Callable[[int], str], number: int) -> list[str]:
        """Runs `work` on the executors in a separate session, which synthesizes records; see `Spreading`."""
        with session(self._master, self._settings) as spark:
            return spread(spark, work, number)
