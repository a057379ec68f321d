"""Jobs on Spark: what runs on executors says nothing of a record when it fails, and the driver says one sentence."""

from __future__ import annotations

import contextlib
import logging
import threading
import uuid
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from dpsyn_core.errors import DPSynError, EngineError, SettingError, SizeError, TableError

LACKING = "No module named 'dpsyn_core"
MEMORY = ("MemoryError", "OutOfMemoryError", "maxResultSize")

Task = Callable[[Iterator[Any]], Iterator[Any]]


def guarded(work: Task) -> Task:
    """Work on the batches of a partition, whose failure says what kind it was and nothing else.

    Words of other libraries may quote a cell, and Spark passes them to the driver, its logs and its history.
    """

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield from work(batches)
        except Exception as error:  # noqa: BLE001  (of any kind)
            failure = failed(error)
        else:
            return
        raise failure  # outside of the handler, so that it carries no other error along

    return task


def guarded_call(work: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """As `guarded`, for work that is called with one table and returns one."""
    whole = guarded(lambda tables: map(work, tables))
    return lambda table: next(whole(iter([table])))


def failed(error: Exception) -> EngineError:
    """What a task raises: our own sentences, which quote no cell, and of all other errors their kind alone."""
    if isinstance(error, DPSynError):
        return EngineError(str(error))
    return EngineError(f"a task failed on private records ({type(error).__name__})")


def spoken(call: Callable[[], Any]) -> Any:
    """What a call that reaches Spark returns. Planning counts too: Spark computes small tables while it plans.

    Raises:
        InputError: Spark could not do it; one sentence, without the words of Spark, which may quote cells.
    """
    with unlogged():
        try:
            return call()
        except DPSynError:
            raise
        except Exception as error:  # noqa: BLE001  (Java, Python and network errors)
            failure = sentence(error)
    raise failure  # outside of the handler, so that it carries no other error along


def collected(session: Any, plan: Callable[[], Any]) -> Any:
    """The Spark DataFrame that a plan makes, as a pyarrow table at the driver. An interrupt ends its tasks too.

    Raises what `spoken` does.
    """
    tag = f"dpsyn-{uuid.uuid4().hex}"
    session.addTag(tag)
    try:
        return spoken(lambda: plan().toArrow())
    except (KeyboardInterrupt, SystemExit):
        interrupt(session, tag)
        raise
    finally:
        session.removeTag(tag)


def spread(session: Any, work: Callable[[int], str], number: int) -> list[str]:
    """What work(0) .. work(number - 1) return, each a task of its own; for work on released values. See `collected`."""

    def each(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for i in batch.column(0).to_pylist():
                yield pa.record_batch([pa.array([i], pa.int64()), pa.array([work(i)], pa.string())], ["id", "outcome"])

    table = collected(
        session, lambda: session.range(0, number, 1, number).mapInArrow(guarded(each), "id bigint, outcome string")
    )
    found = dict(zip(table.column("id").to_pylist(), table.column("outcome").to_pylist(), strict=True))
    return [found[i] for i in range(number)]


@contextlib.contextmanager
def unlogged() -> Iterator[None]:
    """Keeps what Java says, which may quote cells, out of Python's logs.

    At DEBUG the wire between the two is logged; and pyspark logs errors of expressions to stderr by itself.
    """
    from pyspark.logger import PySparkLogger

    wire = logging.getLogger("py4j")
    before = wire.level
    own = [PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("SQL", "DataFrame")]
    disabled = [logger.disabled for logger in own]
    wire.setLevel(logging.WARNING)
    for logger in own:
        logger.disabled = True
    try:
        yield
    finally:
        wire.setLevel(before)
        for logger, was in zip(own, disabled, strict=True):
            logger.disabled = was


def interrupt(session: Any, tag: str) -> None:
    """Ends the jobs of a tag without waiting for a cluster that may not answer."""
    ending = threading.Thread(target=_interrupt, args=(session, tag), daemon=True)
    ending.start()
    ending.join(timeout=2)


def _interrupt(session: Any, tag: str) -> None:
    with contextlib.suppress(Exception):  # the session may be gone, and the jobs with it
        session.interruptTag(tag)


def sentence(error: BaseException) -> DPSynError:
    """What the driver says of a failure, from its kind alone; the words of Spark stay where they are."""
    said = str(error)
    if LACKING in said:
        return SettingError(
            "the executors have no dpsyn_core; install the same version of dpsyn-studio in the Python environment "
            "of every executor (docs/scale-spark.md)"
        )
    if any(word in said for word in MEMORY):
        return SizeError(
            "an executor or the driver had too little memory; use more partitions, or give spark.executor.memory, "
            "spark.executor.memoryOverhead or spark.driver.maxResultSize a larger value"
        )
    return TableError(
        f"Spark could not finish a job ({type(error).__name__}); its own log says why, and may quote cells of the "
        "table: it is for the owner only"
    )
