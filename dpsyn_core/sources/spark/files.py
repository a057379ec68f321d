"""SparkFiles: files that every executor can read, or Parquet at an address that Spark can, as a source."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from dpsyn_core.counting.spark_jobs import guarded, spoken, spread
from dpsyn_core.errors import TableError
from dpsyn_core.progress import Progress
from dpsyn_core.schema.document import Schema
from dpsyn_core.sources.base import Opened
from dpsyn_core.sources.spark.session import NO_SETTINGS, as_text, session
from dpsyn_core.sources.spark.source import SparkSource, columns_of, counted, encoding
from dpsyn_core.sources.spark.tasks import ENCODED, encode, of_parts
from dpsyn_core.tables.batches import Batches
from dpsyn_core.tables.places import ADDRESS
from dpsyn_core.tables.read import Part, parts_of
from dpsyn_core.tables.read_form import ReadForm


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
                with SparkSource(self._at_address(spark), strict=self._form.strict).open(
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
        """Synthetic records are made by the executors, in a session of its own; see `Spreading`."""
        with session(self._master, self._settings) as spark:
            return spread(spark, work, number)
