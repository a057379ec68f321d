"""Root, keys and links from names alone: three tables deep, keys named after their table or plainly."""

import pytest

from dpsyn_core.schema.drafts.links import after, guessed_links, guessed_roles

LINES = {"lines": ["line_id", "order_id", "customer_id", "product"], "orders": ["order_id", "customer_id", "day"],
         "customers": ["customer_id", "region"]}  # fmt: skip


def test_lines_hang_on_orders_and_these_on_customers():
    found = guessed_links(LINES)
    assert found.root == "customers"
    assert found.parents == {"lines": ("orders", "order_id"), "orders": ("customers", "customer_id")}
    assert found.keys == {"lines": "line_id", "orders": "order_id", "customers": "customer_id"}


def test_a_plain_id_is_the_key_where_children_name_the_table():
    found = guessed_links({"schools": ["id", "town"], "classes": ["id", "school_id"], "pupils": ["class_id", "sex"]})
    assert found.root == "schools"
    assert found.parents == {"classes": ("schools", "school_id"), "pupils": ("classes", "class_id")}
    assert found.keys == {"schools": "id", "classes": "id"}


def test_a_visit_number_stays_a_column_that_can_put_visits_in_order():
    found = guessed_links({"patients": ["patient_id"], "visits": ["patient_id", "visit_nr", "nr"]})
    assert found.keys == {"patients": "patient_id"}


def test_tables_that_name_each_other_get_links_all_the_same():
    found = guessed_links({"a1": ["a1_id", "b1_id"], "b1": ["b1_id", "a1_id"]})
    assert found.root in ("a1", "b1") and len(found.parents) == 1


def test_a_table_that_names_no_other_hangs_on_the_root_without_a_key():
    found = guessed_links({**LINES, "calls": ["when"]})
    assert found.root == "customers" and found.parents["calls"] == ("customers", "")


@pytest.mark.parametrize(
    ("table", "column", "whether"),
    [("households", "household_id", True), ("classes", "class", True), ("entries", "entry_nr", True),
     ("orders", "order_day", False), ("persons", "personality", False), ("Kunden", "kunden_nr", True)],
)  # fmt: skip
def test_which_columns_are_named_after_a_table(table, column, whether):
    assert after(table, column) is whether


def test_roles_that_a_parent_has_once_are_told_by_names_of_columns_and_values():
    persons = {"sex": ["f", "m"], "relation_to_head": ["Child", "Head", "Spouse", "Other"], "work": ["Head", "none"]}
    assert guessed_roles(persons) == ("relation_to_head", ("Head", "Spouse"))
    assert guessed_roles({"Rolle": ["Bezugsperson", "Kind", "Ehepartner"]}) == ("Rolle", ("Bezugsperson", "Ehepartner"))
    assert guessed_roles({"control": ["Head", "none"]}) is None, "the column is not named so"
    assert guessed_roles({"role": ["buyer", "seller"]}) is None
    assert guessed_roles({"role": ["Head", "Spouse"]}) is None, "somebody has to be left for all others"


def test_of_tables_that_share_a_column_the_root_is_the_one_that_begins_with_it():
    found = guessed_links({"visits": ["day", "code"], "people": ["code", "sex"], "drugs": ["name", "code"]})
    assert (found.root, found.keys) == ("people", {"people": "code"})
    assert found.parents == {"visits": ("people", "code"), "drugs": ("people", "code")}
