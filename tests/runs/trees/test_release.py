"""Whole releases of linked tables: keys, files, the command, Python, and tables that do not fit."""

import contextlib
import json
import sqlite3

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpsyn_core
from dpsyn_core.commands.cli import main
from dpsyn_core.errors import BudgetError, InputError, OutputError, SchemaError, TableError
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.trees import release as release_of
from dpsyn_core.runs.trees.comparison import compare_linked
from dpsyn_core.runs.trees.export import places_of, written_tables
from dpsyn_core.runs.trees.real_tables import stored_forests
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.panel import panel_schema
from dpsyn_core.schema.linked import LinkedSchema
from dpsyn_core.tables.read import read_table
from tests.runs.trees.small import SCHEMAS, listed, number, schema_of, tables, together


def made(schema, given, **more):
    return synthesize(given, schema, **({"epsilon": 5.0, "delta": 1e-6, "rng": 1, "settings": {"effort": 0.2}} | more))


def check_keys(schema, found):
    roots, kids = (found[t.name].to_pandas() for t in schema.tables)
    link = schema.links[0]
    assert roots["id"].is_unique
    assert set(kids["root"]) <= set(roots["id"])
    sizes = kids.groupby("root").size()
    assert not (sizes > link.max_children).any()
    if link.roles is not None:
        single = kids[kids["r"].isin(link.roles.single)]
        assert not single.duplicated(["root", "r"]).any()
    if link.order is not None:
        ordered = kids.groupby("root")["t"]
        assert ordered.apply(lambda t: t.is_monotonic_increasing).all()
        assert not link.distinct or not kids.duplicated(["root", "t"]).any()


@pytest.mark.parametrize("name", SCHEMAS)
def test_no_child_is_an_orphan_and_no_root_has_more_than_it_may(name):
    schema = SCHEMAS[name]
    release = made(schema, tables(300, 4, 1))
    check_keys(schema, release.arrows)
    assert release.manifest.private and release.manifest.hanging[0].max_children == schema.links[0].max_children
    assert "all that hangs on it" in release.manifest.certificate()


def hostile(**changes):
    """Ordinary tables with odd ones below them."""
    some = tables(200, 3, 3)
    odd = {n: pa.table({c: [str(v) if v is not None else None for v in cells] for c, cells in t.items()})
           for n, t in changes.items()}  # fmt: skip
    return {n: pa.concat_tables([t, odd[n].select(t.column_names).cast(t.schema)]) if n in odd else t
            for n, t in some.items()}  # fmt: skip


KID = {"r": ["1"], "t": ["2"]}
HOSTILE = {
    "a child without a parent": hostile(kids={"root": ["nobody"], **KID}),
    "a parent twice": hostile(roots={"id": ["7", "7"], "a": ["0", "1"]}),
    "a key that is missing": hostile(kids={"root": [None], **KID}),
    "a key that is blank": hostile(roots={"id": [" "], "a": ["0"]}),
    "ten thousand children": hostile(kids={"root": ["7"] * 10_000, "r": ["1"] * 10_000, "t": ["2"] * 10_000}),
    "a value that the schema does not have": hostile(kids={"root": ["7"], "r": ["9"], "t": ["2"]}),
}


@pytest.mark.parametrize("name", ["plain", "one child", "ordered", "ruled"])
@pytest.mark.parametrize("case", HOSTILE)
def test_what_has_no_place_is_left_out_or_refused_where_the_owner_asks(case, name):
    schema = SCHEMAS[name]
    check_keys(schema, made(schema, HOSTILE[case]).arrows)
    with pytest.raises(InputError) as error:
        made(schema, HOSTILE[case], strict=True)
    assert "\n" not in str(error.value) and "nobody" not in str(error.value)


def test_empty_tables_and_few_roots_are_released_like_any_other():
    empty = tables(0, 0, 1)
    childless = {"roots": tables(50, 0, 1)["roots"], "kids": empty["kids"]}
    for schema in (SCHEMAS["roles"], SCHEMAS["ruled"]):
        for given in (empty, childless, tables(1, 2, 1)):
            check_keys(schema, made(schema, given).arrows)


def test_keys_match_as_text_and_as_numbers():
    schema = SCHEMAS["plain"]
    given = tables(100, 3, 4)
    typed = {
        "roots": given["roots"].to_pandas().astype({"id": int}),
        "kids": given["kids"].to_pandas().astype({"root": float}),
    }
    strict = made(schema, typed, strict=True)  # nobody is an orphan
    assert isinstance(strict.tables["kids"], pd.DataFrame)


def test_pure_budgets_and_asked_numbers_of_roots():
    release = made(SCHEMAS["ordered"], tables(200, 3, 1), delta=0.0, n_records=37)
    assert release.arrows["roots"].num_rows == 37
    assert release.manifest.recomputed_epsilon() <= 5.0


def test_a_budget_whose_noise_cannot_be_drawn_is_refused_before_it_is_charged(tmp_path):
    with pytest.raises(BudgetError, match="2\\^50"):
        made(SCHEMAS["many"], tables(20, 3, 1), epsilon=1e-6, delta=0.0)
    assert not list((tmp_path / "home").glob("**/*.sqlite"))


def test_rules_that_contradict_each_other_are_refused_before_anything_is_charged(tmp_path):
    orders = [{"kind": "order", "lower": low, "upper": high, "strict": True} for low, high in (("t", "u"), ("u", "t"))]
    document = schema_of({}, child=(number("t", 6), number("u", 6))).document()
    document["tables"][1]["schema"]["rules"] = orders
    given = tables(20, 3, 1)
    given["kids"] = given["kids"].drop(["r"]).append_column("u", given["kids"].column("t"))
    with pytest.raises(SchemaError, match="contradict"):
        made(LinkedSchema.of(document), given)
    assert not list((tmp_path / "home").glob("**/*.sqlite*"))


@pytest.mark.parametrize(
    "rule", [{"kind": "unique", "together": ["t"]}, {"kind": "follows", "column": "r", "of": ["s"]}]
)
def test_a_rule_about_all_records_of_a_linked_table_is_refused(rule):
    document = schema_of({}, child=(listed("r", 3), listed("s", 3), number("t", 50))).document()
    document["tables"][1]["schema"]["rules"] = [rule]
    with pytest.raises(SchemaError, match="is about all its records"):
        LinkedSchema.of(document)


def test_python_takes_tables_by_their_names():
    given = {n: t.to_pandas() for n, t in tables(100, 3, 1).items()}
    release = dpsyn_core.synthesize(given, SCHEMAS["plain"], epsilon=5, delta=1e-6, rng=1)
    assert list(release.tables) == ["roots", "kids"]
    with pytest.raises(TableError, match="no table 'kids'"):
        dpsyn_core.synthesize({"roots": given["roots"]}, SCHEMAS["plain"], epsilon=5, delta=1e-6, rng=1)
    with pytest.raises(TableError, match="give a dictionary"):
        dpsyn_core.synthesize(given["roots"], SCHEMAS["plain"], epsilon=5, delta=1e-6, rng=1)


def written(folder, schema, given):
    schema.dump(folder / "s.json")
    for name, table in given.items():
        table.to_pandas().to_csv(folder / f"{name}.csv", index=False)
    named = [f"--table={n}={folder / n}.csv" for n in given]
    return [*named, "--schema", str(folder / "s.json"), "--epsilon=5", "--delta=1e-6", "--seed=1", "--quiet"]


def test_the_command_writes_a_folder_and_a_manifest_that_verifies_every_table(tmp_path, capsys):
    words = written(tmp_path, SCHEMAS["plain"], tables(100, 3, 1))
    assert main(["synth", *words, "--out", str(tmp_path / "out/")]) == 0
    assert main(["verify", str(tmp_path / "out/kids.csv"), "--manifest", str(tmp_path / "out/manifest.json")]) == 0
    asked = ["--manifest", str(tmp_path / "out/manifest.json"), "--schema", str(tmp_path / "s.json")]
    assert main(["verify", str(tmp_path / "out/roots.csv"), *asked]) == 0
    SCHEMAS["ordered"].dump(tmp_path / "other.json")
    asked[-1] = str(tmp_path / "other.json")
    assert main(["verify", str(tmp_path / "out/roots.csv"), *asked]) == 2
    check_keys(SCHEMAS["plain"], {n: read_table(tmp_path / f"out/{n}.csv") for n in ("roots", "kids")})
    document = json.loads((tmp_path / "out/manifest.json").read_text())
    assert document["hanging"] == [{"table": "kids", "max_children": 3}]
    assert not Manifest.load(tmp_path / "out/manifest.json").promise_faults()
    assert main(["synth", *words, "--out", str(tmp_path / "out/"), "--method", "mst"]) == 2
    assert "the method 'mst' makes single tables" in capsys.readouterr().err
    before = Ledger().entries()
    assert main(["synth", *words, "--out", str(tmp_path / "two/"), "--save-model", str(tmp_path / "m.zip")]) == 2
    assert "--save-model" in capsys.readouterr().err
    assert Ledger().entries() == before and not (tmp_path / "two").exists()


@pytest.mark.parametrize("ending", ["", ".sqlite"])
def test_tables_that_need_more_memory_than_declared_are_counted_from_disk(tmp_path, capsys, monkeypatch, ending):
    words = [
        *written(tmp_path, SCHEMAS["plain"], tables(100, 3, 1)),
        "--memory=1GB",
        "--out",
        str(tmp_path / f"out{ending}"),
    ]
    monkeypatch.setattr("dpsyn_core.runs.trees.chunks.CELL", 10**9)  # as if they were large
    opened = []
    monkeypatch.setattr(release_of, "stored_forests", lambda *a, **k: opened.append(k) or stored_forests(*a, **k))
    assert main(["synth", *words]) == 0
    assert [o["parts"] for o in opened] == [256]
    assert not [p for p in (tmp_path / "home" / "scratch").rglob("*") if p.is_file()], "nothing private is left"
    check_keys(
        SCHEMAS["plain"], written_tables(places_of(tmp_path / f"out{ending}", SCHEMAS["plain"]), SCHEMAS["plain"])
    )
    asked = {"version": 1, "questions": [{"about": "roots", "ask": {"name": "a", "kind": "table", "of": ["a"]}}]}
    (tmp_path / "q.json").write_text(json.dumps(asked))
    before = Ledger().entries()
    assert main(["synth", *words, "--questions", str(tmp_path / "q.json")]) == 2
    said = capsys.readouterr().err
    assert "the tables are counted from disk" in said and said.count("\n") == 1 and Ledger().entries() == before


@pytest.mark.parametrize("ending", ["sqlite", "duckdb", "xlsx"])
def test_one_file_holds_all_tables_with_their_keys_declared(tmp_path, ending):
    words = written(tmp_path, SCHEMAS["plain"], tables(60, 3, 1))
    out = tmp_path / f"out.{ending}"
    assert main(["synth", *words, "--out", str(out)]) == 0
    if ending == "sqlite":
        with contextlib.closing(sqlite3.connect(out)) as base:
            assert base.execute("PRAGMA foreign_key_list(kids)").fetchall()[0][2:5] == ("roots", "root", "id")
            assert not base.execute("PRAGMA foreign_key_check").fetchall()
    elif ending == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        with contextlib.closing(duckdb.connect(str(out), read_only=True)) as base:
            kinds = base.execute("SELECT constraint_type FROM duckdb_constraints()").fetchall()
            assert ("FOREIGN KEY",) in kinds and ("PRIMARY KEY",) in kinds
    else:
        assert list(pd.read_excel(out, sheet_name=None)) == ["roots", "kids"]
    assert (tmp_path / "out.manifest.json").exists()


def test_a_panel_of_one_file_stays_one_file(tmp_path):
    document = SCHEMAS["distinct"].document()
    document["one_file"] = True
    document["links"][0]["key"] = "id"
    schema = LinkedSchema.of(document)
    rng = np.random.default_rng(1)
    panel = pd.DataFrame({"id": np.repeat(np.arange(200), 4), "t": np.tile(np.arange(4), 200)})
    panel["a"], panel["r"] = (panel["id"] % 2).astype(str), rng.integers(0, 3, 800).astype(str)
    release = dpsyn_core.synthesize(panel, schema, epsilon=8, delta=1e-6, rng=1, strict=True)
    (table,) = release.tables.values()
    assert list(table.columns) == list(panel.columns)
    assert not table.duplicated(["id", "t"]).any()
    assert (table.groupby("id")["a"].nunique() == 1).all()
    panel.to_csv(tmp_path / "panel.csv", index=False)
    schema.dump(tmp_path / "s.json")
    words = [str(tmp_path / "panel.csv"), "--schema", str(tmp_path / "s.json"), "--epsilon=8", "--delta=1e-6"]
    assert main(["synth", *words, "--out", str(tmp_path / "synthetic.csv"), "--quiet"]) == 0
    assert main(["verify", str(tmp_path / "synthetic.csv")]) == 0


def test_together_puts_tables_below_each_other():
    assert together(tables(2, 1, 1), tables(3, 1, 1, first=9))["roots"].num_rows == 5


def test_the_command_compares_by_table_and_by_link(tmp_path, capsys):
    words = written(tmp_path, SCHEMAS["plain"], tables(100, 3, 1))
    assert main(["synth", *words, "--out", str(tmp_path / "out/")]) == 0
    shared = [w for w in words if w.startswith("--table")] + ["--schema", str(tmp_path / "s.json")]
    capsys.readouterr()
    assert main(["compare", *shared, str(tmp_path / "out"), "--json", str(tmp_path / "c.json")]) == 0
    said = capsys.readouterr().out
    assert "roots > kids" in said and "parent x child" in said and "siblings" in said
    document = json.loads((tmp_path / "c.json").read_text())
    assert all(0 <= s["value"] <= 1 for s in document["scores"])
    given = {n: t.to_pandas() for n, t in tables(100, 3, 1).items()}
    assert all(s.value == 0 for s in compare_linked(SCHEMAS["plain"], given, given))


def test_a_comparison_of_linked_tables_names_the_table_that_is_missing():
    given = tables(50, 3, 1)
    for synthetic, real in (({"roots": given["roots"]}, given), (given, {"roots": given["roots"]})):
        with pytest.raises(TableError, match="no table 'kids'"):
            compare_linked(SCHEMAS["plain"], synthetic, real)


def test_a_panel_schema_divides_the_columns_of_one_file():
    attributes = [listed("sex", 2), number("wave", 4), number("income", 20)]
    plain = Schema.of({"version": 1, "name": "panel", "attributes": attributes})
    linked = panel_schema(plain, person="nr", wave="wave", constant=["sex"])
    assert linked.one_file and linked.links[0].distinct and linked.links[0].max_children == 4
    assert [a.name for a in linked["persons"].coded] == ["sex"]
    assert panel_schema(plain, person="nr", wave="wave")["persons"].columns is None
    with pytest.raises(SchemaError, match="say how many rows"):
        panel_schema(plain, person="nr", wave="income")
    with pytest.raises(SchemaError, match="no column 'year'"):
        panel_schema(plain, person="nr", wave="year")


def test_a_panel_schema_keeps_that_its_unit_was_read_from_the_data():
    attributes = [listed("sex", 2), number("wave", 4)]
    unit = {"neighbours": "add-remove", "identifier": "nr", "max_records": 4, "source": "data"}
    plain = Schema.of({"version": 1, "name": "panel", "unit": unit, "attributes": attributes})
    assert panel_schema(plain, person="nr", wave="wave").reasons


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.csv.gz", "o.json"])
def test_several_tables_are_not_written_to_a_folder_with_the_name_of_one(name, tmp_path):
    with pytest.raises(OutputError, match=r"name a folder, or a file that ends in \.xlsx"):
        places_of(tmp_path / name, schema_of({}))
    assert not list(tmp_path.iterdir())


def test_comparing_makes_no_folder(tmp_path):
    schema_of({}).dump(tmp_path / "s.json")
    given = [f"--table={n}={tmp_path / n}.csv" for n in ("roots", "kids")]
    for name, table in tables(5, 2, 1).items():
        table.to_pandas().to_csv(tmp_path / f"{name}.csv", index=False)
    assert main(["compare", *given, str(tmp_path / "none"), "--schema", str(tmp_path / "s.json")]) == 2
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("ending", ["sqlite", "duckdb", "xlsx"])
def test_tables_of_one_database_or_workbook_are_read_by_their_names(tmp_path, ending, capsys):
    given = tables(60, 3, 1)
    words = written(tmp_path, SCHEMAS["plain"], given)
    place = tmp_path / f"in.{ending}"
    frames = {n: t.to_pandas() for n, t in reversed(given.items())}
    if ending == "sqlite":
        with contextlib.closing(sqlite3.connect(place)) as base:
            for name, frame in frames.items():
                frame.to_sql(name, base, index=False)
    elif ending == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        with contextlib.closing(duckdb.connect(str(place))) as base:
            for name, frame in frames.items():
                base.register("frame", frame)
                base.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
    else:
        with pd.ExcelWriter(place) as book:
            for name, frame in frames.items():
                frame.to_excel(book, sheet_name=name, index=False)
    named = [f"--table={n}={place}" for n in given]
    assert main(["schema", "draft", *named, "--link=kids.root=roots.id", "-o", str(tmp_path / "d.json")]) == 0
    assert main(["synth", *named, *words[len(given) :], "--memory=8GB", "--out", str(tmp_path / "out/")]) == 0
    check_keys(SCHEMAS["plain"], {n: read_table(tmp_path / f"out/{n}.csv") for n in ("roots", "kids")})
    if ending != "xlsx":
        assert main(["schema", "draft", f"--table=towns={place}", named[1], "-o", str(tmp_path / "e.json")]) == 2
        assert "has no table 'towns'; give each by its name there: kids, roots" in capsys.readouterr().err
