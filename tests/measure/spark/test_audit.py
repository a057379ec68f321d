"""The audits on codes that lie with executors of Spark: independent samples, the same bytes as in memory, and bounds.

The other statistics of T0 are those of the noise, which the driver draws whatever counts.
"""

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.measure.sources.memory import MemorySource
from dpsyn_core.measure.spark.source import SparkSource
from dpsyn_core.progress import silent
from dpsyn_core.schema.document import Schema
from tests.audit import layers, recordwise
from tests.audit.layers import t0_samples, t1, t2
from tests.audit.world import ARBITRARY, main_offer, pairs

pytestmark = [pytest.mark.spark, pytest.mark.chance("T0")]
SYSTEMS = ["independent", pytest.param("rls", marks=pytest.mark.slow)]


@pytest.fixture
def few(monkeypatch):
    """One offer of a system, since every count is a job."""
    monkeypatch.setattr(layers, "offers", lambda name: [main_offer(name)])


@pytest.mark.slow  # every step is a job of the cluster
def test_t0_samples_of_records_on_executors_say_nothing_of_each_other(on_executors, monkeypatch):
    monkeypatch.setattr(layers, "MemoryCounter", on_executors)
    t0_samples(steps=40)


@pytest.mark.parametrize("name", SYSTEMS)
def test_t1_a_system_gives_the_same_bytes_on_executors_as_in_memory(name, on_executors, few, monkeypatch):
    in_memory = t1(name, tables=ARBITRARY[1:3])
    monkeypatch.setattr(layers, "MemoryCounter", on_executors)
    assert t1(name, tables=ARBITRARY[1:3]) == in_memory


@pytest.mark.parametrize("name", SYSTEMS)
def test_t2_neighbours_on_executors_move_every_access_by_at_most_what_is_charged(
    name, on_executors, few, monkeypatch
):  # fmt: skip
    monkeypatch.setattr(layers, "MemoryCounter", on_executors)
    t2(name, seeds=(), pairs_of=lambda neighbours: pairs(neighbours)[-1:])


def test_a_record_becomes_the_same_in_a_partition_of_its_own_and_among_others(spark):
    rng = recordwise.Chance("spark", None)
    texts = [[None if v is None else recordwise.as_text(v) for v in row] for row in recordwise.records(rng, 8, ODD)]
    table = pa.table([pa.array(c, pa.string()) for c in zip(*texts, strict=True)], names=recordwise.COLUMNS)
    columns = [pa.array(np.arange(8) % 3 + 0.5), *table.columns]
    table = pa.table(columns, names=["pay more", *table.column_names])
    document = recordwise.declared(cells=False).document()  # records without a place are left out, by themselves
    schema = Schema.of(document | {"unit": {"max_records": 1}})  # bounding looks at all records of an individual
    alone = spark.createDataFrame(table).repartition(8)
    whole = occupied(MemorySource(table), schema)
    for frame in (alone, alone.coalesce(1)):
        found = occupied(SparkSource(frame), schema)
        assert all(np.array_equal(a, b) for a, b in zip(whole, found, strict=True))


ODD = [None, "", " ", *recordwise.TEXTS]


def occupied(source, schema):
    """Every record as the cell of all its codes, and how often it stands."""
    with source.open(schema, progress=silent) as opened:
        return [np.array(opened.n_records), *opened.counter.occupied(opened.counter.domain.names)]
