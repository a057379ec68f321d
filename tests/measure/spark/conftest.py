import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from dpsyn_core.measure.spark import source as spark_source
from dpsyn_core.measure.spark import tasks
from dpsyn_core.measure.spark.counter import Placed, SparkCounter
from dpsyn_core.measure.spark.session import session

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # Java that starts fast, on few cores
SETTINGS = {
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.extraJavaOptions": QUICK,
    "spark.task.maxFailures": "2",
    "spark.shuffle.io.maxRetries": "1",  # waits between attempts to reach an executor that was killed
    "spark.shuffle.io.retryWait": "1s",
}
MASTER = "local-cluster[2,1,1024]"  # two executors, each a process of its own with one core and 1 GB


@pytest.fixture(scope="session")
def spark():
    """A cluster on this machine: master and workers in the driver's Java process, executors and Python in their own."""
    import pyspark

    work = Path(pyspark.__file__).parent / "work"  # where executors of such a cluster write what they print
    with session(MASTER, SETTINGS) as made:
        yield made
        logs = work / made.sparkContext.applicationId
    shutil.rmtree(logs, ignore_errors=True)


@pytest.fixture
def on_executors(spark):
    """Makes counters of codes that lie in three partitions, as MemoryCounter makes them of codes in memory."""

    def counter(codes, domain):
        parts = [codes[:, part::3] for part in range(3)]
        rows = [tasks._without_names(tasks._row(part, 0, own)) for part, own in enumerate(parts)]
        frame = spark.createDataFrame(pa.Table.from_batches(rows)).select(*spark_source.COLUMNS)
        placed = [Placed(part=part, place=0, records=own.shape[1]) for part, own in enumerate(parts)]
        return SparkCounter(frame, placed, domain, codes.dtype)

    return counter
