"""The Schema page through AppTest: edits of the table, files of a schema, buying and confirming knowledge."""

import json
from dataclasses import replace

import pyarrow as pa
import pytest

from dpsyn_core.schema import confirm
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.misfit import misfits
from dpsyn_core.schema.sample import CODEBOOK, SPECIFICATION
from tests.app_driver import at_page, columns_of, dialog, edited, keys, plots, space_of, uploaded, words
from ui.schema.misfits import _row
from ui.schema.rows import identified, with_unit


def stamped(app):
    """Whether the page says NOT PRIVATE, beside the help menu, which explains the words."""
    return "NOT PRIVATE" in words(app).replace("*NOT PRIVATE* means", "")


@pytest.mark.slow
def test_confirming_a_drafted_schema_takes_the_stamp_away(app):
    uploaded(app)
    at_page(app, "schema")
    assert stamped(app)
    app.button(key="confirm_all").click().run()
    assert "Nobody has said yet who is one person" in words(app), "a column is named like one of persons"
    space_of(app).schema = with_unit(space_of(app).schema, source="public")
    assert not stamped(app.run())


def test_two_edits_in_a_row_stand_after_a_page_switch(app):
    at_page(app, "schema")
    names = list(app.dataframe[0].value["name"])
    age = names.index("AGE")
    edited(app, {age: {"bins": "10"}})
    edited(app, {age: {"bins": "10", "missing": True}})
    at_page(app, "privacy")
    at_page(app, "schema")
    row = app.dataframe[0].value.set_index("name").loc["AGE"]
    assert row["bins"] == "10"
    assert row["missing"]


def test_an_edit_that_does_not_fit_is_explained_kept_and_blocks_the_run(app):
    at_page(app, "schema")
    age = list(app.dataframe[0].value["name"]).index("AGE")
    edited(app, {age: {"content": "young to old"}})
    assert "AGE" in app.error[0].value
    assert "0 to 99" in app.error[0].value
    at_page(app, "synthesize")
    assert app.button(key="synthesize").disabled
    at_page(app, "schema")
    assert app.dataframe[0].value.set_index("name").loc["AGE", "content"] == "young to old"


def test_a_bulk_edit_changes_all_columns_shown(app):
    at_page(app, "schema")
    app.text_input(key="schema_search").set_value("WRK").run()
    app.text_input(key="schema_search").set_value("WORK").run()
    shown = list(app.dataframe[0].value["name"])
    assert shown == ["WKSWORK", "HRSWORK"]
    app.toggle(key="bulk_missing").set_value(True).run()
    app.button(key="bulk_apply").click().run()
    assert list(app.dataframe[0].value["missing"]) == [True, True]


def test_a_schema_for_another_table_is_refused_naming_the_column(app):
    at_page(app, "schema")
    document = {"version": 1, "name": "x", "attributes": [{"name": "shoe", "kind": "categorical", "values": ["a"]}]}
    app.file_uploader(key="schema_upload").set_value(
        [("s.json", json.dumps(document).encode(), "application/json")]
    ).run()
    assert "'shoe'" in app.error[0].value


def test_a_file_that_is_no_schema_is_refused(app):
    at_page(app, "schema")
    app.file_uploader(key="schema_upload").set_value([("s.json", b"{nope", "application/json")]).run()
    assert "not JSON" in app.error[0].value


@pytest.mark.slow
def test_200_columns_stay_usable_and_say_what_they_cost(app):
    header = ",".join(f"c{i}" for i in range(200))
    rows = [",".join(str((i * j) % 3) for i in range(200)) for j in range(1, 6)]
    uploaded(app, name="wide.csv", raw="\n".join([header, *rows]).encode())
    at_page(app, "schema")
    assert not app.exception
    assert not app.error
    assert "of 200 columns ready" in words(app)
    assert len(columns_of(app).value) == 200
    app.text_input(key="schema_search").set_value("c19").run()
    assert len(columns_of(app).value) == 11


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_buying_is_charged_and_takes_the_stamp_away_once_the_kinds_are_confirmed(app, known):
    from dpsyn_core.privacy.ledger.ledger import Ledger

    rows = b"".join(b"%d,%d\n" % (i % 90, i % 7) for i in range(800))
    uploaded(app, name="ages.csv", raw=b"age,week\n" + rows)
    at_page(app, "schema")
    assert stamped(app)
    app.text_input(key="buying_price").set_value("5").run()
    assert "age (whole number)" in words(app)
    if known:
        next(c for c in app.checkbox if c.key.startswith("buying_known")).check().run()
    app.button(key="buy").click().run()
    assert not app.error
    assert Ledger().summary("ages").runs == 1
    if not known:
        assert "Columns that were bought, but whose kind and form were read from the data (2): age, week" in words(app)
        assert set(columns_of(app).value["source"]) == {"bought-unconfirmed"}
        assert not space_of(app).schema.private
        app.button(key="confirm_all").click().run()
    assert not stamped(app)
    assert set(columns_of(app).value["source"]) == {"bought"}
    assert space_of(app).schema.private


@pytest.mark.slow
def test_nothing_is_bought_of_a_table_that_another_tab_has_loaded(app):
    from dpsyn_core.privacy.ledger.ledger import Ledger

    uploaded(app, name="ages.csv", raw=b"age,week\n" + b"".join(b"%d,%d\n" % (i % 90, i % 7) for i in range(800)))
    at_page(app, "schema")
    space = space_of(app)
    space.dataset = replace(space.dataset, serial="another")
    app.button(key="buy").click().run()
    assert not app.exception and Ledger().summary("ages").runs == 0
    assert "nother tab loaded another table, and nothing was spent" in app.error[0].value


@pytest.mark.slow
def test_a_form_that_one_cell_decided_is_shown_where_it_is_confirmed_or_the_run_is_marked(app):
    cells = [f'"${100 + i % 900:,}.{i % 100:02d}",{1 + i % 28:02d}/{1 + i % 12:02d}/2003' for i in range(800)]
    raw = "\n".join(["pay,since", *cells, '"$1,234.5678901",01/01/2003'])
    uploaded(app, name="pay.csv", raw=raw.encode())
    at_page(app, "schema")
    app.text_input(key="buying_price").set_value("5").run()
    shown = words(app)
    assert "pay (number, written as $1,234.567890)" in shown and "since (date, written as 31/08/2023)" in shown
    app.button(key="buy").click().run()
    schema = space_of(app).schema
    assert not app.error and not schema.private and schema["pay"].source == "bought-unconfirmed"
    assert schema.reasons[0] == "the kind or the form of attribute 'pay' was read from the data"
    app.toggle(key="safe").set_value(True).run()
    assert not [b for b in app.button if b.key == "buy"] and "$1,234" not in words(app)


def test_all_that_a_purchase_takes_over_of_a_column_is_in_the_words_that_are_confirmed():
    from dpsyn_core.schema.date_formats import DAYS, DIGITS, TIMES
    from ui.schema.buying import _wanted, described
    from ui.schema.rows import Row

    documents = [
        {"name": "a", "kind": "numeric", "dtype": kind, "min": 0, "max": 9, "source": "data", "written": form}
        for kind, form in [("float", "$1.50"), ("float", "1.50 $"), ("float", "$1,234.5"), ("integer", "$1,234"),
                           ("float", "1.5"), ("float", "1.56"), ("float", None), ("integer", None)]
    ]  # fmt: skip
    documents += [
        {
            "name": "a",
            "kind": "datetime",
            "min": "2000-01-01",
            "max": "2020-12-31",
            "source": "data",
            "formats": formats,
        }
        for formats in [[], *([w] for w in [d + t for d in DAYS for t in TIMES] + [d for d, _ in DIGITS])]
    ]
    documents.append({"name": "a", "kind": "categorical", "values": ["x"], "source": "data"})
    rows = [Row(d, {}) for d in documents]
    assert len({described(r) for r in rows}) == len({_wanted(r) for r in rows}) == len(rows)


@pytest.mark.slow
def test_knowledge_is_bought_again_when_others_are_protected(app):
    rows = b"".join(b"p%d,%d\n" % (i % 700, i % 90) for i in range(800))
    uploaded(app, name="ages.csv", raw=b"pid,age\n" + rows)
    space = space_of(app)
    space.schema = with_unit(space.schema, source="public")
    at_page(app, "schema")
    app.button(key="confirm_all").click().run()

    def buy():
        at_page(app, "schema")
        next(m for m in app.multiselect if m.key and m.key.startswith("buying_")).set_value(["age"]).run()
        app.text_input(key="buying_price").set_value("9").run()
        app.button(key="buy").click().run()
        assert not app.error

    buy()
    assert not stamped(app)
    space.schema = identified(space.schema, "pid", 1)
    at_page(app, "schema")
    assert "buy them again for the unit chosen now" in words(app)
    buy()
    assert not stamped(app)
    assert {b.unit.identifier for b in space.schema.bought} == {"pid"}


@pytest.mark.slow
def test_a_confirmation_of_kinds_does_not_stand_for_columns_that_are_added_later(app):
    rows = b"".join(b"%d,%d\n" % (i % 90, i % 7) for i in range(800))
    uploaded(app, name="ages.csv", raw=b"age,week\n" + rows)
    at_page(app, "schema")
    columns = next(m for m in app.multiselect if m.key and m.key.startswith("buying_"))
    columns.set_value(["age"]).run()
    next(c for c in app.checkbox if c.key.startswith("buying_known")).check().run()
    next(m for m in app.multiselect if m.key == columns.key).set_value(["age", "week"]).run()
    assert not next(c for c in app.checkbox if c.key.startswith("buying_known")).value


def test_a_specification_with_its_codebook_is_imported_and_what_it_bins_is_said(app):
    at_page(app, "schema")
    files = [(p.name, p.read_bytes(), "application/octet-stream") for p in (SPECIFICATION, CODEBOOK)]
    app.file_uploader(key="schema_upload").set_value(files).run()
    assert not app.error and not app.exception
    schema = space_of(app).schema
    assert schema["SEX"].values == (1, 2) and schema["SEX"].labels() == ["Male", "Female"]
    assert "INCWAGE" in words(app) and "from 0 to 5000 is binned into 1167 cells" in words(app)


def test_a_codebook_alone_is_refused(app):
    at_page(app, "schema")
    app.file_uploader(key="schema_upload").set_value([(CODEBOOK.name, CODEBOOK.read_bytes(), "text/plain")]).run()
    assert "codebook alone" in app.error[0].value


def test_cells_that_the_schema_does_not_describe_are_shown_to_the_owner_before_anything_is_spent(app):
    rows = "".join(f"{'x' if i % 2 else 'y'},{i % 5}\n" for i in range(60))
    uploaded(app, name="misfits.csv", raw=("word,age\n" + rows).encode())
    space = space_of(app)
    space.schema = Schema.of(
        {
            "version": 1,
            "name": "t",
            "attributes": [
                {"name": "word", "kind": "categorical", "values": ["x"]},
                {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 3, "bins": {"count": 4}},
            ],
        }
    )
    app.switch_page("pages/schema.py").run()
    dialog(app, "misfits")
    app.button(key="misfits_look").click().run()
    assert not app.exception
    shown = next(d.value for d in app.dataframe if "in a run" in d.value.columns)
    assert shown["in a run"].tolist() == ["their records are left out", "they count as the nearest end of the range"]
    assert shown["cells"].tolist() == ["30", "12"] and shown["such as"].tolist() == ["y", "4"]
    app.run()
    assert any("in a run" in d.value.columns for d in app.dataframe), "the list stays when the page is drawn again"
    app.toggle(key="safe").set_value(True).run()
    assert not any(b.key == "misfits_look" for b in app.button)


def test_cells_that_the_schema_does_not_describe_are_named_in_german_too(monkeypatch):
    monkeypatch.setenv("DPSYN_LANGUAGE", "de")
    schema = Schema.of(
        {
            "version": 1,
            "name": "t",
            "unit": {"identifier": "who", "max_records": 1},
            "attributes": [
                {"name": "who", "kind": "identifier"},
                {"name": "word", "kind": "categorical", "values": ["x"]},
                {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 3, "bins": {"count": 4}},
                {
                    "name": "day",
                    "kind": "datetime",
                    "min": "2020-01-01",
                    "max": "2020-12-31",
                    "bins": {"every": "month"},
                },
            ],
        }
    )
    cells = {"who": ["a", None], "word": ["y", "x"], "age": ["9", "old"], "day": [None, "soon"]}
    said = [(r["was"], r["in einem Lauf"], r["um das zu ändern"]) for r in map(_row, misfits(schema, pa.table(cells)))]
    out = "ihre Datensätze werden weggelassen"
    assert said == [
        (
            "Zellen, die nicht in ihrer Liste von Werten stehen",
            out,
            "die Werte in die Liste aufnehmen, other: true angeben",
        ),
        ("Zellen, die keine Zahlen sind", out, "besondere Codes als special_values aufführen, missing: true angeben"),
        ("Zellen außerhalb ihres Bereichs", "sie zählen als das nächste Ende des Bereichs", "min und max erweitern"),
        ("leere Zellen", out, "missing: true angeben"),
        (
            "Zellen, die keine Daten sind",
            out,
            "angeben, wie ihre Daten geschrieben sind (formats), missing: true angeben",
        ),
        ("Datensätze ohne Namen", out, "jeder Person einen Namen geben"),
    ]


def test_a_column_is_drawn_as_cells_of_equal_height_with_the_noise_that_they_cost(app):
    """No count is looked at: the picture is the same whatever the table holds."""
    at_page(app, "schema")
    app.radio(key="schema_preview").set_value("AGE").run()
    bars, band = plots(app)[0]["data"]
    assert len(bars["x"]) == 20 and set(bars["y"]) == {1.0} and len(set(band["y"])) == 1
    assert "AGE: 20 cells, noise takes 10% of each" in words(app)
    space_of(app).dataset.table = space_of(app).dataset.table.slice(0, 50)
    app.run()
    assert plots(app)[0]["data"] == [bars, band]


def test_another_number_of_bins_is_taken_at_once_and_costs_more_noise_in_each(app):
    at_page(app, "schema")
    app.radio(key="schema_preview").set_value("AGE").run()
    before = plots(app)[0]["data"][1]["y"][0]
    app.number_input(key=next(k for k in keys(app.number_input) if k.startswith("bins_of_AGE"))).set_value(50).run()
    assert not app.exception and space_of(app).schema["AGE"].size == 50
    assert plots(app)[0]["data"][1]["y"][0] == pytest.approx(2.5 * before, rel=1e-6)


def test_columns_with_a_problem_stand_first_and_how_many_are_ready_is_said(app):
    at_page(app, "schema")
    assert "14 of 14 columns ready" in words(app) and app.radio(key="schema_preview").options[0] == "✓ CITY"
    edited(app, {list(app.dataframe[0].value["name"]).index("AGE"): {"bins": "some"}})
    assert "13 of 14 columns ready" in words(app)
    assert app.radio(key="schema_preview").options[:2] == ["⚠ AGE", "✓ CITY"]


def test_the_guide_asks_before_columns_are_drawn(app):
    uploaded(app, raw=b"town;age\n" + b"".join(b"%s;%d\n" % (b"YZ"[i % 2 : i % 2 + 1], 20 + i) for i in range(40)))
    at_page(app, "schema")
    assert "0 of 2 columns ready" in words(app) and "aria-current=step>2. What is public" in words(app)
    assert "schema_preview" not in keys(app.radio)
    space_of(app).schema = confirm(space_of(app).schema, ["town", "age"])
    app.run()
    assert "2 of 2 columns ready" in words(app) and "schema_preview" in keys(app.radio)
