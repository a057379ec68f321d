"""Spark with real executor processes: the counts of every other source, one charge, one sentence when it fails."""

import logging
import os
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import DPSynError, TableError
from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.records import shards
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.counting.sums import SumRule, one_hot
from dpsyn_core.measure.sources import bounding
from dpsyn_core.measure.sources.choice import source_of
from dpsyn_core.measure.sources.memory import MemorySource
from dpsyn_core.measure.spark import counter as counting
from dpsyn_core.measure.spark import source as spark_source
from dpsyn_core.measure.spark.files import SparkFiles
from dpsyn_core.measure.spark.session import INFERENCE
from dpsyn_core.measure.spark.source import SparkSource, check_plan
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.progress import silent
from dpsyn_core.runs.measurement import measure
from dpsyn_core.runs.parts import PendingRelease
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.writer import Places, write_release
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.computation import measured_part
from dpsyn_core.schema.rules.rule_breaks import broken_counts
from dpsyn_core.tables import read as opening
from dpsyn_core.tables.read_form import ReadForm
from tests.audit.whole import crowd, rows, schema
from tests.schema.helpers import cat, num
from tests.schema.rules.test_spans import IN, OUT, SPAN, stays
from tests.schema.rules.test_spans import declared as dated
from tests.systems.test_counters import made

pytestmark = pytest.mark.spark
KEY = bytes(range(32))
SETS = [(), ("city",), ("city", "age"), ("age", "smokes"), ("city", "age", "smokes")]
COARSE = {"age": Coarsening.of([0, 0, 1, 1, 2, 3])}
RULE = SumRule(features=one_hot(schema().domain()), clip=1.0, cells=schema().domain().sizes[0] + 9)


def people(n, seed):
    """Records of a few individuals each: odd cells, accents in two spellings, names that are blank."""
    rng = np.random.default_rng(seed)
    names = ["ann", "bob", "Jos\u00e9", "Jose\u0301", " ", "eve", *(f"p{i}" for i in range(n // 5))]
    records = [
        (
            str(rng.choice(names)),
            str(rng.choice(["rome", "oslo", "", "atlantis"])),
            str(rng.choice(["4", "55", "?", "1e9", "30.5"])),
            str(rng.choice(["no", "yes", "maybe"])),
        )
        for _ in range(n)
    ]
    return rows(*records)


def declared(theta):
    unit = {"neighbours": "add-remove", "identifier": "who", "max_records": theta}
    return schema(unit=unit) if theta else schema(unit={"neighbours": "add-remove", "max_records": 1})


def squares(block):
    """A map for sums: the features, each row by itself."""
    return [block[:, : RULE.cells]]


def everything(counter):
    """All that a counter says, comparable; the cells of the whole record are the multiset of all records."""
    whole = counter.occupied(counter.domain.names)
    coarse = counter.occupied(("age", "city"), COARSE)
    return [
        *counter.marginals(SETS), *counter.marginals(SETS, COARSE), *whole, *coarse, counter.vector_sum(RULE, [squares])
    ]  # fmt: skip


def counted(source, schema):
    with source.open(schema, progress=silent) as opened:
        return [np.array(opened.n_records), *everything(opened.counter)]


@pytest.fixture
def one_key(monkeypatch):
    """Sources that draw their key anew keep different records of an individual; with one key, the same."""
    monkeypatch.setattr(bounding, "draw_key", lambda: KEY)
    monkeypatch.setattr(spark_source, "draw_key", lambda: KEY)


@pytest.mark.parametrize("theta", [None, 1, 3])
def test_counts_and_bounded_records_are_those_of_a_table_in_memory(theta, spark, one_key):
    table = people(3000, seed=theta or 0)
    frame = spark.createDataFrame(table).repartition(5)
    expected, found = counted(MemorySource(table), declared(theta)), counted(SparkSource(frame), declared(theta))
    assert len(expected) == len(found)
    assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))
    assert theta is None or found[0] < 3000


def test_the_time_between_close_dates_is_counted_as_it_is_in_memory(spark):
    table, known = stays(500), measured_part(dated(IN, OUT))
    found = []
    for source in (MemorySource(table), SparkSource(spark.createDataFrame(table).repartition(3))):
        with source.open(known, progress=silent) as opened:
            found.append(opened.counter.marginal(("admitted", SPAN)))
    assert np.array_equal(*found) and found[0].sum() == 500


def test_tables_that_meet_in_the_shuffle_are_those_that_the_driver_adds_up(spark, one_key, monkeypatch):
    table = people(1000, seed=9)
    frame = spark.createDataFrame(table).repartition(3)
    expected = counted(MemorySource(table), declared(3))
    monkeypatch.setattr(counting, "SMALL", 0)
    monkeypatch.setattr(counting, "ROUND", 20)
    found = counted(SparkSource(frame), declared(3))
    assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))


def deadly(marker):
    """Coarse maps that kill the executor which looks into them first; a class of a function travels by value."""

    class Deadly(dict):
        def __contains__(self, name):
            executors = [p for p in psutil.Process().parents() if p.name() == "java"]
            if executors:
                try:
                    os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    return super().__contains__(name)
                executors[0].kill()
                executors[0].wait()
            return super().__contains__(name)

    return Deadly(COARSE)


def test_an_executor_that_is_killed_while_it_counts_changes_no_count_and_costs_nothing(
    spark, one_key, tmp_path, monkeypatch
):
    table = people(2000, seed=4)
    book, marker = Ledger(tmp_path / "ledger.sqlite3"), tmp_path / "killed"
    real, seen = counting.SparkCounter.marginals, []

    def marginals(self, sets, recodes=None):
        found = real(self, sets, deadly(str(marker)))
        seen.append((sets, found))
        return real(self, sets)

    monkeypatch.setattr(counting.SparkCounter, "marginals", marginals)
    frame = spark.createDataFrame(table).repartition(4)
    release = synthesize(
        frame, declared(3), epsilon=1.0, delta=1e-6, rng=0, method="independent", ledger=book, n_records=20
    )
    assert marker.exists()
    assert len(book.entries("people")) == 1
    assert release.manifest.private
    monkeypatch.undo()
    monkeypatch.setattr(bounding, "draw_key", lambda: KEY)
    with MemorySource(table).open(declared(3), progress=silent) as opened:
        for sets, found in seen:
            expected = opened.counter.marginals(sets, COARSE)
            assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))


def test_a_dataframe_is_synthesized_and_comes_back_as_a_dataframe_of_its_session(spark, tmp_path):
    book = Ledger(tmp_path / "ledger.sqlite3")
    frame = spark.createDataFrame(rows(*crowd(400, 0))).repartition(3)
    assert isinstance(source_of(frame), SparkSource)
    release = synthesize(frame, schema(), epsilon=50.0, delta=1e-6, rng=0, method="rls", ledger=book, n_records=30)
    assert type(release.table) is type(frame)
    assert release.table.columns == ["city", "age", "smokes"]
    assert release.table.toArrow().num_rows == 30
    assert sum(m.values.sum() for m in release.marginals if len(m.attributes) == 1) / 3 == pytest.approx(400, abs=20)


@pytest.mark.parametrize("name", ["independent", "rls", "mst"])
def test_a_system_makes_the_same_records_from_executors_as_from_memory(name, on_executors):
    assert np.array_equal(made(name, on_executors), made(name, MemoryCounter))


def test_a_sample_that_the_gate_draws_reaches_the_records_it_chose(spark):
    table = rows(*[(f"p{i}", "rome", str(i % 100), "yes") for i in range(500)])
    with SparkSource(spark.createDataFrame(table).repartition(3)).open(schema(), progress=silent) as opened:
        counter = opened.counter
        chosen = np.arange(500) % 7 == 0
        one = counter.vector_sum(RULE, [squares], lambda n: chosen[:n])
        rest = counter.vector_sum(RULE, [squares], lambda n: ~chosen[:n])
        assert np.array_equal(one + rest, counter.vector_sum(RULE, [squares]))
        assert one[0] * 500 == counter.vector_sum(RULE, [squares])[0] * chosen.sum()


SECRET = "xanadu-7"


def test_what_fails_on_an_executor_or_in_java_is_one_sentence_without_a_cell(spark, caplog, capfd):
    table = rows(*crowd(50, 0), ("p1", SECRET, "4", "yes"))
    frame = spark.createDataFrame(table).coalesce(1)
    cast = frame.selectExpr("who", "cast(city as int) as city", "age", "smokes")  # fails in Java, quoting the cell
    broken = frame.withColumn("city", own(explode)("city"))  # fails in Python, quoting the cell
    with caplog.at_level(logging.DEBUG):
        for given in (cast, broken):
            with pytest.raises(TableError, match="Spark could not finish a job") as caught:
                counted(SparkSource(given), schema())
            assert caught.value.__context__ is None and caught.value.__cause__ is None
            assert SECRET not in str(caught.value)
    said = capfd.readouterr()
    assert SECRET not in caplog.text + said.out + said.err


def own(function):
    """A function of one's own in an expression."""
    from pyspark.sql.functions import udf  # not everywhere installed

    return udf(function, "string")


def explode(cell):
    raise ValueError(cell)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda s: s.range(3), "lacks the column 'city', 'age', 'smokes', 'who'"),
        (
            lambda s: s.createDataFrame(rows(*crowd(3, 0))).selectExpr("who", "array(city) city", "age", "smokes"),
            "flat",
        ),
        (lambda s: s.createDataFrame(rows(*crowd(3, 0))).selectExpr("*", "rand() x"), "draws values anew"),
        (lambda s: s.readStream.format("rate").load(), "is a stream"),
        (lambda s: s.createDataFrame(rows(*crowd(3, 0))).selectExpr("*", "city as age"), "same header 'age'"),
    ],
)
def test_dataframes_that_cannot_be_a_table_are_refused_before_anything_runs(given, words, spark):
    with pytest.raises(TableError, match=words):
        counted(SparkSource(given(spark)), schema())


@pytest.mark.parametrize(
    ("of", "word"),
    [
        (lambda f: f.limit(2), "GlobalLimit"),
        (lambda f: f.offset(2), "Offset"),
        (lambda f: f.sample(0.5, seed=1), "Sample"),
        (lambda f: f.randomSplit([0.5, 0.5], seed=1)[0], "Sample"),
        (lambda f: f.dropDuplicates(["who"]), "Deduplicate"),
        (lambda f: f.distinct(), "Deduplicate"),
        (
            lambda f: f.groupBy("who", "city", "smokes").agg({"age": "max"}).toDF("who", "city", "smokes", "age"),
            "Aggregate",
        ),
        (lambda f: f.selectExpr("*", "row_number() over (partition by city order by age) n").filter("n = 1"), "Window"),
        (lambda f: f.join(f.select("who").distinct(), "who"), "Join"),
        (lambda f: f.crossJoin(f.selectExpr("age as b")), "Join"),
        (lambda f: f.exceptAll(f.filter("city = 'rome'")), "Except"),
        (lambda f: f.selectExpr("explode(array(who, who)) who", "city", "age", "smokes"), "Generate"),
        (lambda f: f.mapInArrow(lambda batches: batches, f.schema), "MapInArrow"),
        (lambda f: f.withColumn("city", batched("pandas_udf", 200)("city")), "a function of pandas or Arrow"),
        (lambda f: f.withColumn("city", batched("pandas_udf", 204)("city")), "a function of pandas or Arrow"),
        (lambda f: f.withColumn("city", batched("arrow_udf", 250)("city")), "a function of pandas or Arrow"),
        (lambda f: f.filter(batched("pandas_udf", 200)("city").substr(1, 2) == "ro"), "a function of pandas or Arrow"),
        (lambda f: f.selectExpr("who", "if(age = 4, raise_error('4'), city) city", "age", "smokes"), "raise_error"),
        (lambda f: f.filter("assert_true(city <> 'rome') is null"), "raise_error"),
        (lambda f: f.filter(f"age > (select avg(age) from {viewed(f)})"), "a query within a query"),
        (lambda f: f.sparkSession.sql(f"select * from {viewed(f.limit(3))}"), "GlobalLimit"),
        (lambda f: f.sparkSession.sql(f"select * from {viewed(f)} tablesample (2 rows)"), "GlobalLimit"),
    ],
)
def test_a_dataframe_in_which_one_record_decides_about_others_is_refused_before_anything_runs(of, word, spark):
    frame = spark.createDataFrame(rows(*crowd(9, 0)))
    with pytest.raises(TableError, match=rf"more than read each record by itself \({word}.*write it to a table"):
        counted(SparkSource(of(frame)), schema())


def batched(kind, form):
    """A function of one's own that sees the records of a batch together."""
    from pyspark.sql import functions  # not everywhere installed

    return getattr(functions, kind)(lambda cells: cells, "string", form)


def viewed(frame):
    frame.createOrReplaceTempView("people_of_a_test")
    return "people_of_a_test"


def test_types_that_spark_guesses_from_all_values_are_refused_and_text_is_read(spark, tmp_path):
    csv.write_csv(rows(*crowd(9, 0)), tmp_path / "t.csv")
    with pytest.raises(TableError, match="inferSchema"):
        counted(SparkSource(spark.read.csv(str(tmp_path), header=True, inferSchema=True)), schema())
    assert counted(SparkSource(spark.read.csv(str(tmp_path), header=True)), schema())[0] == 9


def test_what_reads_each_record_by_itself_is_read(spark, one_key):
    from pyspark.sql.functions import udf  # not everywhere installed

    table = people(300, seed=3)
    frame = spark.createDataFrame(table)
    frame.createOrReplaceTempView("people_of_a_test")
    for given in (
        frame.orderBy("age").repartition(3, "city"),
        frame.filter("true").union(frame.filter("false")).alias("x").hint("broadcast"),
        spark.sql("with x as (select * from people_of_a_test) select who, city, age, smokes from x"),
        frame.withColumn("city", own(str)("city")),
        frame.withColumn("city", udf(str, "string", useArrow=True)("city")),
    ):
        found, expected = counted(SparkSource(given), declared(3)), counted(MemorySource(table), declared(3))
        assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))


def test_a_dataframe_that_does_not_say_how_it_is_computed_is_refused():
    with pytest.raises(TableError, match="Spark Connect"):
        check_plan(SimpleNamespace(isStreaming=False))


def test_strict_refuses_what_an_executor_finds_and_says_that_this_is_an_exact_answer(spark):
    unit = {"neighbours": "add-remove", "identifier": "who", "max_records": 2}
    table = rows(*crowd(20, 0), ("", "rome", "4", "yes"))
    with pytest.raises(TableError, match=r"names individuals but has blank cells.*exact answer"):
        counted(SparkSource(spark.createDataFrame(table), strict=True), schema(unit=unit))
    with pytest.raises(TableError, match=r"no records.*exact answer"):
        counted(SparkSource(spark.createDataFrame(table).filter("false"), strict=True), schema(unit=unit))


def test_a_table_without_records_has_no_counts_and_nothing_stays_cached(spark):
    empty = spark.createDataFrame(rows(*crowd(3, 0))).filter("false")
    found = counted(SparkSource(empty), schema())
    assert found[0] == 0
    assert not any(array.any() for array in found)
    assert isinstance(empty.toArrow(), pa.Table)
    assert spark.sparkContext._jsc.getPersistentRDDs().isEmpty()


def test_an_error_of_the_run_frees_the_cache_too(spark):
    frame = spark.createDataFrame(rows(*crowd(3, 0)))
    with pytest.raises(DPSynError), SparkSource(frame).open(schema(), progress=silent) as opened:
        opened.counter.marginals([("city", "age", "smokes")], {"age": Coarsening.of([0, 0])})
    assert spark.sparkContext._jsc.getPersistentRDDs().isEmpty()


def test_files_are_read_in_parts_by_the_executors_and_the_command_writes_the_table(
    spark, one_key, tmp_path, monkeypatch
):
    monkeypatch.setattr(opening, "PART", 4000)
    table = people(1500, seed=2)
    pq.write_table(table.slice(0, 700), tmp_path / "whole.parquet", row_group_size=200)
    folder = tmp_path / "parts"
    folder.mkdir()
    csv.write_csv(table.slice(0, 700), folder / "a.csv")
    csv.write_csv(table.slice(700), folder / "b.csv")
    for place, rest in ((folder, table), (tmp_path / "whole.parquet", table.slice(0, 700))):
        source = source_of(place, engine="spark")
        found, expected = counted(source, declared(3)), counted(MemorySource(rest), declared(3))
        assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    declared(3).dump(tmp_path / "s.json")
    out, manifest = tmp_path / "out.csv", tmp_path / "m.json"
    run = ["synth", str(folder), "--schema", str(tmp_path / "s.json"), "--epsilon", "1", "--delta", "1e-6"]
    assert main([*run, "--engine", "spark", "--quiet", "--out", str(out), "--manifest", str(manifest)]) == 0
    assert out.read_text().splitlines()[0] == "city,age,smokes"
    assert main(["verify", str(out), "--manifest", str(manifest)]) == 0


def test_executors_make_and_write_the_parts_that_one_machine_would(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "MOST", 300)
    frame = spark.createDataFrame(rows(*crowd(400, 0))).repartition(2)
    book = Ledger(tmp_path / "ledger.sqlite3")
    spec = RunSpec(epsilon=5.0, delta=1e-6, method="rls", seed=3, n_records=1000)
    there = replace(
        measure(
            source_of(frame),
            schema(),
            spec,
            facts=spec.facts(schema(), query_vouched=False),
            ledger=book,
        ),
        rng=np.random.default_rng(7),
    )
    here = replace(there, rng=np.random.default_rng(7), source=MemorySource(None))
    found, expected = (
        write_release(PendingRelease(measured=run), Places.of(f"{tmp_path / name}/", private=True))
        for run, name in ((there, "there"), (here, "here"))
    )
    assert found.digests.parts == expected.digests.parts
    assert sorted(p.name for p in (tmp_path / "there").iterdir()) == [p.name for p in found.digests.parts]
    assert [p.n_records for p in found.digests.parts] == [250] * 4


def test_executors_keep_the_rules_and_tell_how_many_cells_they_changed(spark, tmp_path):
    ruled = Schema.of({
        "version": 1, "name": "t",
        "attributes": [num("a", 0, 9, 10), num("c", 0, 18, 19), num("b", 0, 9, 10), cat("k", ["x", "y"])],
        "rules": [
            {"kind": "order", "lower": "a", "upper": "b"}, {"kind": "impossible", "where": "k = x and a = 0"},
            {"kind": "sum", "column": "c", "parts": ["a", "b"]},
        ],
    })  # fmt: skip
    records = [(a, a + b, b, "y") for a in range(10) for b in range(a, 10)] * 20
    frame = spark.createDataFrame(records, ["a", "c", "b", "k"])
    spec = RunSpec(epsilon=0.1, delta=1e-6, method="rls", seed=1, n_records=3000)
    run = measure(
        source_of(frame, schema=ruled),
        ruled,
        spec,
        facts=spec.facts(ruled, query_vouched=False),
        ledger=Ledger(tmp_path / "l.db"),
    )
    write_release(PendingRelease(measured=run), Places.of(f"{tmp_path / 'made'}/", private=True))
    whole = opening.read_table(tmp_path / "made")
    assert whole.num_rows == 3000 and not sum(n for _, n in broken_counts(whole, ruled))
    assert whole.column_names == ["a", "c", "b", "k"] and not any("c" in m.attributes for m in run.released)
    assert sum(cells for cells, _ in run.repaired) > 0


def test_a_folder_of_one_record_changes_no_value_that_other_folders_name(spark, tmp_path):
    document = schema(unit={"max_records": 1}).document()
    document["attributes"] = [{"name": "zip", "kind": "categorical", "values": ["01234", "1234", "abc"], "other": True}]
    declared = Schema.of(document)

    def counts():
        with SparkFiles(f"file://{tmp_path}", ReadForm()).open(declared, progress=silent) as opened:
            return opened.counter.marginal(("zip",)).tolist()

    for name in ("zip=01234", "zip=02"):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"age": ["4"]}), tmp_path / name / "part.parquet")
    before = counts()
    (tmp_path / "zip=abc").mkdir()
    pq.write_table(pa.table({"age": ["4"]}), tmp_path / "zip=abc" / "part.parquet")
    after = counts()
    assert before == [1, 0, 0, 1] and after == [1, 0, 1, 1]
    assert spark.conf.get(INFERENCE) == "true"


def test_text_that_is_not_utf_8_stays_in_its_own_cell_on_executors(spark):
    table = rows(*crowd(30, 0), ("p1", "\ufffd\ufffd", "4", "yes"), ("p2", "rome", "4", "yes"))
    city = "if(city = '\ufffd\ufffd', cast(unhex('C328') as string), city) as city"
    frame = spark.createDataFrame(table).selectExpr("who", city, "age", "smokes")
    unit = {"max_records": 1}
    expected = counted(MemorySource(table), schema(unit=unit))
    found = counted(SparkSource(frame.coalesce(1)), schema(unit=unit))
    assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))
