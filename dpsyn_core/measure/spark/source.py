"""SparkSource: a Spark DataFrame; its records are encoded, bounded and counted where they are."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from dpsyn_core import errors
from dpsyn_core.errors import EngineError, TableError
from dpsyn_core.measure.sources.base import ONLY_OWNER, Opened
from dpsyn_core.measure.sources.bounding import draw_key
from dpsyn_core.measure.spark.counter import BLOCKS, Placed, SparkCounter
from dpsyn_core.measure.spark.tasks import (
    BOUNDED,
    ENCODED,
    EncodeTask,
    bound_part,
    collected,
    encode,
    guarded,
    guarded_call,
    of_frame,
    spoken,
    spread,
)
from dpsyn_core.progress import Progress
from dpsyn_core.schema import Codec, Schema
from dpsyn_core.tables import headers
from dpsyn_core.version import __version__

FLAT = (
    "string",
    "char",
    "varchar",
    "boolean",
    "tinyint",
    "byte",
    "smallint",
    "short",
    "int",
    "integer",
    "bigint",
    "long",
    "float",
    "double",
    "decimal",
    "date",
    "timestamp",
    "timestamp_ntz",
    "time",
    "void",
)
# what a plan may do: read tables, and take, change, order or bring together records, each by itself
BY_RECORD = frozenset(
    [
        "CollectMetrics",
        "CTERelationDef",
        "CTERelationRef",
        "DataSourceV2Relation",
        "Filter",
        "HiveTableRelation",
        "InMemoryRelation",
        "LocalRelation",
        "LogicalRDD",
        "LogicalRelation",
        "OneRowRelation",
        "Project",
        "Range",
        "RebalancePartitions",
        "RelationV2",
        "Repartition",
        "RepartitionByExpression",
        "ResolvedHint",
        "Sort",
        "SubqueryAlias",
        "Union",
        "View",
        "WithCTE",
    ]
)
CELL_BY_CELL = (100, 101)  # kinds of Python functions that Spark calls for each record; others see a batch of records
COLUMNS = [field.split()[0] for field in BLOCKS.split(", ")]


class SparkSource:
    """Takes a DataFrame of any session. See `Source` for what its methods promise.

    Each partition is encoded once, by the codec of every other source, and its codes stay in the executors' cache
    while the run measures. Where the schema names individuals, all records of one individual are brought together by
    Spark's shuffle first, and bounded by the rule and the keyed hash of every other source; the key is drawn once, at
    the driver, and travels to the executors inside the task. An executor that is lost takes its cache along: Spark
    computes it again from the DataFrame, by the same key. Nothing that a budget pays for is repeated by that, for
    noise is drawn at the driver, after the counts have come in.
    """

    def __init__(self, frame: Any, *, strict: bool = False, ours: bool = False) -> None:
        """Keeps the DataFrame; nothing is computed before `open`.

        strict: refuse a table with cells that the schema has no place for, an exact answer for the owner only.
        ours: the DataFrame is a table as it lies at its address, so that its plan need not be looked at.
        """
        self._frame, self._strict, self._ours = frame, strict, ours

    @contextmanager
    def open(self, schema: Schema, *, progress: Progress) -> Iterator[Opened]:
        """Blocks of codes stay in the executors' memory, and on their disks where that is full, until this is left.

        Raises:
            TableError: a column is missing, repeated or not flat; the DataFrame is a stream, draws values anew
                whenever it is computed, so that its second computation would be another table, or does more than
                read each record by itself.
        """
        progress("encoding", 0, 1)
        frame, session = self._frame, self._frame.sparkSession
        if not self._ours:
            spoken(lambda: check_plan(frame))
        names = tuple(spoken(lambda: frame.columns))
        headers.check(names)
        at = columns_of(schema, names)
        check_flat(frame, at)
        work = encoding(schema, tuple(names[i] for i in at), session, strict=self._strict)

        def plan() -> Any:
            # positions stand for names, which Spark compares without case
            narrow = frame.toDF(*[f"c{i}" for i in range(len(names))]).select(*[f"c{i}" for i in at])
            return narrow.mapInArrow(guarded(lambda batches: encode(of_frame(batches, work), work)), ENCODED)

        with counted(session, plan, work) as (counter, n_records):
            yield Opened(counter=counter, n_records=n_records, columns=names)

    def returned(self, table: Any) -> Any:
        """The synthetic pyarrow table as a DataFrame of the same session."""
        return self._frame.sparkSession.createDataFrame(table)

    def spread(self, work: Callable[[int], str], number: int) -> list[str]:
        """Runs `work` on the executors, which synthesizes records; see `Spreading`."""
        return spread(self._frame.sparkSession, work, number)


def columns_of(schema: Schema, names: Sequence[str]) -> list[int]:
    """Positions of the columns that a run reads. Raises TableError for one that is missing."""
    key = schema.unit.identifier
    columns = Codec(schema).reads + ([] if key is None else [key])
    return sorted(set(headers.locate(names, columns)))


def encoding(schema: Schema, columns: tuple[str, ...], session: Any, *, strict: bool) -> EncodeTask:
    """What tasks have to know, with a fresh key where individuals are named."""
    return EncodeTask(
        schema=schema,
        columns=columns,
        strict=strict,
        key=None if schema.unit.identifier is None else draw_key(),
        parts=max(1, int(session.conf.get("spark.sql.shuffle.partitions", "200"))),
        version=__version__,
    )


@contextmanager
def counted(session: Any, encoded: Callable[[], Any], work: EncodeTask) -> Iterator[tuple[SparkCounter, int]]:
    """Bounds and caches encoded records, and gives their counter and number; frees the cache on leaving.

    encoded: plans a DataFrame of the columns of ENCODED.
    """

    def plan() -> Any:
        if work.key is None:
            return encoded().drop("names").persist()
        # groups, not partitions: Spark guarantees that a group comes whole to its task
        bounded = guarded_call(lambda table: bound_part(table, work))
        return encoded().groupBy("part").applyInArrow(bounded, BOUNDED).persist()

    codec, blocks = Codec(work.schema), spoken(plan)
    try:
        placed = _computed(session, blocks, strict=work.strict)
        n_records = sum(b.records for b in placed)
        if work.strict and not n_records:
            msg = f"the table has no records; give a table with at least one {ONLY_OWNER}"
            raise TableError(msg)
        yield SparkCounter(blocks.select(*COLUMNS), placed, codec.domain, codec.dtype), n_records
    finally:
        with contextlib.suppress(Exception):  # a session that is gone has freed it
            blocks.unpersist()


def _computed(session: Any, blocks: Any, *, strict: bool) -> list[Placed]:
    """Computes and caches the blocks, and says where they are. Raises what an executor refused, as it was there."""
    rows = collected(session, lambda: blocks.select("part", "place", "records", "fault"))
    faults = sorted(rows.column("fault").drop_null().to_pylist())
    if faults:
        kind, _, message = faults[0].partition(":")
        error = getattr(errors, kind, EngineError)
        raise error(f"{message} {ONLY_OWNER}" if strict and error is TableError else message)
    return [
        Placed(part=row["part"], place=row["place"], records=row["records"])
        for row in rows.select(["part", "place", "records"]).to_pylist()
    ]


def check_plan(frame: Any) -> None:
    """Raises TableError for a DataFrame in which one record decides about others, or that is another one each time.

    With a limit, a sample, an average, a join or types that Spark guesses from all values, a record more changes what
    is read of others; with some of them, so does an executor that is lost and computed again.
    """
    if frame.isStreaming:
        msg = "the DataFrame is a stream, which has no end; write it to a table and give that"
        raise TableError(msg)
    java = getattr(frame, "_jdf", None)
    if java is None:
        msg = (
            "a DataFrame of Spark Connect does not say how it is computed, so that nobody can check that it reads each "
            "record by itself; write it to Parquet and give the address"
        )
        raise TableError(msg)
    plan = java.queryExecution().analyzed()
    if not plan.deterministic():
        msg = (
            "the DataFrame draws values anew whenever it is computed (rand, uuid, monotonically_increasing_id or a "
            "function marked so); write it to a table and give that"
        )
        raise TableError(msg)
    does = "a query within a query" if plan.subqueriesAll().size() else _beyond(plan)
    if does:
        msg = (
            f"the DataFrame does more than read each record by itself ({does}), so that one record could decide about "
            "others; write it to a table and give that"
        )
        raise TableError(msg)


def _beyond(plan: Any) -> str:
    """What a plan does beside reading each record by itself; empty where it does nothing else."""
    name = str(plan.nodeName())
    if name not in BY_RECORD:
        return name
    if name == "LogicalRelation" and plan.relation().getClass().getSimpleName() == "HadoopFsRelation":
        guessed = plan.relation().options().get("inferschema")
        if guessed.isDefined() and guessed.get().lower() == "true":
            return "inferSchema"
    computed = (_computed_beyond(value) for value in _each(plan.expressions()))
    below = (_beyond(child) for child in _each(plan.children()))
    return next(filter(None, chain(computed, below)), "")


def _computed_beyond(value: Any) -> str:
    """As `_beyond`, of an expression of a plan."""
    kind = value.getClass().getSimpleName()
    if kind == "PythonUDF" and value.evalType() not in CELL_BY_CELL:
        return "a function of pandas or Arrow, which sees many records together"
    if kind == "RaiseError":
        return "raise_error or assert_true, which stop the run at one record"
    return next(filter(None, (_computed_beyond(below) for below in _each(value.children()))), "")


def _each(sequence: Any) -> Iterator[Any]:
    """Members of a sequence of Scala."""
    return (sequence.apply(i) for i in range(sequence.size()))


def check_flat(frame: Any, at: list[int]) -> None:
    """Raises TableError unless the columns at these positions are text, numbers, booleans, dates or times."""
    for i in at:
        field = frame.schema.fields[i]
        kind = field.dataType.typeName().split("(")[0]
        if kind not in FLAT:
            msg = (
                f"column '{headers.short(field.name)}' has the type {kind}, which is not flat; "
                "give text, numbers, booleans or dates"
            )
            raise TableError(msg)
