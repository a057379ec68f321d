"""Rules of linked tables that names let expect, inside tables and across links; the time between dates of a child."""

import numpy as np
import pyarrow as pa

from dpsyn_core.commands.cli import main
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.schema.drafts.linked import propose_linked_rules
from dpsyn_core.schema.linked import LinkedSchema
from dpsyn_core.schema.rules.linked_spans import measured_schema
from tests.schema.helpers import cat, date, num

DAYS = ("2020-01-01", "2023-12-31", "day")
CUSTOMERS = [date("since", *DAYS), num("birth_year", 1930, 2009, 80), cat("kind", ["new", "old"])]
ORDERS = [
    date("ordered", *DAYS),
    date("shipped", *DAYS),
    num("order_year", 2020, 2029, 10),
    cat("way", ["web", "shop"]),
]


def shop(**link):
    tables = [
        {"name": "customers", "key": "id", "schema": {"version": 1, "name": "customers", "attributes": CUSTOMERS}},
        {"name": "orders", "schema": {"version": 1, "name": "orders", "attributes": ORDERS}},
    ]
    links = [{"parent": "customers", "child": "orders", "key": "id", "max_children": 4, **link}]
    return LinkedSchema.of({"version": 2, "name": "shop", "tables": tables, "links": links})


def family(role=("Head", "Spouse", "Child")):
    tables = [
        {"name": "homes", "key": "id"},
        {"name": "persons", "schema": {"version": 1, "name": "p", "attributes": [
            cat("role", [*role, "Other"]), num("age", 0, 99, 100), num("birth year", 1920, 2023, 104),
        ]}},
    ]  # fmt: skip
    roles = {"column": "role", "single": list(role[:2])}
    links = [{"parent": "homes", "child": "persons", "key": "id", "max_children": 6, "roles": roles}]
    return LinkedSchema.of({"version": 2, "name": "t", "tables": tables, "links": links})


def said(schema):
    return [str(p) for p in propose_linked_rules(schema)]


def test_orders_inside_a_table_and_across_its_link():
    assert said(shop()) == [
        "orders: ordered <= shipped", "orders: customers.since <= ordered", "orders: customers.since <= shipped",
        "orders: customers.birth_year <= order_year",
    ]  # fmt: skip


def test_a_date_of_the_parent_comes_before_one_of_the_child_where_headers_say_so():
    tables = [
        {"name": n, "key": key, "schema": {"version": 1, "name": n, "attributes": [date(d, *DAYS)]}}
        for n, key, d in (("orders", "id", "order_date"), ("lines", None, "ship_date"))
    ]
    links = [{"parent": "orders", "child": "lines", "key": "id", "max_children": 4}]
    schema = LinkedSchema.of({"version": 2, "name": "t", "tables": tables, "links": links})
    assert said(schema) == ["lines: orders.order_date <= ship_date"]


def test_what_a_schema_has_is_not_proposed_again_and_what_it_cannot_have_never():
    rule = {"kind": "order", "lower": "customers.since", "upper": "ordered"}
    assert "orders: customers.since <= ordered" not in said(shop(rules=[rule]))
    found = said(shop(order="ordered"))
    assert "orders: ordered <= shipped" not in found, "a rule of the table may not name its order"
    assert "orders: customers.since <= shipped" in found


def test_roles_say_who_is_there_once_and_who_is_older():
    assert said(family()) == [
        "persons: exactly 1 with role = Head", "persons: impossible: age in [0, 13] and role in {Head, Spouse}",
        "persons: age < Head.age where role = Child",
        "persons: Head.birth year < birth year where role = Child",
    ]  # fmt: skip
    German = said(family(("Haushaltsvorstand", "Ehepartner", "Kind")))
    assert "persons: age < Haushaltsvorstand.age where role = Kind" in German


def test_a_person_adds_some_and_no_root_breaks_them(tmp_path, capsys):
    path, out = tmp_path / "s.json", tmp_path / "ruled.json"
    shop().dump(path)
    assert main(["schema", "propose-rules", str(path)]) == 0
    assert "2: orders: customers.since <= ordered" in capsys.readouterr().out and not out.exists()
    assert main(["schema", "propose-rules", str(path), "--add", "1", "2", "3", "--out", str(out)]) == 0
    assert "3 rules" in capsys.readouterr().out
    schema = LinkedSchema.load(out)
    assert len(schema.links[0].rules) == 2 and len(schema["orders"].columns.rules) == 1
    assert main(["schema", "propose-rules", str(path), "--add", "9", "--out", str(out)]) == 2


def records(n=1500):
    """Orders that are shipped some days after they came, by way; all after the customer joined."""
    rng = np.random.default_rng(2)
    since = np.datetime64("2020-01-01") + rng.integers(0, 1000, n)
    of = np.repeat(np.arange(n), rng.integers(0, 4, n))
    ordered = since[of] + rng.integers(0, 400, len(of))
    web = rng.random(len(of)) < 0.5
    customers = pa.table(
        {"id": np.arange(n), "since": since, "birth_year": rng.integers(1930, 2000, n), "kind": ["new"] * n}
    )
    orders = pa.table({
        "id": of, "ordered": ordered, "shipped": ordered + np.where(web, 1, 5) + rng.integers(0, 3, len(of)),
        "order_year": ordered.astype("datetime64[Y]").astype(int) + 1970, "way": np.where(web, "web", "shop"),
    })  # fmt: skip
    return {"customers": customers, "orders": orders}


def test_the_time_between_dates_of_a_child_is_measured_and_kept(tmp_path):
    chosen = propose_linked_rules(shop())[:2]
    schema = shop()
    for one in chosen:
        schema = one.added(schema)
    working = measured_schema(schema)
    assert [a.name for a in working["orders"].coded] == ["ordered", "order_year", "way", "shipped - ordered"]
    assert [a.name for a in measured_schema(schema, [{"of": "shipped"}])["orders"].coded][:2] == ["ordered", "shipped"]
    got = synthesize(records(), schema, epsilon=5, delta=1e-9, rng=1, ledger=Ledger(tmp_path / "l"), dataset="shop")
    customers, orders = (got.arrows[n].to_pandas() for n in ("customers", "orders"))
    assert list(orders.columns) == ["id", "ordered", "shipped", "order_year", "way"]
    days = (orders["shipped"].astype("datetime64[s]") - orders["ordered"].astype("datetime64[s]")).dt.days
    middle = days.groupby(orders["way"]).median()
    assert days.min() >= 0 and days.median() < 8, "made apart, the median is that of months"
    assert middle["web"] + 1 < middle["shop"], "1 to 3 and 5 to 7 days"
    joined = orders.merge(customers, on="id")
    assert (joined["since"] <= joined["ordered"]).all()
    got.write(tmp_path / "out")
    schema.dump(tmp_path / "s.json")
    assert main(["verify", str(tmp_path / "out"), "--schema", str(tmp_path / "s.json")]) == 0
