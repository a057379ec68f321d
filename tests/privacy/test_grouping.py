"""Manifests of thousands of charges: grouped without losing a name, small, and refused when a group lies."""

import json
import math
from itertools import combinations

import pytest

from dpsyn_core.errors import InputError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.charge_record import ChargeRecord
from dpsyn_core.privacy.ledger.grouping import columns_of, grouped_entries, listed_entries
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.manifest.signing import load_key, new_key, signature_holds
from tests.privacy.test_manifest import charges as few_charges
from tests.privacy.test_manifest import manifest

BUDGET = Budget(epsilon=1.0, delta=1e-9)


def wide(columns=40, *, keep=lambda a, b: True):
    """A total, one-ways, scores and pairs of columns of 2 to 12 values, with the noise that goes by the cells."""
    sizes = {f"c{i:03}": 2 + i % 11 for i in range(columns)}
    pairs = [p for p in combinations(sizes, 2) if keep(*(int(n[1:]) for n in p))]
    tables = [(f"marginal {n}", s, "1-way") for n, s in sizes.items()]
    tables += [("scores of pairs", math.comb(columns, 2), "scores")]
    tables += [(f"marginal {a} x {b}", sizes[a] * sizes[b], "2-way") for a, b in pairs]
    costs = BUDGET.gaussian().split([float(cells) ** (2 / 3) for _, cells, _ in tables])
    return [
        Charge(
            name=name, mechanism="gaussian", sensitivity=1.0, scale=cost.sigma(1.0), cells=cells, kind=kind,
            rho=0.5 / cost.sigma(1.0) ** 2,
        )
        for (name, cells, kind), cost in zip(tables, costs, strict=True)
    ]  # fmt: skip


def records(names, kinds):
    return [
        ChargeRecord(name=n, mechanism="gaussian", sensitivity=1.0, sigma=2.0, cells=3, rho=0.125, kind=k)
        for n, k in zip(names, kinds, strict=True)
    ]


def said(charges):
    return sorted((c.name, c.sigma, c.cells, c.rho, c.kind) for c in charges)


def test_a_grouped_manifest_has_every_charge_and_is_the_same_after_a_trip_through_its_file(tmp_path):
    booked = wide()
    made = manifest(charges=booked, bought=few_charges(shares=(1.0,)))
    made.dump(tmp_path / "m.json")
    found = Manifest.load(tmp_path / "m.json")
    assert made.version == 3
    assert found == made
    assert found.to_json() == made.to_json()
    assert said(found.charges) == sorted((c.name, c.scale, c.cells, c.rho, c.kind) for c in booked)
    assert len(json.loads(made.to_json())["charges"]) < 100


def test_a_short_manifest_has_each_charge_by_itself():
    document = json.loads(manifest().to_json())
    assert document["version"] == 3
    assert "columns" not in document
    assert all("name" in c and "count" not in c for c in document["charges"])


def test_a_pair_of_many_columns_takes_a_few_bytes():
    """All 124,750 pairs of 500 columns take 110 KB in this way, and 59,000 of them 240 KB."""
    for keep, most in ((lambda a, b: True, 4), (lambda a, b: (a * 7919 + b * 104729) % 17 < 8, 7)):
        charges = wide(110, keep=keep)
        assert len(manifest(charges=charges).to_json()) < most * len(charges) + 30_000


def test_one_sum_over_entries_and_counts_recomputes_the_cost():
    made = manifest(charges=wide())
    entries = json.loads(made.to_json())["charges"]
    mu = math.sqrt(sum(c.get("count", 1) * (c["sensitivity"] / c["sigma"]) ** 2 for c in entries))
    assert mu == pytest.approx(made.mu, rel=1e-12)


def test_a_signature_over_groups_holds_and_breaks_with_a_count(tmp_path):
    new_key(tmp_path / "k")
    document = json.loads(manifest(charges=wide()).signed(load_key(tmp_path / "k")).to_json())
    assert signature_holds(document)
    next(c for c in document["charges"] if "count" in c)["count"] += 1
    assert not signature_holds(document)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"count": 2}, "as many charges as it counts"),
        ({"count": 10**9}, "whole number of charges"),
        ({"count": True}, "whole number of charges"),
        ({"marginals": "0-3 900"}, "places among"),
        ({"marginals": "0-3 -1"}, "places among"),
        ({"marginals": 7}, "places among"),
        ({"marginals": "0-99999999999999"}, "places among|as many"),
        ({"names": ["a"]}, "a name, or a count"),
        ({"name": "a"}, "a name, or a count"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_group_that_does_not_name_what_it_counts_is_refused(tmp_path, changed, words):
    document = json.loads(manifest(charges=wide()).to_json())
    next(c for c in document["charges"] if "marginals" in c).update(changed)
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=words):
        Manifest.load(tmp_path / "m.json")


def test_a_group_in_a_manifest_of_version_1_is_refused(tmp_path):
    document = json.loads(manifest(charges=wide()).to_json()) | {"version": 1}
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match="version 1"):
        Manifest.load(tmp_path / "m.json")


def test_fewer_charges_than_were_spent_do_not_add_up(tmp_path):
    document = json.loads(manifest(charges=wide()).to_json())
    at = next(i for i, c in enumerate(document["charges"]) if "count" in c)
    del document["charges"][at]
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match="does not add up"):
        Manifest.load(tmp_path / "m.json")


def test_names_of_any_columns_come_back_from_a_group():
    names = ["marginal a x b", "marginal a x b x c", "marginal  x ", "marginal 3-4, 5", "marginal a x b", "marginal "]
    for some in (names, [*names, "range of age"]):
        columns = columns_of(records(some, [None] * len(some)))
        grouped = grouped_entries(records(some, [None] * len(some)), columns)
        assert len(grouped) == 1
        assert sorted(e["name"] for e in listed_entries(grouped, columns)) == sorted(some)


def test_the_order_of_steps_is_kept():
    kinds = ["1-way", "1-way", "choice", "2-way", "choice", "2-way"]
    charges = records([f"marginal {i}" for i in range(6)], kinds)
    columns = columns_of(charges)
    assert [e["kind"] for e in listed_entries(grouped_entries(charges, columns), columns)] == kinds
