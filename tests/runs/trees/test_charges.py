"""Charges of linked tables against their schema: a manifest cannot claim less than was spent."""

import json

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.charge_record import ChargeRecord
from dpsyn_core.privacy.composition import compose
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.manifest.statement import guarantee
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.verify.receipts import receipt
from dpsyn_core.runs.verify.stated_noise import of_linked_charges
from tests.runs.trees.small import SCHEMAS, listed, number, schema_of, tables

UNIT = 840  # of up to eight children
WIDE = schema_of({}, root=[listed(n, 3) for n in "abcde"], child=(listed("r", 2),))  # no sibling has a difference


@pytest.fixture(scope="module")
def households(tmp_path_factory):
    place = tmp_path_factory.mktemp("households")
    schema = schema_of({"roles": {"column": "r", "single": ["0"]}}, theta=8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYN_HOME", str(place / "home"))
        release = synthesize(tables(200, 8, 1), schema, epsilon=1.0, delta=1e-6, rng=1, settings={"effort": 0.2})
        release.write(place / "out", place / "manifest.json")
    return place, schema


def divided(charges):
    """Charges of views as if a root's children weighed 1, with the scale of their noise."""
    for c in charges:
        if c["sensitivity"] >= UNIT:
            c["sensitivity"] /= UNIT
            c["rho"] /= UNIT**2
    return charges


def reordered(charges):
    """The same, with all scores after those of the root, whose unit is 1."""
    scores = [c for c in divided(charges) if c["kind"] == "scores"]
    others = [c for c in charges if c["kind"] != "scores"]
    at = next(i for i, c in enumerate(others) if "kids" in c["name"] and "roots" not in c["name"])
    return [*others[:at], *scores, *others[at:]]


def renamed(charges):
    for c in divided(charges):
        if "kids.t" in c["name"]:
            c["name"] = "marginal roots.a"
    return charges


EDITS = {
    "the unit of another view": (divided, "by the schema it would be 840"),
    "scores among those of the root": (reordered, "do not charge there"),
    "charges with names of the root": (renamed, "do not charge there"),
    "a charge less": (lambda cs: [c for c in cs if c["name"] != "marginal kids.t"], "'marginal kids.t', and the man"),
}


def written(place, change):
    """A manifest whose charges are edited, with all that follows from them."""
    m = json.loads((place / "manifest.json").read_text("utf-8"))
    m["charges"] = change(m["charges"])
    whole = compose(ChargeRecord.model_validate(c).charge() for c in m["charges"])
    m.update(mu=whole.mu, rho=whole.zcdp, epsilon=whole.epsilon(m["delta"]) * 1.0001)
    unit = Unit(neighbours=m["neighbours"], max_records=m["max_records"], identifier=m["identifier"])
    hanging = Manifest.load(place / "manifest.json").hanging
    m["guarantee"] = guarantee(Budget(epsilon=m["epsilon"], delta=m["delta"]), unit, hanging=hanging)
    out = place / "edited.json"
    out.write_text(json.dumps(m), encoding="utf-8")
    return out


@pytest.mark.parametrize("edit", EDITS)
def test_a_manifest_that_claims_less_than_was_spent_is_denied_by_the_schema(households, edit):
    place, schema = households
    change, says = EDITS[edit]
    found = receipt(place / "out/kids.csv", written(place, change), schema=schema)
    assert not found.holds and says in found.sentence, found.sentence


def test_linked_tables_are_called_safe_to_publish_only_with_their_schema(households):
    place, schema = households
    manifest = place / "manifest.json"
    with_schema, without = (receipt(place / "out/kids.csv", manifest, schema=s) for s in (schema, None))
    assert with_schema.publishable and "safe to publish" in with_schema.sentence
    schema.dump(place / "schema.json")
    assert main(["key", "new", str(place / "owner.key")]) == 0
    signing = ["key", "sign", str(manifest), "--key", str(place / "owner.key")]
    assert main([*signing, "--schema", str(place / "schema.json")]) == 0
    assert without.holds and not without.publishable and "is not called safe to publish" in without.sentence


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("epsilon", [0.01, 8.0])
@pytest.mark.parametrize("name", [*SCHEMAS, "wide"])
def test_no_run_of_linked_tables_is_contradicted_by_its_own_manifest(name, epsilon, delta, tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path))
    schema = WIDE if name == "wide" else SCHEMAS[name]
    given = tables(150, 4, 1)
    if name == "wide":
        roots = given["roots"]
        for column in "abcde":
            at = roots.column_names.index(column) if column in roots.column_names else None
            roots = roots if at is not None else roots.append_column(column, roots.column("a"))
        given = {"roots": roots, "kids": given["kids"].drop(["t"])}
    release = synthesize(given, schema, epsilon=epsilon, delta=delta, rng=1, settings={"effort": 0.1})
    assert not of_linked_charges(release.manifest, schema)


def test_names_that_hold_the_sign_between_names_are_read():
    schema = schema_of({}, root=[listed("a", 2), listed("b x roots.c", 2)], child=[number("t x y", 6)])
    assert not [s for s in of_linked_charges(_named("marginal roots.a x roots.b x roots.c"), schema) if "there" in s]
    assert any("there" in s for s in of_linked_charges(_named("marginal roots.a x roots.z"), schema))


def _named(name):
    class One:
        settings = {}  # noqa: RUF012
        charges = (
            ChargeRecord(name=name, mechanism="gaussian", sensitivity=1, sigma=1, cells=4, rho=0.5, kind="2-way"),
        )

    return One()
