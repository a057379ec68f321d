"""Grandchildren on the pages: links from headers, diagram, budget, questions, a run, its report and its files."""

import sqlite3

import pytest

from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs.trees.keys import check_keys
from tests.app.linked_tables import asked, field, linked, with_shop
from tests.app.test_linked_runs import confirmed, made
from tests.app_driver import at_page, explored, space_of, words
from ui.export import files
from ui.questions import kept
from ui.shared import results


@pytest.fixture
def shop(app):
    with_shop(app)
    confirmed(app)
    return app


def test_three_tables_are_linked_by_their_headers_and_drawn_one_below_the_other(shop):
    got = linked(shop)
    assert got.root == "customers" and got.links["lines"].parent == "orders" and got.links["lines"].key == "order_id"
    shop.run()
    text = words(shop)
    assert not shop.exception and not shop.error
    assert text.index("customers") < text.index("at most 10") and "One individual is one record of customers" in text
    at_page(shop, "privacy")
    assert not shop.exception and not shop.error
    assert "at most 100 of lines, 10 of orders" in words(shop), "of an individual, not of an order"


def test_a_question_may_count_grandchildren_of_children(shop):
    at_page(shop, "questions")
    field(shop, "selectbox", "records").set_value("lines").run()
    shop.button(key="linked_ask_keep").click().run()
    assert not shop.exception and not shop.error
    assert asked(shop)[0].about == "orders"


def test_a_question_about_grandchildren_may_say_how_many_of_an_individual_count_fully(shop):
    at_page(shop, "questions")
    shop.selectbox[0].set_value("orders").run()
    assert not [e for e in shop.number_input if "customers" in e.label], "a customer is one record"
    shop.selectbox[0].set_value("lines").run()
    shop.selectbox[1].set_value("mean").run()
    few = field(shop, "number_input", "records of lines per record of customers")
    assert few.value is None and few.max == 100
    few.set_value(3).run()
    shop.button(key="linked_ask_keep").click().run()
    assert not shop.exception and not shop.error
    (question,) = asked(shop)
    said = "at most 3 records per record of customers count fully"
    assert question.about == "lines" and question.at_most == 3 and said in words(shop)
    job = made(shop)
    shop.session_state["open_run"] = job.id
    at_page(shop, "report")
    shop.segmented_control(key="report_view_links").set_value("asked").run()
    assert not shop.exception and not shop.error and said in words(shop)


def test_what_counts_fully_is_asked_and_said_in_german(shop):
    mean = {"name": "q", "kind": "mean", "of": "pieces"}
    kept.put(space_of(shop), {"about": "lines", "at_most": 3, "ask": mean})
    shop.session_state["language"] = "de"
    at_page(shop, "questions")
    assert field(shop, "number_input", "datensätze von orders je datensatz von customers").value is None
    assert "je Datensatz von customers zählen höchstens 3 voll" in words(shop) and not shop.exception


def test_a_run_three_deep_is_reported_and_handed_out(shop, tmp_path):
    linked(shop).links["lines"].max_children = 4
    job = made(shop)
    shop.session_state["open_run"] = job.id
    at_page(shop, "report")
    assert not shop.exception and not shop.error
    assert "customers" in words(shop) and "orders" in words(shop) and "lines" in words(shop)
    explored(shop, "pairs", links=True)
    shop.segmented_control(key=f"report_table_explore_{job.id}").set_value("lines").run()
    assert not shop.exception and not shop.error
    at_page(shop, "export")
    assert not shop.exception and not shop.error
    space = space_of(shop)
    schema, tables = results.tree(space, job), results.tables(space, job)
    assert all(k.hold and k.children for k in check_keys(schema, tables))
    hanging = Manifest.load(job.folder / "manifest.json").model_dump(mode="json")["hanging"]
    assert {h["table"]: h["max_children"] for h in hanging} == {"orders": 10, "lines": 40}
    place = tmp_path / "shop.sqlite"
    place.write_bytes(files.table_bytes(space, job, "sqlite"))
    with sqlite3.connect(place) as base:
        assert not base.execute("PRAGMA foreign_key_check").fetchall()
