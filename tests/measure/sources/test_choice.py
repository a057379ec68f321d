"""The choice of an engine: at the very ends of memory and scratch space, and as the owner is told it."""

import pandas as pd
import pyarrow as pa
import pytest

from dpsyn_core.errors import SettingError, SizeError, TableError
from dpsyn_core.measure.sources import choice
from dpsyn_core.measure.sources.choice import choose, memory_of, period, scratch_of, shown, source_of, vouched
from dpsyn_core.measure.sources.memory import GatheredSource, MemorySource
from dpsyn_core.measure.sources.stored import StoredSource
from dpsyn_core.progress import silent
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.batches import Batches
from dpsyn_core.tables.frames import of_frame
from dpsyn_core.tables.read_form import ReadForm
from tests.schema.helpers import cat

COLUMNS = ("who", "a", "b", "c")


def records(number, known=True):
    """A table of four columns that says how many records it has, or only how many bytes: two a cell at least."""
    named = {"records": number} if known else {"size": number * 2 * len(COLUMNS)}
    return Batches(columns=COLUMNS, read=lambda: iter(()), **named)


def schema(*sizes, identifier=None):
    """One attribute of each size."""
    attributes = [cat(f"a{i}", [f"v{j}" for j in range(size)]) for i, size in enumerate(sizes)]
    unit = {} if identifier is None else {"unit": {"identifier": identifier, "max_records": 1}}
    return Schema.of({"version": 1, "name": "t", "attributes": attributes, **unit})


@pytest.mark.parametrize("number", [0, 1, 12_345, 10**8])
def test_a_table_is_counted_in_memory_up_to_the_last_byte_that_may_be_used(number, monkeypatch):
    monkeypatch.setattr("dpsyn_core.scratch.room", lambda: 10**15)
    need = 300e6 + 20 * 4 * number
    whole = choose(records(number), engine=None, memory=int(need))
    parts = choose(records(number), engine=None, memory=int(need) - 1)
    assert (whole.engine, whole.memory, whole.scratch) == ("memory", need, 0)
    assert (parts.engine, parts.memory, parts.scratch) == ("stored", need - 1, 4 * number)
    assert whole.seconds == parts.seconds == pytest.approx(3e-7 * 4 * number)
    assert (f"a run takes about {period(3e-7 * 4 * number)} on" in whole.why) == (number > 0)
    assert "was asked for" not in whole.why
    assert choose(records(number), engine="stored", memory=10**15).memory == need
    assert "the engine 'stored' was asked for" in choose(records(number), engine="stored", memory=10**15).why


def test_only_the_columns_that_a_schema_names_are_weighed():
    assert choose(records(1000), engine="memory", memory=None, schema=schema(2, 2)).memory == 300e6 + 20 * 2 * 1000


def test_without_a_limit_half_of_the_memory_of_the_machine_is_used(monkeypatch):
    monkeypatch.setattr("dpsyn_core.scratch.room", lambda: 10**15)
    monkeypatch.setattr(choice, "physical_mb", lambda: 601)
    half = 601 * 1024 * 1024 // 2
    fits = (half - 300_000_000) // (20 * 4)
    assert choose(records(fits), engine=None, memory=None).engine == "memory"
    assert choose(records(fits + 1), engine=None, memory=None).engine == "stored"


@pytest.mark.parametrize(("sizes", "bytes_of_record"), [((256,), 1), ((257,), 2), ((2, 256, 257), 4)])
def test_a_record_on_disk_takes_a_byte_an_attribute_or_two_and_a_name_takes_more_while_it_is_bounded(
    sizes, bytes_of_record
):
    assert scratch_of(records(100), schema(*sizes)) == 100 * bytes_of_record
    assert scratch_of(records(100), schema(*sizes, identifier="who")) == 100 * (2 * bytes_of_record + 40)


def test_codes_that_fit_the_scratch_space_to_the_byte_are_stored_and_a_guess_refuses_nothing(monkeypatch):
    monkeypatch.setattr("dpsyn_core.scratch.room", lambda: 4000)
    assert choose(records(1000), engine="stored", memory=None).scratch == 4000
    assert choose(records(1001, known=False), engine="stored", memory=None).engine == "stored"
    with pytest.raises(SizeError, match="4 KB of scratch space"):
        choose(records(1001), engine="stored", memory=None)
    assert choose(records(1001), engine="memory", memory=None).engine == "memory"


@pytest.mark.parametrize(("power", "letter"), list(enumerate("KMGT", 1)))
def test_units_are_powers_of_a_thousand_and_of_1024(power, letter):
    for base, unit in ((1000, letter), (1024, f"{letter}i")):
        times = 600 if power > 2 else 10**6
        for text in (f"{times}{unit}", f" {times} {unit.lower()}b "):
            assert memory_of(text) == times * base**power


def test_the_least_memory_is_500_mb_to_the_byte():
    assert memory_of(500_000_000) == memory_of("500000000") == memory_of("500000000B") == 500_000_000
    with pytest.raises(SettingError, match=r"500 MB; it must be at least 500 MB"):
        memory_of(499_999_999)


@pytest.mark.parametrize(
    ("size", "words"),
    [
        *((0, "0 KB"), (999, "0.999 KB"), (10**6 - 1, "1e+03 KB"), (10**6, "1 MB"), (10**9 - 10**7, "990 MB")),
        *((10**9, "1 GB"), (10**12 - 10**10, "990 GB"), (10**12, "1 TB"), (25 * 10**14, "2.5e+03 TB")),
    ],
)
def test_sizes_are_said_in_the_largest_unit_that_they_reach(size, words):
    assert shown(size) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.0, "1 s"), (2.4, "2 s"), (99, "99 s"), (100, "2 minutes"), (3000, "50 minutes")]
)
def test_times_are_said_in_seconds_and_from_a_hundred_of_them_in_minutes(seconds, words):
    assert period(seconds) == words


def test_every_kind_of_table_gets_the_source_of_its_engine(tmp_path):
    table = of_frame(pa.table({"a": ["x"]}))
    place = tmp_path / "t.csv"
    place.write_text("a\nx\n")
    frame = pd.DataFrame({"a": ["x"]})
    kinds = {
        (engine, kind): type(source_of(given, engine=engine))
        for engine in (None, "memory", "stored")
        for kind, given in (("batches", table), ("path", place), ("text", str(place)), ("frame", frame))
    }
    for (engine, kind), found in kinds.items():
        expected = StoredSource if engine == "stored" else MemorySource if kind == "frame" else GatheredSource
        assert found is expected, (engine, kind)


def test_a_table_with_cells_that_do_not_fit_is_refused_only_where_that_is_asked_for():
    frame, known = pa.table({"a0": ["v0", "elsewhere"]}), schema(2)
    for engine in (None, "stored"):
        with source_of(frame, engine=engine).open(known, progress=silent) as opened:
            assert opened.n_records == 1
        with pytest.raises(TableError), source_of(frame, engine=engine, strict=True).open(known, progress=silent):
            pass


def test_an_engine_is_refused_for_what_counts_in_its_own_way():
    source = MemorySource(None)
    for engine in ("memory", "stored", "spark"):
        with pytest.raises(SettingError, match=f"the engine is '{engine}', and the source"):
            source_of(source, engine=engine)
    abroad = type("DataFrame", (), {"__module__": "pyspark.sql.dataframe"})()
    for engine in ("memory", "stored"):
        with pytest.raises(SettingError, match="leave engine out"):
            source_of(abroad, engine=engine)
    with pytest.raises(SettingError, match="takes a Spark DataFrame, or a path"):
        source_of({"a": [1]}, engine="spark")


def test_the_word_of_an_owner_is_read_off_the_table_or_the_source_that_holds_it():
    mine = Batches(columns=COLUMNS, read=lambda: iter(()), form=ReadForm(sql_query="SELECT 1", query_vouched=True))
    assert vouched(mine) and vouched(GatheredSource(mine)) and vouched(StoredSource(mine))
    assert not vouched(records(1)) and not vouched(GatheredSource(records(1))) and not vouched(None)
