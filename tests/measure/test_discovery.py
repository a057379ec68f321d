"""What a purchase asks for, charges and writes down, column by column, where no noise hides the values."""

import pyarrow as pa
import pytest

from dpsyn_core.measure.discovery import Wanted, cap_of, discover
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.document import SchemaUnit
from tests.seeded import SeededNoise

N = 400
PRICE = Budget(epsilon=50.0, delta=1e-6)


def learnt(columns, wanted, *, unit=None, shift=0, budget=PRICE, heard=None):
    unit = unit or SchemaUnit()
    cost, delta = cap_of(wanted, budget, Unit.of(unit))
    gate = Gate(account=Account(cost, delta=delta), noise=SeededNoise(scale=0.0, shift=shift), unit=Unit.of(unit))
    more = {} if heard is None else {"progress": lambda *said: heard.append(said)}
    return discover(pa.table(columns), wanted, name="people", unit=unit, gate=gate, cost=cost, delta=delta, **more)


def bought(cells, want, **more):
    found = learnt({"x": cells}, [want], **more).schema.document()["attributes"][0]
    return {k: v for k, v in found.items() if k not in ("name", "source", "missing")}


@pytest.mark.parametrize(
    ("want", "cells", "expected"),
    [
        ({"low": 5, "high": 5, "bins": 3}, [5], {"min": 5, "max": 5, "bins": {"count": 1}}),
        ({"low": 5, "high": 7, "bins": 3}, [5, 6, 7], {"min": 5, "max": 7, "bins": {"count": 3}}),
        ({"low": 5, "high": 8, "bins": 3}, [5, 6, 7, 8], {"min": 5, "max": 8, "bins": {"edges": [6]}}),
        ({"low": 5, "high": 8}, [5], {"min": 5, "max": 8}),
        ({"bins": 3}, [0], {"min": 0, "max": 0, "bins": {"count": 1}}),
        ({}, [17, 40], {"min": 16, "max": 63}),
        ({"low": 1, "high": 9, "bins": 1}, [4], {"min": 1, "max": 9, "bins": {"count": 1}}),
    ],
)
def test_a_whole_number_gets_its_range_and_as_many_bins_as_it_has_values_at_most(want, cells, expected):
    made = bought([str(cells[i % len(cells)]) for i in range(N)], Wanted(name="x", kind="integer", **want))
    found = {k: made[k] for k in expected}
    assert found == expected and (made["kind"], made["dtype"]) == ("numeric", "integer")


@pytest.mark.parametrize("want", [{"low": 0.0, "high": 0.0, "bins": 4}, {"low": 0.0, "high": 2.0, "bins": 1}])
def test_a_fraction_of_one_value_or_one_bin_has_one(want):
    made = bought(["0.0", "1.5"] * (N // 2), Wanted(name="x", kind="float", **want))
    assert (made["min"], made["max"], made["bins"]) == (0.0, want["high"], {"count": 1})


def test_dates_get_the_years_that_stand_out_and_no_year_before_the_first():
    want = Wanted(name="x", kind="date", formats=("%d.%m.%Y",))
    for years, ends in (((1999, 2003), (1999, 2003)), ((1,), (1, 1)), ((9999,), (9999, 9999)), ((2, 3), (2, 3))):
        cells = [f"01.02.{years[i % len(years)]:04d}" for i in range(N)] + [""] * 30
        made = bought(cells, want)
        assert made["kind"] == "datetime" and made["formats"] == ["%d.%m.%Y"]
        assert (made["min"][:10], made["max"][:10]) == (f"{ends[0]:04d}-01-01", f"{ends[1]:04d}-12-31")


def test_records_outside_are_counted_without_blank_cells():
    for kind, cells in (("integer", ["40"] * N), ("date", ["2003-05-06"] * N)):
        for blanks in (0, 200):
            found = learnt({"x": [*cells, *[""] * blanks]}, [Wanted(name="x", kind=kind)])
            about, most = found.outside["x"]
            assert about == 0.0 and most < 5
            assert found.total == N + blanks


def test_a_purchase_lists_its_charges_and_says_when_each_column_is_done():
    heard = []
    columns = {"who": [str(i) for i in range(N)], "b": ["7"] * N, "a": ["u", "v"] * (N // 2), "c": ["?"] * N}
    unit = SchemaUnit(identifier="who")
    wanted = [Wanted(name="a", kind="categorical"), Wanted(name="b", kind="integer", unconfirmed=True),
              Wanted(name="c", kind="integer")]  # fmt: skip
    found = learnt(columns, wanted, unit=unit, heard=heard)
    assert [s[:3] for s in heard if s[0] == "discover"] == [("discover", k, 3) for k in (1, 2, 3)]
    assert [(a.name, a.kind) for a in found.schema.attributes] == [
        ("who", "identifier"), ("b", "numeric"), ("a", "categorical")
    ]  # fmt: skip
    assert [found.schema[n].source for n in "ba"] == ["bought-unconfirmed", "bought"]
    assert list(found.failed) == ["c"] and "cannot be distinguished" in found.failed["c"]
    assert [c.name for c in found.charges] == ["number of records", "categories of a", "range of b", "range of c"]
    listed = found.schema.document()["bought"]
    for charge, entry in zip(found.charges, listed, strict=True):
        fields = ("name", "mechanism", "sensitivity", "scale", "cells", "rho", "epsilon", "delta")
        assert {k: entry.get(k, 0.0) for k in fields} == {k: getattr(charge, k) for k in fields}
    assert learnt({"x": ["7"] * N}, [Wanted(name="x", kind="integer")], shift=N).total == 2 * N
    assert learnt({"x": ["7"] * N}, [Wanted(name="x", kind="integer", low=1, high=9)], shift=-N - 5).total == 0


def test_categories_are_counted_by_individuals_where_one_may_have_several_records():
    cells = {"who": [str(i // 4) for i in range(N)], "x": ["u"] * N}
    for unit in (SchemaUnit(identifier="who", max_records=4), SchemaUnit(), SchemaUnit(max_records=4)):
        found = learnt(cells, [Wanted(name="x", kind="categorical")], unit=unit)
        (charge,) = [c for c in found.charges if c.mechanism == "partition-selection"]
        alone = learnt(cells, [Wanted(name="x", kind="categorical")], unit=SchemaUnit())
        (single,) = [c for c in alone.charges if c.mechanism == "partition-selection"]
        by_records = unit.identifier is None and unit.max_records > 1
        assert (charge.sensitivity > single.sensitivity) == (by_records or unit.max_records > 1)


@pytest.mark.parametrize(
    ("attribute", "more", "expected"),
    [
        ({"kind": "numeric", "dtype": "float", "written": "1,5"}, {}, {"kind": "float", "written": "1,5"}),
        ({"kind": "numeric", "dtype": "integer"}, {}, {"kind": "integer"}),
        ({"kind": "numeric", "dtype": "float", "written": "1,5"}, {"kind": "categorical"}, {"kind": "categorical"}),
        ({"kind": "datetime", "formats": ["%Y"]}, {}, {"kind": "date", "formats": ("%Y",)}),
        ({"kind": "datetime", "formats": ["%Y"]}, {"kind": "categorical"}, {"kind": "categorical"}),
        ({"kind": "categorical", "values": ["1"], "by_prefix": True}, {}, {"kind": "categorical", "above": ("1",)}),
        ({"kind": "categorical", "values": ["1"], "by_prefix": False}, {}, {"kind": "categorical"}),
        ({"kind": "categorical", "values": ["1"]}, {}, {"kind": "categorical"}),
    ],
)
def test_what_a_schema_says_of_a_column_is_taken_over_as_far_as_its_kind_has_it(attribute, more, expected):
    plain = {"name": "x", "source": "public"}
    assert Wanted.of(plain | attribute, **more) == Wanted(name="x", **expected)
    data = plain | attribute | {"source": "data"}
    read = Wanted.of(data, **more)
    assert read.unconfirmed and not Wanted.of(data, known=True).unconfirmed
    assert read.above == (), "what was read is no public beginning"


def test_a_purchase_costs_what_its_cap_says():
    wanted = [Wanted(name="x", kind="integer")]
    for budget in (Budget(epsilon=1.0, delta=1e-6), Budget(epsilon=1.0, delta=0.0)):
        cost, delta = cap_of(wanted, budget, Unit())
        assert (cost, delta) == (budget.gaussian() if budget.delta else budget.pure(), 0.0)
    assert cap_of([Wanted(name="x", kind="categorical")], PRICE, Unit())[1] == 5e-7
    assert isinstance(cap_of([Wanted(name="x", kind="categorical")], PRICE, Unit())[0], Cost)
