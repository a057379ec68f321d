"""The audits on codes that are stored on disk: the same bytes as in memory, and the same bounds for neighbours."""

import tempfile
from functools import partial

import numpy as np
import pytest

from dpsyn_core.measure.counting import stored as store
from dpsyn_core.measure.counting.stored import Store, StoredCounter
from dpsyn_core.measure.sources.choice import source_of
from dpsyn_core.measure.sources.memory import MemorySource
from dpsyn_core.progress import silent
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.batches import Batches
from tests.audit import layers, recordwise, whole
from tests.audit.layers import t0_samples, t1, t2
from tests.audit.world import accessors

pytestmark = pytest.mark.chance("T0", "T3")

QUICK = ("rls", "independent", "probe")
# itemsets holds transactions, and discovery reads columns as they are: neither has a counter of codes
COUNTED = [name for name in accessors() if name not in ("itemsets", "discovery")]


@pytest.fixture
def on_disk(monkeypatch):
    """Counters of the audits read blocks of seven records from files."""
    files = []

    def stored(codes, domain):
        files.append(tempfile.TemporaryFile())  # noqa: SIM115 closed below
        kept = Store(files[-1], domain)
        kept.append(codes)
        kept.finish()
        return StoredCounter(kept)

    monkeypatch.setattr(store, "FEWEST", 1)
    monkeypatch.setattr(store, "MOST", 7)

    def switch():
        monkeypatch.setattr(layers, "MemoryCounter", stored)

    yield switch
    for file in files:
        file.close()


def test_t0_samples_of_records_on_disk_say_nothing_of_each_other(on_disk):
    on_disk()
    t0_samples()


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in COUNTED])
def test_t1_a_system_gives_the_same_bytes_on_disk_as_in_memory(name, on_disk):
    in_memory = t1(name)
    on_disk()
    assert t1(name) == in_memory


@pytest.mark.parametrize("name", ["rls", pytest.param("p3gm", marks=pytest.mark.slow), "probe"])
def test_t2_neighbours_on_disk_move_every_access_by_at_most_what_is_charged(name, on_disk):
    on_disk()
    t2(name, seeds=(0,))


def test_t2_a_whole_release_from_disk_bounds_each_individual_and_pays_for_what_it_counts(monkeypatch):
    def from_disk(given, **more):
        return source_of(given, **more | {"engine": "stored"})

    monkeypatch.setattr("dpsyn_core.runs.synthesis.source_of", partial(from_disk))
    whole.t2_whole()
    whole.t2_crash()


def test_a_record_is_stored_the_same_alone_and_among_others(tmp_path):
    rng = recordwise.Chance("stored", tmp_path)
    rows = recordwise.records(rng, 30, recordwise.ARROW_ODD)
    table = recordwise.arrow_table(rows, rng)
    for cells in (True, False):
        document = recordwise.declared(cells=cells).document()
        schema = Schema.of(document | {"unit": {"max_records": 1}})  # bounding looks at all records of an individual
        whole, *others = [occupied(source_of(cut(table, n), engine="stored"), schema) for n in (30, 1, 7)]
        for other in others:
            assert all(np.array_equal(a, b) for a, b in zip(whole, other, strict=True))
        assert all(np.array_equal(a, b) for a, b in zip(whole, occupied(MemorySource(table), schema), strict=True))


def cut(table, n):
    """The table in batches of n records."""
    return Batches(
        columns=tuple(table.column_names), read=lambda: (table.slice(i, n) for i in range(0, table.num_rows, n))
    )  # fmt: skip


def occupied(source, schema):
    """Every record as the cell of all its codes, and how often it stands."""
    with source.open(schema, progress=silent) as opened:
        return [np.array(opened.n_records), *opened.counter.occupied(opened.counter.domain.names)]
