"""The Spark session of a command: a cluster that exists, or executors on this machine."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dpsyn_core.errors import SettingError
from dpsyn_core.extras import absent

HERE = "127.0.0.1"
QUIET = {
    "spark.app.name": "dpsyn",
    "spark.ui.enabled": "false",  # its pages show plans and logs to whoever reaches the port
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # messages of failed tasks may quote cells
}
LOCAL = {
    "spark.driver.host": HERE,
    "spark.driver.bindAddress": HERE,
    "spark.sql.shuffle.partitions": "16",
    # a busy machine is slow, and not gone
    "spark.network.timeout": "600s",
    "spark.executor.heartbeatInterval": "60s",
    "spark.python.authenticate.socketTimeout": "120s",
}
INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"
NO_SETTINGS: Mapping[str, str] = {}


def settings_of(pairs: Sequence[str]) -> dict[str, str]:
    """Settings that were typed as spark.name=value. Raises SettingError for what is none."""
    out = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name.startswith("spark."):
            msg = f"--spark-conf got '{name}'; it needs the form spark.name=value"
            raise SettingError(msg)
        out[name] = value
    return out


@contextmanager
def session(master: str | None, settings: Mapping[str, str] = NO_SETTINGS) -> Iterator[Any]:
    """A SparkSession, stopped afterwards unless it was there before.

    Args:
        master: address of a cluster, or local[2]; None: what spark-submit or the settings of this machine's Spark say.
        settings: of Spark, beside those of the command, which they replace where they name the same.

    Raises:
        ExtraError: pyspark is missing. SettingError: Java is missing, or the cluster cannot be reached.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        what = "the engine 'spark'"
        raise absent(what, extra="spark") from error
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    if master is None or not master.startswith("sc://"):
        check_java()
    local = master is not None and master.startswith("local")
    prepare(local=local)
    builder = SparkSession.builder
    for name, value in (QUIET | (LOCAL if local else {}) | dict(settings)).items():
        builder = builder.config(name, value)
    if master is not None:
        builder = builder.remote(master) if master.startswith("sc://") else builder.master(master)
    try:
        created = builder.getOrCreate()
    except Exception as error:  # noqa: BLE001  (Java, Python and network errors)
        kind = type(error).__name__
    else:
        try:
            yield created
        finally:
            created.stop()
        return
    msg = f"no Spark session could be opened ({kind}); check --spark-master, the version of Java and the network"
    raise SettingError(msg)


@contextmanager
def as_text(spark: Any) -> Iterator[None]:
    """Lets columns that are named by folders (zip=01234) be text while an address is looked at.

    Else Spark makes numbers or dates of them where all folders have such names, so that one more folder, of one
    record perhaps, changes 1234 to 01234 for everybody.
    """
    before = spark.conf.get(INFERENCE)
    spark.conf.set(INFERENCE, "false")
    try:
        yield
    finally:
        spark.conf.set(INFERENCE, before)


def prepare(*, local: bool) -> None:
    """Environment of a driver that is about to start.

    Executors take the interpreter that PYSPARK_PYTHON names. On this machine that is the one that runs now, or they
    would find no pyarrow; and they listen on the loopback address, or they are lost where the machine has no other.
    """
    if local:
        os.environ["SPARK_LOCAL_IP"] = HERE
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    else:
        os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)


def check_java() -> None:
    """Raises SettingError where there is no Java runtime."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java", path=f"{home}/bin" if home else None) is None:
        msg = "the engine 'spark' needs Java 17 or newer; on Debian: apt-get install default-jre-headless"
        raise SettingError(msg)
