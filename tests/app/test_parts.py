"""Parts of the app below the pages: words, forms, schema rows, paths, databases, plans."""

import ast
import re
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pytest
from pydantic import BaseModel, Field
from streamlit.testing.v1 import AppTest

from dpsyn_core.data import paths
from dpsyn_core.errors import TableError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs.jobs.places import FOLDERS
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems import registry
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.dry_run import plan
from tests.app_driver import rows_of
from ui.data.places import allowed
from ui.schema.rows import Row, build, changed, identified
from ui.shared.text import ASSETS, catalogue, number, t

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = Schema.load(paths("sample")[1])


def used_keys():
    """Keys of the catalogue as they stand in the code, with * for a part that is filled in."""
    for path in [ROOT / "app.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "ui").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            called = getattr(node.func, "id", "") if isinstance(node, ast.Call) and node.args else ""
            if called == "t":
                yield from keys_of(node.args[0])
            elif called in ("counted", "field"):
                for key in keys_of(node.args[0]):
                    yield from (key, f"{key}_one" if called == "counted" else f"{key}_help")
    for path in (ROOT / "ui" / "learn").glob("*.py"):
        yield from keys_of_lab(ast.parse(path.read_text("utf-8")))


def keys_of_lab(tree):
    """Keys that a lab names by its own entries: those of sentences and of controls, and of what controls offer."""
    for node in ast.walk(tree):
        func = getattr(node, "func", None)
        if getattr(getattr(func, "value", None), "id", "") != "LAB" or "label" in {k.arg for k in node.keywords}:
            continue
        lab = next(n.value.args[0].value for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "LAB")
        for entry in keys_of(node.args[0]) if node.args else ():
            if func.attr == "counted":
                yield f"learn.{lab}.{entry}_one"
            if isinstance(entry, str) and func.attr not in {"epsilon", "delta", "draw"}:
                yield f"learn.{lab}.{entry}"


def report_keys():
    """Keys of words of reports: texts in the code of the report, those of figures without their first part."""
    for path in (ROOT / "dpsyn_core" / "report").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            first = node.left if isinstance(node, ast.BinOp) else node
            if isinstance(node, ast.JoinedStr) or isinstance(getattr(first, "value", None), str):
                for key in keys_of(node):
                    if re.fullmatch(r"[a-z0-9_.*-]*[a-z][a-z0-9_.*-]*", key):
                        yield from (key, f"figure.{key}")


def keys_of(node):
    """The keys that an expression may be; none for a variable."""
    if isinstance(node, ast.Constant):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(v.value if isinstance(v, ast.Constant) else "*" for v in node.values)
    elif isinstance(node, ast.BinOp):
        yield f"{node.left.value}*"
    elif isinstance(node, ast.IfExp):
        yield from keys_of(node.body)
        yield from keys_of(node.orelse)


def test_every_word_of_the_interface_is_in_the_catalogue_and_every_entry_is_used():
    known, patterns = set(catalogue()), set(used_keys())
    plain = {k for k in patterns if "*" not in k}
    assert plain <= known, sorted(plain - known)
    patterns |= set(report_keys())
    plain = {k for k in patterns if "*" not in k}
    shapes = [re.compile(re.escape(p).replace(r"\*", ".+")) for p in [*patterns, "*.title", "*.lead"] if "*" in p]
    unused = [k for k in known - plain if not any(s.fullmatch(k) for s in shapes)]
    assert not unused, unused


def test_the_catalogue_speaks_plainly():
    banned = re.compile(r"\b(please|successfully|simply|oops)\b", re.IGNORECASE)
    assert not [k for k, v in catalogue().items() if banned.search(v)]


def test_numbers_are_written_for_people():
    assert [number(x) for x in (0, 1234567, 0.5, 123.456, 1e-9)] == ["0", "1,234,567", "0.5", "123", "1.0e-09"]


def test_no_asset_asks_another_machine_or_an_icon_font():
    for path in [*ASSETS.rglob("*.css"), *ASSETS.rglob("*.toml"), *(ROOT / "ui").rglob("*.py"), ROOT / "app.py"]:
        text = path.read_text("utf-8")
        assert ":material/" not in text, path
        assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", text), path


def test_every_systems_settings_make_a_form_that_changes_nothing_by_itself():
    def page():
        import streamlit as st

        from dpsyn_core.systems import registry
        from ui.synthesize.forms import settings_form

        st.session_state["got"] = {
            name: settings_form(registry.config_class(name), {}, key=name) for name in registry.names()
        }

    app = AppTest.from_function(page, default_timeout=300).run()
    assert not app.exception
    assert app.session_state["got"] == {name: {} for name in registry.names()}


class Example(BaseModel):
    count: int = Field(3, ge=1, le=9, title="How many")
    share: float = Field(0.5, ge=0, le=1)
    kind: Literal["a", "b"] = "a"
    flag: bool = False
    names: tuple[str, ...] = ()
    limit: float | None = None


def test_a_form_returns_what_was_changed_in_the_types_of_the_config():
    def page():
        import streamlit as st

        from tests.app.test_parts import Example
        from ui.synthesize.forms import settings_form

        st.session_state["got"] = settings_form(Example, {}, key="x")

    app = AppTest.from_function(page).run()
    app.number_input(key="x.count").set_value(5)
    app.number_input(key="x.share").set_value(0.25)
    app.selectbox(key="x.kind").set_value("b")
    app.toggle(key="x.flag").set_value(True)
    app.text_input(key="x.names").set_value("u, v")
    app.number_input(key="x.limit").set_value(2.0)
    app.run()
    got = app.session_state["got"]
    assert got == {"count": 5, "share": 0.25, "kind": "b", "flag": True, "names": ("u", "v"), "limit": 2.0}
    assert Example(**got)
    assert app.number_input(key="x.count").label == "How many"


def test_rows_of_a_schema_give_the_same_schema_back():
    rows = rows_of(SAMPLE)
    assert build(SAMPLE, rows) == SAMPLE
    assert [changed(r, r.cells()) for r in rows] == rows


@pytest.mark.parametrize(
    ("name", "cells", "problem"),
    [
        ("AGE", {"content": "old"}, "0 to 99"),
        ("AGE", {"content": "9 to 1"}, "above max"),
        ("AGE", {"bins": "many"}, "equal bins"),
        ("AGE", {"other": True}, "clamped"),
        ("SEX", {"bins": "3"}, "no bins"),
        ("SEX", {"content": ""}, "no values"),
        ("SEX", {"content": "F, F"}, "twice"),
        ("SEX", {"content": "[1, "}, "JSON"),
        ("SEX", {"kind": "number"}, "public range"),
    ],
)
def test_a_row_that_does_not_fit_keeps_the_edit_and_says_why(name, cells, problem):
    row = next(r for r in rows_of(SAMPLE) if r.name == name)
    got = changed(row, {**row.cells(), **cells})
    assert problem in got.problem
    assert got.document == row.document
    assert got.cells()[next(iter(cells))] == next(iter(cells.values()))


def test_an_edit_of_one_field_keeps_what_the_table_does_not_show():
    row = next(r for r in rows_of(SAMPLE) if r.name == "INCWAGE")
    got = changed(row, {**row.cells(), "missing": True}).document
    assert got["bins"] == row.document["bins"]
    assert got["special_values"] == row.document["special_values"]
    assert got["missing"] is True


def test_a_value_with_a_comma_survives_an_edit_of_its_neighbours():
    document = {"name": "town", "kind": "categorical", "values": ["Paris, Texas", "Lyon"], "source": "public"}
    row = Row(document, {})
    assert row.cells()["content"] == '["Paris, Texas", "Lyon"]'
    got = changed(row, {**row.cells(), "content": '["Paris, Texas", "Lyon", "Rome"]'})
    assert got.document["values"] == ["Paris, Texas", "Lyon", "Rome"]


def test_a_shared_server_reads_only_the_folders_that_its_operator_names(tmp_path, monkeypatch):
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "a.csv").write_text("a\n1\n")
    monkeypatch.setenv(FOLDERS, str(inside))
    assert allowed(str(inside / "a.csv"))
    for path in (outside / "a.csv", inside / ".." / "out" / "a.csv"):
        with pytest.raises(TableError, match="does not read that folder"):
            allowed(str(path))
    (inside / "link").symlink_to(outside)
    with pytest.raises(TableError):
        allowed(str(inside / "link" / "a.csv"))


def test_the_folder_of_other_visitors_runs_is_never_read_by_path(tmp_path, monkeypatch):
    folder = tmp_path / "data" / "home" / "jobs"
    folder.mkdir(parents=True)
    (folder / "table.parquet").write_text("a\n1\n")
    monkeypatch.setenv(FOLDERS, str(tmp_path / "data"))
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "data" / "home"))
    with pytest.raises(TableError, match="does not read that folder"):
        allowed(str(folder / "table.parquet"))


def test_every_page_of_a_server_whose_home_lies_below_a_data_folder_is_one_sentence(app, tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDERS, str(tmp_path))
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    app.run()
    assert [e.value.count("lie within each other") for e in app.error] == [1]
    assert not app.button and not app.exception and not (tmp_path / "home").exists()


def test_a_pattern_on_the_data_page_does_not_reach_the_runs_of_others(tmp_path, monkeypatch):
    """`allowed` itself: the folder above the home is named, as no server that started would have it."""
    folder = tmp_path / "srv" / "app" / "jobs" / "0123"
    folder.mkdir(parents=True)
    (folder / "table.parquet").write_bytes(b"PAR1")
    monkeypatch.setenv(FOLDERS, str(tmp_path / "srv"))
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "srv" / "app"))
    for place in ("a*/jobs/*/table.parquet", "*/jobs/*/*.parquet", "", "app/jobs/*/table.parquet"):
        with pytest.raises(TableError, match="does not read that folder"):
            allowed(str(tmp_path / "srv" / place))


def test_a_plan_is_what_a_run_then_charges():
    """dpsyn measures all pairs whatever it finds: the dry run must charge exactly what the run does."""
    import numpy as np

    from dpsyn_core.runs.synthesis import synthesize

    table = pa.table({"a": ["x", "y"] * 50, "b": ["u", "v", "v", "w"] * 25, "c": ["0", "1"] * 50})
    attributes = [
        {"name": n, "kind": "categorical", "values": sorted(set(table.column(n).to_pylist()))} for n in ("a", "b", "c")
    ]
    schema = Schema.of({"version": 1, "name": "t", "attributes": attributes})
    task = Task.of(schema, Budget(epsilon=1.0, delta=1e-6))
    planned = plan("independent", {}, task)
    import tempfile

    from dpsyn_core.privacy.ledger.ledger import Ledger

    with tempfile.TemporaryDirectory() as folder:
        release = synthesize(
            table, schema, epsilon=1.0, delta=1e-6, method="independent", rng=np.random.default_rng(0),
            ledger=Ledger(Path(folder) / "l.db"),
        )  # fmt: skip
    assert [(c.name, c.scale) for c in planned.charges] == [
        (c.name, c.sigma or c.scale) for c in release.manifest.charges
    ]
    assert [s.share for s in planned.steps] == [pytest.approx((1.0, 1.0), rel=1e-9)]


def test_the_plan_of_a_page_is_for_the_individuals_that_the_schema_names():
    from ui.privacy.plan import _plan

    unit = {"neighbours": "replace", "identifier": "who", "max_records": 3}
    attributes = [{"name": "who", "kind": "identifier"}, {"name": "a", "kind": "categorical", "values": ["x", "y"]}]
    schema = Schema.of({"version": 1, "name": "t", "unit": unit, "attributes": attributes})
    run = RunSpec(epsilon=1.0, delta=1e-6, method="independent")
    assert _plan.__wrapped__(run, schema.dumps(), 1000, schema).unit == Unit(**unit)


def test_a_plan_of_pairs_says_how_many_parts_share_the_budget():
    domain = Domain.of({"a": 2, "b": 3, "c": 4, "d": 5})
    made = plan("dpsyn", {}, Task(domain=domain, unit=Unit(), budget=Budget(epsilon=0.5, delta=1e-9)))
    assert [(s.kind, s.parts) for s in made.steps] == [("2-way", (6, 6))]
    assert made.k(made.steps[0]) == pytest.approx(6, rel=1e-9)
    assert made.steps[0].cells == (6, 20)


def test_a_translation_needs_no_more_than_a_file(monkeypatch):
    assert t("nav.data") == "Data"
    assert (ASSETS / "text" / "en.toml").exists()


def read_row(**more):
    document = {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 9, "bins": {"count": 10}}
    return Row({**document, "missing": False, "source": "data", **more}, {})


def test_nobody_can_say_that_a_column_was_bought_without_buying_it():
    row = read_row()
    for source in ("bought", "bought-unconfirmed"):
        got = changed(row, {**row.cells(), "source": source})
        assert "was not bought" in got.problem and got.document["source"] == "data"
    assert changed(row, {**row.cells(), "source": "public"}).document["source"] == "public"
    half = read_row(source="bought-unconfirmed")
    assert changed(half, {**half.cells(), "source": "bought"}).document["source"] == "bought"


def test_a_column_that_a_person_leaves_out_keeps_nothing_that_was_read():
    row = read_row()
    assert changed(row, {**row.cells(), "kind": "left out"}).document["source"] == "public"


def test_an_edit_does_not_turn_a_column_of_single_values_into_the_unit_of_privacy():
    key = {"name": "key", "kind": "identifier", "source": "data"}
    attributes = [key, read_row().document, {**read_row().document, "name": "b"}]
    drafted = Schema.of({"version": 1, "name": "t", "attributes": attributes})
    rows = rows_of(drafted)
    rows[1] = changed(rows[1], {**rows[1].cells(), "bins": "5"})
    assert build(drafted, rows).unit.identifier is None
    rows[1] = changed(rows[1], {**rows[1].cells(), "kind": "identifier"})
    assert build(drafted, rows).unit.identifier == "age"
    assert identified(drafted, "age", 2)["age"].source == "public"
