"""What commands share: bars of progress, flags of models, settings, and where the records of a table are counted."""

import argparse
import io
import json
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import pytest

import dpsyn_core.measure
import dpsyn_core.report
import dpsyn_core.tables
from dpsyn_core.commands import common
from dpsyn_core.commands.common import PRIVATE, Parser, TerminalProgress, parse_settings, print_json
from dpsyn_core.errors import SettingError
from dpsyn_core.tables import ReadForm


class Screen(io.StringIO):
    """A stream that is a terminal, or is none."""

    def __init__(self, live):
        super().__init__()
        self.live = live

    def isatty(self):
        return self.live

    def take(self):
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        return text


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(at=100.0)
    monkeypatch.setattr(common.time, "monotonic", lambda: now.at)
    return now


def bar(stage, marks, percent, note=""):
    return f"\r{stage:<28}[{'#' * marks:<24}] {percent:>4}{note:<14}"


def test_a_bar_is_drawn_ten_times_a_second_and_at_both_ends_of_a_stage(clock):
    screen = Screen(live=True)
    progress = TerminalProgress(screen)
    progress("reading", 0, 8)
    assert screen.take() == bar("reading", 0, "0%")
    clock.at += 0.1 - 1e-6
    progress("reading", 1, 8)
    assert not screen.take()
    clock.at += 2e-6
    progress("reading", 2, 8, 0.123456)
    assert screen.take() == bar("reading", 6, "25%", "  0.1235")
    progress("reading", 8, 8)
    assert screen.take() == bar("reading", 24, "100%")
    progress("counting", 9, 8)
    assert screen.take() == "\n" + bar("counting", 24, "100%")
    progress("empty", 0, 0)
    assert screen.take() == "\n" + bar("empty", 24, "100%")
    progress.close()
    assert screen.take() == "\n"


def test_elsewhere_each_stage_is_one_line(clock):
    screen = Screen(live=False)
    progress = TerminalProgress(screen)
    progress.close()
    for stage, done in (("reading", 0), ("reading", 1), ("counting", 0), ("counting", 1)):
        progress(stage, done, 1)
    progress.close()
    assert screen.take() == "reading\ncounting\n"
    fresh = TerminalProgress(Screen(live=True))
    fresh.close()
    assert not fresh.stream.take()


def test_json_has_two_spaces_names_as_they_are_and_no_number_that_is_none(capsys):
    print_json({"größe": [1]})
    assert capsys.readouterr().out == '{\n  "größe": [\n    1\n  ]\n}\n'
    with pytest.raises(ValueError, match="Out of range"):
        print_json({"a": float("nan")})


def test_settings_are_json_where_they_are_json_and_text_elsewhere():
    pairs = ["a=1", "b=true", "c=a=b", "d=", 'e={"x": [2]}', f"f={'9' * 5000}"]
    sought = {"a": 1, "b": True, "c": "a=b", "d": "", "e": {"x": [2]}, "f": "9" * 5000}
    assert parse_settings(pairs) == sought
    for wrong in (["a"], ["=1"], [""]):
        with pytest.raises(SettingError, match=f"--set got '{wrong[0]}'; it needs the form key=value"):
            parse_settings(wrong)
    with pytest.raises(SettingError, match="names 'a' twice"):
        parse_settings(["a=1", "a=2"])


def test_arguments_declared_late_stand_where_they_were_announced():
    parser, made = Parser(prog="p"), []

    def declare(*flags):
        return lambda: (made.append(flags), [parser.add_argument(f) for f in flags])

    parser.add_argument("--first")
    parser.later(declare("--a", "--b"))
    parser.add_argument("--middle")
    parser.later(declare("--c"))
    parser.add_argument("--last")
    assert not made
    assert parser.parse_args(["--b", "1"]).b == "1"
    shown = [a.option_strings[-1] for a in parser._actions]
    assert shown == ["--help", "--first", "--a", "--b", "--middle", "--c", "--last"]
    parser.parse_args([])
    assert len(made) == 2


def test_a_wrong_argument_is_one_sentence_and_status_2(capsys):
    with pytest.raises(SystemExit) as end:
        Parser(prog="p").parse_args(["--no"])
    assert end.value.code == 2
    assert capsys.readouterr().err == "p: unrecognized arguments: --no; see 'p --help'\n"


def reading(*words, **more):
    parser = Parser()
    common.add_reading(parser, **more)
    return parser.parse_args(list(words))


def test_every_field_of_a_reading_form_has_a_flag_with_its_default():
    args = reading()
    assert common.read_form(args) == ReadForm() and common.reading_flags(args) == []
    words = "--delimiter ; --header-row 3 --multiline --strict --sheet s --decimal ,"
    args = reading(*words.split())
    sought = ReadForm(delimiter=";", header_row=3, multiline=True, strict=True, sheet="s", decimal=",")
    assert common.read_form(args) == sought
    assert set(common.reading_flags(args)) == {"delimiter", "header_row", "multiline", "strict", "sheet", "decimal"}
    assert not hasattr(reading(but=("sheet",)), "sheet")


class Records(SimpleNamespace):
    """What opening a table gives, without a table."""

    def whole(self):
        return "all records"


def opened(monkeypatch, args, *, form=None, engine="stored", **batch):
    """What a run would count, and what was asked about where to count it."""
    seen = {}
    usual = {"small": False, "load": object(), "size": 10, "notices": ("a note",), "odd": (), "headless": False,
             "header_hint": None, "columns": ("a", "b")}  # fmt: skip
    batches = Records(**(usual | batch))

    def open_table(table, form, **more):
        seen.update(more)
        return batches

    monkeypatch.setattr(dpsyn_core.tables, "open_table", open_table)
    monkeypatch.setattr(
        dpsyn_core.measure,
        "choose",
        lambda b, **more: (seen.update(more), SimpleNamespace(engine=engine, why="why"))[1],
    )
    monkeypatch.setattr(dpsyn_core.measure, "source_of_batches", lambda *found: ("source", *found[1:]))
    usual = {"engine": None, "memory": None, "spark_master": None, "spark_conf": [], "strict": False,
             "table": "sqlite:///t"}  # fmt: skip
    read = vars(reading()) | (form or {})
    return common.open_input(Namespace(**(read | usual | args)), "schema"), seen, batches


DATABASE = {"sql_table": "t"}


@pytest.mark.parametrize(("args", "form", "batch", "engine", "whole"), [
    ({}, None, {"small": True}, "stored", True),
    ({}, None, {}, "memory", True),
    ({}, None, {}, "stored", False),
    ({}, None, {"load": None}, "memory", False),
    ({}, None, {"size": dpsyn_core.tables.MAX_FILE}, "memory", True),
    ({}, None, {"size": dpsyn_core.tables.MAX_FILE + 1}, "memory", False),
    ({}, DATABASE, {}, "stored", True),
    ({"memory": "1GB"}, DATABASE, {}, "stored", False),
    ({"memory": "1GB"}, DATABASE, {}, "memory", False),
    ({"memory": "1GB"}, DATABASE, {"small": True}, "memory", True),
    ({"engine": "memory"}, DATABASE, {}, "memory", False),
    ({"engine": "stored"}, None, {"small": True}, "stored", False),
    ({"engine": "memory"}, None, {"small": True}, "memory", True),
])  # fmt: skip
def test_small_tables_are_read_whole_and_others_are_counted_where_they_fit(
    args, form, batch, engine, whole, monkeypatch, capsys
):
    found, seen, _ = opened(monkeypatch, args, form=form, engine=engine, **batch)
    err = capsys.readouterr().err
    assert err.startswith("note: a note\n")
    if whole:
        assert found == "all records" and "engine" not in err
    else:
        memory = 10**9 if "memory" in args else None
        assert found[0] == "source" and found[2:] == (False, memory)
        assert err.endswith(f"note ({PRIVATE}): engine {engine}: why\n")
    assert seen["counted"] == (form is not None and "memory" in args and "engine" not in args)


@pytest.mark.parametrize("args", [{"spark_master": "local[2]"}, {"spark_conf": ["a=b"]}])
def test_flags_of_spark_need_its_engine(args, monkeypatch):
    with pytest.raises(SettingError, match="add --engine spark"):
        opened(monkeypatch, args)


@pytest.mark.parametrize("more", [{"sql_table": "t"}, {"sql_query": "select 1"}, {"sheet": "s"}])
def test_spark_reads_files_alone_and_counts_with_its_own_memory(more):
    args = {"engine": "spark", "memory": None, "spark_master": None, "spark_conf": [], "table": Path("t.csv")}
    with pytest.raises(SettingError, match="the engine 'spark' reads Parquet, CSV and TSV"):
        common.open_input(Namespace(**(vars(reading()) | args | more)), None)
    with pytest.raises(SettingError, match="--memory is for the engines of this machine"):
        common.open_input(Namespace(**(vars(reading()) | args | {"memory": "1GB"})), None)


@pytest.mark.parametrize(("form", "small", "whole"), [({}, True, True), (DATABASE, False, True), ({}, False, False)])
def test_of_large_files_nothing_but_some_columns_is_kept(form, small, whole, monkeypatch, capsys):
    batches, kept = (
        Records(small=small, columns=("a ", "b"), notices=(), odd=("odd",), headless=False, header_hint=None),
        {},
    )
    monkeypatch.setattr(dpsyn_core.tables, "open_table", lambda *_: batches)
    monkeypatch.setattr(
        dpsyn_core.tables, "gathered", lambda b, names, most: (kept.update(names=names, most=most), "some")[1]
    )
    monkeypatch.setattr(dpsyn_core.measure, "half_of_machine", lambda: 77)
    for memory, most in ((None, 77), ("2GB", 2 * 10**9)):
        args = Namespace(**(vars(reading()) | {"table": Path("t.csv"), "memory": memory} | form))
        assert common.read_columns(args, ["b", "c"]) == ("all records" if whole else "some", ("a ", "b"))
        assert capsys.readouterr().err == f"note ({PRIVATE}): t.csv: odd\n"
        assert kept == ({} if whole else {"names": ["b"], "most": most})


def test_a_report_reads_what_fits_into_memory_and_no_more_than_was_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(dpsyn_core.report, "most_records", lambda *given: (asked.append(given), 500)[1])
    monkeypatch.setattr(dpsyn_core.measure, "half_of_machine", lambda: 77)
    schema = SimpleNamespace(attributes=[1, 2, 3])

    def most(sample, memory=None):
        return common.most_of(Namespace(sample=sample, memory=memory), schema, 2)

    assert [most(None), most(1), most(600), most(None, "2GB")] == [500, 1, 500, 500]
    assert asked[0] == (77, 3, 2) and asked[-1] == (2 * 10**9, 3, 2)
    with pytest.raises(SettingError, match="--sample is 0; it must be a number of records, at least 1"):
        most(0)


def test_a_sample_is_drawn_and_said(monkeypatch, capsys):
    batch = Records(records=1500, drawn_from=None, notices=(), odd=(), headless=False, header_hint=None)
    monkeypatch.setattr(dpsyn_core.tables, "open_table", lambda *_: None)
    monkeypatch.setattr(dpsyn_core.tables, "at_most", lambda *_, **__: batch)
    assert common.read_sample(reading(), 1500, "t", progress=None) is batch
    assert not capsys.readouterr().err
    batch.drawn_from = 20_000
    common.read_sample(reading(), 1500, "t", progress=None)
    sought = "1,500 of its 20,000 records were drawn by chance; --memory or --sample change how many"
    assert capsys.readouterr().err == f"note ({PRIVATE}): {sought}\n"


def test_tables_of_one_file_are_read_once(monkeypatch, capsys):
    one, read = Records(notices=("x",), odd=(), headless=False, header_hint=None), []
    one.whole = lambda: read.append(1) or "all"
    monkeypatch.setattr(
        dpsyn_core.tables, "open_named", lambda *_, apart: {"a": one, "b": one} if apart else {"a": one}
    )
    args = Namespace(**(vars(reading()) | {"named": ["a=t"]}))
    assert common.read_named(args, {"a": Path("t"), "b": Path("t")}) == {"a": "all", "b": "all"} and len(read) == 1
    args.named = []
    assert common.read_named(args, {"a": Path("t")}) == {"a": "all"}
    assert capsys.readouterr().err == "note: x\n" * 2


def test_a_source_says_afterwards_what_it_could_not_read(capsys):
    common.say_odd(SimpleNamespace(batches=SimpleNamespace(odd=("one", "two"))), "t")
    common.say_odd(SimpleNamespace(batches=None), "t")
    common.say_odd(object(), "t")
    assert capsys.readouterr().err == "".join(f"note ({PRIVATE}): t: {x}\n" for x in ("one", "two"))


@pytest.fixture
def runs(tmp_path):
    from tests.commands.small import SCHEMA

    place = tmp_path / "s.json"
    place.write_text(json.dumps(SCHEMA | {"n_records": 200}))
    return place


def given(*words):
    parser = argparse.ArgumentParser()
    common.add_run(parser)
    return parser.parse_args([str(w) for w in words])


def test_flags_come_before_the_file_of_settings_and_settings_stay_with_their_system(runs, tmp_path):
    from dpsyn_core.runs import RunSettings

    first = given("--schema", runs, "--epsilon", 1, "--delta", 1e-6, "--method", "mwem", "--set", "rounds=7")
    spec, schema = common.chosen_run(first)
    assert (spec.epsilon, spec.method, spec.settings) == (1.0, "mwem", {"rounds": 7})
    place = RunSettings.of_run(spec, schema).dump(tmp_path / "run.json")
    again, same = common.chosen_run(given("--settings", place))
    assert again == spec and same.name == schema.name
    other, _ = common.chosen_run(given("--settings", place, "--epsilon", 2, "--method", "independent"))
    assert (other.epsilon, other.delta, other.method, other.settings) == (2.0, 1e-6, "independent", {})
    more, _ = common.chosen_run(given("--settings", place, "--set", "rounds=9"))
    assert more.settings == {"rounds": 9}


@pytest.mark.parametrize("name", ["schema", "epsilon", "delta"])
def test_what_a_run_cannot_do_without_is_named(name):
    words = {"schema": "s.json", "epsilon": "1", "delta": "1e-9"}
    flags = [w for k, v in words.items() if k != name for w in (f"--{k}", v)]
    shown = {"schema": "table.schema.json"}.get(name, words[name])
    with pytest.raises(
        SettingError, match=f"--{name} is missing; give it, for example --{name} {shown}, or --settings"
    ):
        common.chosen_run(given(*flags))
