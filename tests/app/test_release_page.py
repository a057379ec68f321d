"""The Release page: a bundle is proved, asked and filtered; what was changed is refused; NOT PRIVATE is said."""

import base64
import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.app.test_report import finished
from tests.app_driver import at_page, plots, space_of, words
from ui.export import files
from ui.shared import results
from ui.shared.text import t


@pytest.fixture
def ran(app):
    at_page(app, "synthesize")
    app.job = finished(app)
    assert app.job.state == "done", app.job.failure()
    return app


def numbers(found):
    """An array of a figure, which Plotly writes as bytes."""
    return np.frombuffer(base64.b64decode(found["bdata"]), found["dtype"]) if isinstance(found, dict) else found


def given(app, *uploads):
    at_page(app, "release")
    app.file_uploader(key="reader_files").set_value(list(uploads)).run()
    assert not app.exception
    return app


def bundle_of(app):
    return ("bundle.zip", files.bundle(space_of(app), app.job), "application/zip")


def test_a_bundle_is_grouped_and_filtered_with_intervals(ran):
    app = given(ran, bundle_of(ran))
    assert "byte for byte" in words(app) and not app.error
    app.multiselect(key="reader_table_columns").set_value(["SEX"]).run()
    drawn = plots(app)[-1]["data"]
    assert (numbers(drawn[0]["error_x"]["array"]) > 0).all()
    app.toggle(key="reader_filter").set_value(True).run()
    app.multiselect(key="reader_where_range_columns").set_value(["CITY"]).run()
    city = space_of(app).schema["CITY"].labels()[0]
    app.multiselect(key="reader_where_range_CITY_values").set_value([city]).run()
    assert not app.exception and "Of records where" in words(app)
    filtered = plots(app)[-1]["data"][0]
    assert sum(numbers(filtered["x"])) < 0.5 * sum(numbers(drawn[0]["x"]))


def test_the_release_file_of_export_goes_with_every_table_of_export(ran):
    space = space_of(ran)
    whole = ("r.dpsyn", files.release(space, ran.job), "application/octet-stream")
    for ending in ("csv", "parquet"):
        at_page(ran, "release")
        app = given(ran, whole, (f"s.{ending}", files.table_bytes(space, ran.job, ending), "text/csv"))
        assert "byte for byte" in words(app) and not app.error, ending
    assert "More tables from a release" in given(ran, whole).error[0].value


def test_a_mean_by_group_is_drawn(ran):
    app = given(ran, bundle_of(ran))
    app.selectbox(key="reader_kind").set_value("mean").run()
    app.multiselect(key="reader_mean_by").set_value(["SEX"]).run()
    assert not app.exception and len(numbers(plots(app)[-1]["data"][0]["x"])) == 2


def test_a_single_figure_stands_next_to_what_the_table_says(ran):
    app = given(ran, bundle_of(ran))
    app.selectbox(key="reader_kind").set_value("mean").run()
    app.selectbox(key="reader_mean_number").set_value("INCWAGE").run()
    table = pd.read_csv(io.BytesIO(files.table_bytes(space_of(app), app.job, "csv")))
    said = words(app)
    assert "estimate from the release" in said and "synthetic table" in said
    shown = float(
        said.partition("<div class='dp-what'>synthetic table")[0].rpartition("'dp-number'>")[2].partition("<")[0]
    )
    assert shown == pytest.approx(table.loc[table["INCWAGE"] < 999_998, "INCWAGE"].mean(), rel=0.01)
    app.selectbox(key="reader_kind").set_value("gap").run()
    assert app.selectbox(key="reader_gap_between").options[0] == "SEX", "short categories first"


def test_the_release_stays_and_a_range_waits_for_its_condition(ran):
    app = given(ran, bundle_of(ran))
    app.selectbox(key="reader_kind").set_value("range").run()
    assert not app.exception and "'?'" not in words(app) and "some of its values" in words(app)
    at_page(app, "privacy")
    assert "byte for byte" in words(at_page(app, "release"))


def test_a_changed_table_is_refused_in_a_sentence(ran):
    space = space_of(ran)
    table = files.table_bytes(space, ran.job, "csv")
    manifest = files.manifest_text(space, ran.job).encode()
    at_page(ran, "release")
    app = given(ran, ("s.csv", table + b"x", "text/csv"), ("m.json", manifest, "application/json"))
    assert any("byte for byte" in e.value for e in app.error)
    assert not app.selectbox


def test_a_release_that_is_not_private_says_so(app):
    at_page(app, "schema")
    space = space_of(app)
    document = space.schema.document()
    document["attributes"][0]["source"] = "data"
    space.schema = type(space.schema).of(document)
    app.job = finished(app)
    given(app, bundle_of(app))
    said = words(app)
    assert "NOT PRIVATE" in said and json.loads(files.manifest_text(space, app.job))["private"] is False
    assert "has no guarantee" in said and "safe to publish" not in said


def test_the_page_begins_with_the_run_just_made_and_opens_it_at_one_press(ran):
    at_page(ran, "release")
    assert "byte for byte" not in words(ran)
    ran.button(key="reader_own").click().run()
    assert "byte for byte" in words(ran) and not ran.error and not ran.exception
    assert not [b for b in ran.button if b.key == "reader_own"], "what is open is not offered again"


def test_without_a_run_nothing_but_files_is_asked_for(app):
    at_page(app, "release")
    assert not app.button and not app.exception


def test_export_says_that_a_table_may_be_published_only_while_it_is_the_one_of_its_manifest(ran, monkeypatch):
    at_page(ran, "export")
    assert t("export.may") in words(ran)
    fits = results.receipts(space_of(ran), ran.job)
    monkeypatch.setattr(results, "receipts", lambda *_: {n: replace(one, holds=False) for n, one in fits.items()})
    ran.run()
    assert t("export.may") not in words(ran)
