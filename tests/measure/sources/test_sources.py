"""Sources: what a run takes records from plugs in by itself, is closed before post-processing, and charges nothing."""

import weakref
from contextlib import contextmanager

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpsyn_core.errors import SchemaError, TableError
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.sources import memory
from dpsyn_core.measure.sources.base import Opened, Source, encoded_batches
from dpsyn_core.measure.sources.bounding import bound
from dpsyn_core.measure.sources.choice import source_of
from dpsyn_core.measure.sources.memory import MemorySource
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.progress import silent
from dpsyn_core.runs.further_marginals import release_marginals
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.schema.codec import Codec, Encoded
from dpsyn_core.systems.independent import Independent
from dpsyn_core.tables.batches import of_table
from tests.audit.whole import crowd, rows, schema
from tests.systems.harness import PlainCounter


class Diary:
    """A source of a kind that no release has heard of: two batches, a counter of its own, rows as dictionaries."""

    def __init__(self, *batches):
        self.batches = batches
        self.events = []

    @contextmanager
    def open(self, schema, *, progress):
        progress("encoding", 0, 1)
        codec = Codec(schema)
        encoded = [codec.encode(b) for b in self.batches]
        who = pa.concat_arrays([e.identifiers.dictionary_decode() for e in encoded]).dictionary_encode()
        # together: an individual may have records in both batches
        whole = Encoded(codes=np.hstack([e.codes for e in encoded]), identifiers=who)
        codes = bound(whole, schema.unit.max_records)
        self.events.append("opened")
        try:
            yield Opened(
                counter=PlainCounter(codes, codec.domain), n_records=codes.shape[1], columns=("age", "who", "city")
            )
        finally:
            self.events.append("closed")

    def returned(self, table):
        return table.to_pylist()


@pytest.fixture
def book(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite3")


def run(source, book, declared=None, **changes):
    given = {"epsilon": 50.0, "delta": 1e-6, "rng": 0, "method": "independent", "ledger": book} | changes
    return synthesize(source, declared or schema(), **given)


def two_batches():
    everyone = crowd(400, 0)
    return Diary(rows(*everyone[:150]), rows(*everyone[150:]))


def test_a_source_that_no_release_knows_is_synthesized_and_gets_back_its_own_kind_of_table(book):
    source = two_batches()
    made = run(source, book, n_records=30)
    assert isinstance(source, Source)
    assert list(made.table[0]) == ["age", "city", "smokes"]  # the source's order, then what it did not name
    assert len(made.table) == 30
    total = sum(m.values.sum() for m in made.marginals) / len(made.marginals)
    assert total == pytest.approx(400, abs=10)
    assert source.events == ["opened", "closed"]


def test_what_a_source_holds_in_parts_is_bounded_over_all_of_them(book):
    mine = [("spam", "oslo", "7", "yes")] * 5
    source = Diary(rows(*mine, ("p1", "rome", "3", "no")), rows(*mine))
    with source.open(schema(), progress=silent) as opened:
        assert opened.n_records == schema().unit.max_records + 1


def test_released_marginals_take_any_source_too(book):
    source = two_batches()
    spec = RunSpec(epsilon=50.0, delta=1e-6, method="priview")
    facts = spec.facts(schema(), query_vouched=False)
    got = release_marginals(source, schema(), [["city"]], spec, facts=facts, ledger=book)
    (found,), manifest = got.found, got.manifest
    assert found.values.sum() == pytest.approx(400, abs=10)
    assert source.events == ["opened", "closed"]
    assert manifest.n_records == 0


def test_a_source_is_closed_when_the_run_fails_and_the_charge_stays(book, monkeypatch):
    source = two_batches()

    def dies(*_args, **_kwargs):
        raise MemoryError

    monkeypatch.setattr(PlainCounter, "marginal", dies)
    with pytest.raises(MemoryError):
        run(source, book)
    assert source.events == ["opened", "closed"]
    assert len(book.entries("people")) == 1


def test_a_source_is_closed_before_post_processing_begins(book, monkeypatch):
    source, real = two_batches(), Independent.synthesize

    def synthesizes(self, *args, **kwargs):
        source.events.append("synthesized")
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Independent, "synthesize", synthesizes)
    run(source, book)
    assert source.events == ["opened", "closed", "synthesized"]


def test_records_in_memory_are_freed_before_post_processing_begins(book, monkeypatch):
    alive, real = [], Independent.synthesize

    class Watched(MemoryCounter):
        def __init__(self, codes, domain):
            super().__init__(codes, domain)
            alive.extend([weakref.ref(self), weakref.ref(codes)])

    def synthesizes(self, *args, **kwargs):
        assert len(alive) == 2
        assert [r() for r in alive] == [None, None]
        return real(self, *args, **kwargs)

    monkeypatch.setattr(memory, "MemoryCounter", Watched)
    monkeypatch.setattr(Independent, "synthesize", synthesizes)
    run(rows(*crowd(60, 0)), book)


def test_the_converted_copy_of_a_table_is_freed_before_anything_is_counted(monkeypatch):
    copies, real = [], memory.to_arrow

    def converted(table):
        copy = real(table)
        copies.append(weakref.ref(copy))
        return copy

    monkeypatch.setattr(memory, "to_arrow", converted)
    with MemorySource(rows(*crowd(60, 0)).to_pandas()).open(schema(), progress=silent) as opened:
        assert opened.n_records == 60
        assert copies[0]() is None


def test_a_table_that_does_not_fit_its_schema_costs_nothing(book):
    with pytest.raises(TableError):
        run(rows(*crowd(60, 0)).drop_columns(["city"]), book)
    with pytest.raises(TableError):
        run("people.csv", book)
    assert book.entries("people") == []


def test_a_number_of_records_that_is_public_and_too_small_is_refused_for_every_source(book):
    unit = {"neighbours": "replace", "identifier": "who", "max_records": 1}
    source = two_batches()
    with pytest.raises(SchemaError, match="more records than the schema's n_records"):
        run(source, book, schema(unit=unit, n_records=399), method="dirichlet-multinomial", delta=0.0, epsilon=1.0)
    assert source.events == ["opened", "closed"]
    assert book.entries("people") == []


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.Table])
def test_a_table_in_memory_comes_back_as_what_it_was(kind, book):
    arrow = rows(*crowd(60, 0))
    given = {pd.DataFrame: arrow.to_pandas, pl.DataFrame: lambda: pl.from_arrow(arrow), pa.Table: lambda: arrow}[kind]()
    assert isinstance(source_of(given), MemorySource)
    assert isinstance(run(given, book, n_records=5).table, kind)


def test_a_source_is_taken_as_it_is():
    source = two_batches()
    assert source_of(source) is source


def test_encoding_says_when_it_begins_and_that_all_is_done_when_it_ends():
    said = []
    batches = of_table(rows(*crowd(100, 0)))
    parts = list(encoded_batches(batches, Codec(schema()), progress=lambda *step: said.append(step)))
    assert said == [("encoding", 0, 1), ("encoding", 1, 1)]
    assert sum(part.codes.shape[1] for part in parts) == batches.records
