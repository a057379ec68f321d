"""What ordinary tables and new eyes found: edits that took the page down, tables that come back, columns of persons."""

import io

import numpy as np
import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.report.translation import translated
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.read import read_table
from tests.app_driver import at_page, columns_of, edited, keys, space_of, uploaded, words
from ui.data.loading import recognised
from ui.shared.state import Dataset

pytestmark = pytest.mark.slow  # children and whole runs

AGES = b"age,vote\n" + b"".join(b"%d,%s\n" % (18 + i % 50, (b"yes", b"no")[i % 2]) for i in range(120))
PANEL = b"nr,year,wage\n" + b"".join(b"%d,%d,%.2f\n" % (i // 8, 1980 + i % 8, 1 + i % 37 / 7) for i in range(320))


def row_of(app, column):
    return list(columns_of(app).value["name"]).index(column)


def test_undo_takes_back_an_edit_that_does_not_fit_and_then_the_one_before(app):
    uploaded(app, raw=AGES)
    at_page(app, "schema")
    before = space_of(app).schema["age"].max
    edited(app, {row_of(app, "age"): {"content": "0 to 99"}})
    assert space_of(app).schema["age"].binning is not None, "a binning that was looked at is an array"
    edited(app, {row_of(app, "age"): {"content": "abc"}})
    assert "needs a public range" in words(app)
    app.button(key="schema_undo").click().run()
    assert not app.exception and "needs a public range" not in words(app)
    assert space_of(app).schema["age"].max == 99
    app.button(key="schema_undo").click().run()
    assert space_of(app).schema["age"].max == before
    assert "mistake in the program" not in words(app)


def test_two_attributes_whose_binnings_were_used_can_be_compared():
    document = {"version": 1, "name": "t", "attributes": [
        {"name": "x", "kind": "numeric", "dtype": "float", "min": 0, "max": 9, "bins": {"count": 3}}]}  # fmt: skip
    one, two = Schema.of(document), Schema.of(document)
    assert one["x"].size == two["x"].size == 3
    assert one.attributes == two.attributes
    document["attributes"][0]["max"] = 10
    assert one.attributes != Schema.of(document).attributes


def upload_again(app, name, raw):
    at_page(app, "data")
    app.segmented_control(key="data_way").set_value("upload").run()
    return app.file_uploader(key="upload").set_value((name, raw, "text/csv")).run()


def test_a_table_that_comes_back_is_joined_to_its_schema_and_runs(app):
    uploaded(app, name="ages.csv", raw=AGES)
    space = space_of(app)
    at_page(app, "schema")
    edited(app, {row_of(app, "age"): {"content": "0 to 99"}})
    serial = space.dataset.serial
    upload_again(app, "panel.csv", PANEL)
    assert space.dataset.serial != serial
    upload_again(app, "renamed.csv", AGES)
    assert space.dataset.serial == serial, "a table is known by its content"
    assert space.schema["age"].max == 99
    assert space.dataset.ledger == "ages"
    assert "This table was here before" in words(app)
    app.button(key="afresh").click().run()
    assert space.schema["age"].max == 67 or space.schema["age"].max < 99
    assert "This table was here before" not in words(app)


def test_the_mark_of_a_table_depends_on_its_cells_and_its_visitor_alone():
    import pyarrow as pa

    table = pa.table({"a": ["1", "2", "3"]})
    cut = pa.table({"a": pa.chunked_array([["1"], ["2", "3"]])})
    one = recognised(Dataset("x", "x", table), "me")
    assert one == recognised(Dataset("y", "y", cut), "me")
    assert one != recognised(Dataset("x", "x", table), "you")
    assert one != recognised(Dataset("x", "x", pa.table({"a": ["1", "2", "4"]})), "me")


@pytest.mark.parametrize("safe", [False, True])
def test_a_column_that_is_named_like_one_of_persons_is_asked_about_whatever_the_table_holds(app, safe):
    asked = []
    for second in (1, 2):  # every value once; two people with two rows each
        raw = b"id,age\n" + b"".join(b"%d,%d\n" % (i // second if i < 4 else i, 18 + i % 50) for i in range(60))
        uploaded(app, raw=raw)
        app.toggle(key="safe").set_value(safe).run()
        asked.append([line for line in words(app).splitlines() if "several rows?" in line or " id" in line])
    assert asked[0] == asked[1] and any("Can one person have several rows?" in line for line in asked[0])
    app.button(key="take_identifier").click().run()
    space = space_of(app)
    assert (space.schema.unit.identifier, space.schema.unit.source) == ("id", "public")
    if not safe:  # safe mode spends nothing on Data
        assert app.button(key="quick").label == "Synthesize, 1 row per person"
    app.button(key="ladder_5").click().run()
    assert space.schema.unit.max_records == 5
    if not safe:
        assert app.button(key="quick").label == "Synthesize, at most 5 rows per person"


def test_that_each_row_is_one_person_is_asked_once(app):
    uploaded(app, raw=b"id,age\n" + b"".join(b"%d,%d\n" % (i, 18 + i % 50) for i in range(60)))
    app.button(key="keep_rows").click().run()
    assert not any(k == "take_identifier" for k in keys(app.button))
    assert space_of(app).schema.unit.usual


def test_a_column_of_codes_is_asked_about_for_the_owner_and_its_choice_is_marked(app):
    rows = [b"P-%05d,%d\n" % (i // 2 if i < 60 else i, 18 + i % 50) for i in range(500)]
    uploaded(app, raw=b"stamp,age\n" + b"".join(rows))
    assert "holds codes" in words(app) and "reads private data" in words(app)
    app.toggle(key="safe").set_value(True).run()
    assert "holds codes" not in words(app)
    app.toggle(key="safe").set_value(False).run()
    app.button(key="take_identifier").click().run()
    assert space_of(app).schema.unit_from_data


def test_the_sheet_of_a_workbook_is_chosen_and_the_one_that_was_read_is_said(app):
    from openpyxl import Workbook

    book, out = Workbook(), io.BytesIO()
    book.active.title = "notes"
    book.active.append(["what"])
    book.active.append(["made by hand"])
    page = book.create_sheet("people")
    page.append(["age", "town"])
    for i in range(30):
        page.append([20 + i % 9, "abc"[i % 3]])
    book.save(out)
    uploaded(app, name="book.xlsx", raw=out.getvalue())
    assert "one of 2; the others are" in words(app)
    app.selectbox(key=next(k for k in keys(app.selectbox) if k.startswith("sheet_"))).set_value("people").run()
    assert space_of(app).dataset.table.column_names == ["age", "town"]


def test_a_workbook_whose_first_sheet_is_no_table_offers_its_other_sheets(app):
    from openpyxl import Workbook

    book, out = Workbook(), io.BytesIO()
    book.active.title = "read me"
    for row in (["made by", None, "for"], ["hand", "x", "y"]):
        book.active.append(row)
    page = book.create_sheet("people")
    for row in (["age", "town"], *([20 + i % 9, "abc"[i % 3]] for i in range(30))):
        page.append(row)
    book.save(out)
    uploaded(app, name="book.xlsx", raw=out.getvalue())
    assert "has a blank header" in words(app) and space_of(app).dataset.sample
    app.selectbox(key=next(k for k in keys(app.selectbox) if k.startswith("sheet_of_"))).set_value("people").run()
    assert space_of(app).dataset.table.column_names == ["age", "town"] and not app.error
    app.run()
    assert not app.error, "what was wrong with the other sheet is forgotten"


def test_what_a_purchase_needs_is_said_before_it_is_paid(app):
    uploaded(app, name="ages.csv", raw=AGES)
    at_page(app, "schema")
    assert "is seen once about" in words(app)
    assert "is the least that shows" not in words(app), "it would tell of the private number of records"
    space_of(app).schema = space_of(app).schema.model_copy(update={"n_records": 120})
    app.run()
    assert "With 120 records, epsilon" in words(app)


def test_a_column_of_which_nothing_is_found_leaves_what_was_found_of_others(app):
    rng = np.random.default_rng(0)
    lines = "".join(f"{18 + i % 50},{rng.integers(10**8)}x\n" for i in range(600))
    raw = b"age,code\n" + lines.encode()
    uploaded(app, name="few.csv", raw=raw)
    at_page(app, "schema")
    edited(app, {row_of(app, "code"): {"kind": "category", "content": "a, b"}})
    next(m for m in app.multiselect if m.key and m.key.startswith("buying_")).set_value(["age", "code"]).run()
    app.text_input(key="buying_price").set_value("9").run()
    app.button(key="buy").click().run()
    assert not app.error
    assert "Nothing was found of code; it stays as it was" in words(app)
    assert "The range of age: about" in words(app)
    assert space_of(app).schema["age"].source.startswith("bought")
    assert not space_of(app).schema["code"].source.startswith("bought")


def test_after_a_restart_a_table_finds_the_schema_and_the_runs_that_were_made_from_it(app):
    from dpsyn_core.runs.jobs.folder import SCHEMA
    from dpsyn_core.runs.jobs.spec import JobSpec
    from ui.shared.results import same_table
    from ui.shared.state import jobs

    uploaded(app, name="ages.csv", raw=AGES)
    space = space_of(app)
    at_page(app, "schema")
    edited(app, {row_of(app, "age"): {"content": "0 to 99"}})
    spec = JobSpec(query_vouched=False, epsilon=1, delta=1e-9, method="independent", seed=1, dataset="ages of 2026")
    files = {SCHEMA: space.schema.dumps().encode()}
    public = {"serial": space.dataset.serial, "dataset": "ages.csv"}
    job = jobs().adopt(space.owner, spec, files, label="r", fingerprint="f", public=public)
    upload_again(app, "panel.csv", PANEL)
    space.earlier.clear()  # what a server keeps in memory is gone after a restart
    assert not same_table(space, job)
    upload_again(app, "ages.csv", AGES)
    assert same_table(space, job)
    assert (space.schema["age"].max, space.dataset.ledger) == (99, "ages of 2026")


def test_a_file_whose_headers_run_over_two_lines_is_read_with_a_tick(app):
    raw = ('age,"mark\n(of 100)"\n' + "".join(f"{20 + i % 9},{i}\n" for i in range(60))).encode()
    uploaded(app, name="marks.csv", raw=raw)
    assert "does not close" in words(app) and space_of(app).dataset.sample
    app.checkbox(key=next(k for k in keys(app.checkbox) if k.startswith("multiline_of_"))).check().run()
    assert space_of(app).dataset.table.column_names == ["age", "mark\n(of 100)"] and not app.error


@pytest.mark.parametrize("line", ['a,"b', 'a,"b"c', 'a,"b"c,d'])
def test_a_header_that_is_torn_is_refused_in_german(line):
    with pytest.raises(TableError) as refused:
        read_table(f"{line}\n1,2\n".encode())
    assert translated(str(refused.value), "de").startswith("Zeile 1 ")
