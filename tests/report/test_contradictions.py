"""Every field of a manifest edited by itself and with others: refused in a sentence, or no part of the guarantee."""

import copy
import itertools
import json
import shutil

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import DPSynError, InputError
from dpsyn_core.estimate.marginals.released_file import pack_measurements
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.charge_record import ChargeRecord
from dpsyn_core.privacy.composition import compose
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.manifest.signing import load_key, new_key
from dpsyn_core.privacy.manifest.statement import Digests, PartDigests, guarantee
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.verify.contradictions import contradictions
from dpsyn_core.runs.verify.receipts import receipt, signing_faults
from dpsyn_core.runs.writer import Places, write_release
from dpsyn_core.schema.document import Schema
from dpsyn_core.systems.registry import names
from dpsyn_core.tables.read import read_table
from tests.commands.small import SCHEMA
from tests.commands.small import write_table as write_people
from tests.systems.test_contract import MINI

UNIT = {"neighbours": "add-remove", "identifier": None, "max_records": 2}


def looked_at(schema):
    """The same schema, of which two entries say that they were read from the data."""
    out = copy.deepcopy(schema)
    for a in out["attributes"][:2]:
        a["source"] = "data"
    return out


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A private release and one on a schema that was read from the data, each with its schema and its marginals."""
    place = tmp_path_factory.mktemp("made")
    write_people(place / "people.csv")
    table, book = read_table(place / "people.csv"), Ledger(place / "ledger.sqlite3")
    declared = SCHEMA | {"unit": UNIT}
    for name, document in (("private", declared), ("drafted", looked_at(declared))):
        schema = Schema.of(document)
        schema.dump(place / f"{name}.schema.json")
        release = synthesize(table, schema, epsilon=1.0, delta=1e-9, rng=0, method="independent", ledger=book)
        places = Places.of(
            place / f"{name}.csv", place / f"{name}.json", measurements=place / f"{name}.json.gz", private=True
        )
        write_release(release, places, measurements=pack_measurements(release.marginals, schema=schema))
    new_key(place / "owner.key")
    return place


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path / "made")
    monkeypatch.chdir(tmp_path / "made")
    return tmp_path / "made"


def edited(place, change, *, of="private"):
    """Writes the manifest after a change, and gives the receipt with all that is at hand."""
    document = json.loads((place / f"{of}.json").read_text("utf-8"))
    change(document)
    (place / "edited.json").write_text(json.dumps(document), encoding="utf-8")
    return receipt(place / f"{of}.csv", place / "edited.json", measurements=place / f"{of}.json.gz",
                   schema=Schema.load(place / f"{of}.schema.json"))  # fmt: skip


def refused_to_sign(place, *, of="private"):
    """Whether `dpsyn key sign` refuses the edited manifest, with the schema and the marginals at hand."""
    before = (place / "edited.json").read_bytes()
    status = main(["key", "sign", str(place / "edited.json"), "--key", str(place / "owner.key"), "--schema",
                   str(place / f"{of}.schema.json"), "--measurements", str(place / f"{of}.json.gz")])  # fmt: skip
    assert (status != 0) == ((place / "edited.json").read_bytes() == before)
    return status == 2


def add_up(m):
    """Makes the numbers and the sentence of an edited manifest those of its charges, as a careful liar would."""
    records = [ChargeRecord.model_validate(c) for c in m["charges"]]
    whole = compose(r.charge() for r in records)
    m.update(mu=whole.mu, rho=whole.zcdp)
    unit = Unit(neighbours=m["neighbours"], max_records=m["max_records"], identifier=m["identifier"])
    budget = Budget(epsilon=m["epsilon"], delta=m["delta"])
    m["guarantee"] = guarantee(budget, unit, private=m["private"], noisy=bool(records))


def quieter(m, factor):
    """Charges that claim more noise than was added, and the smaller epsilon that would follow."""
    for c in m["charges"]:
        c["sigma"] *= factor
        c["rho"] /= factor**2
    m["epsilon"] = 1.001 * compose(ChargeRecord.model_validate(c).charge() for c in m["charges"]).epsilon(m["delta"])


QUESTIONS = {"version": 1, "questions": [{"name": "q", "kind": "table", "by": ["sex"]}]}
BOUGHT = {"name": "range age", "mechanism": "geometric", "sensitivity": 2.0, "scale": 20.0, "cells": 9, "rho": 0.005,
          "epsilon": 0.1}  # fmt: skip
USED = {"name": "before.csv", "sha256": "0" * 64, "n_records": 9, "columns": ["age"], "vouched": "owner's word"}
# an edit of each field alone, of a private manifest
ALONE = {
    "hanging": lambda m: m.update(hanging=[{"table": "visits", "max_children": 3}]),
    "version": lambda m: m.update(version=4),
    "private": lambda m: m.update(private=False),
    "not_private_because": lambda m: m.update(not_private_because=["somebody looked"]),
    "guarantee": lambda m: m.update(guarantee="Nobody can ever learn anything."),
    "epsilon": lambda m: m.update(epsilon=0.5),
    "delta": lambda m: m.update(delta=1e-12),
    "mu": lambda m: m.update(mu=0.01),
    "rho": lambda m: m.update(rho=0.01),
    "neighbours": lambda m: m.update(neighbours="replace"),
    "max_records": lambda m: m.update(max_records=5),
    "identifier": lambda m: m.update(identifier="person"),
    "schema_name": lambda m: m.update(schema_name="other"),
    "schema_hash": lambda m: m.update(schema_hash="0" * 64),
    "method": lambda m: m.update(method="dpsyn"),
    "settings": lambda m: m.update(settings={"rounds": 3}),
    "questions": lambda m: m.update(questions={"sha256": "0" * 64, "share": 0.5, "document": QUESTIONS}),
    "columns": lambda m: m.update(columns=["age"]),
    "charges": lambda m: m.update(charges=m["charges"][1:]),
    "bought": lambda m: m.update(bought=[BOUGHT]),
    "public_table": lambda m: m.update(public_table=USED),
    "rules": lambda m: m.update(rules=[{"rule": "age <= pay", "vouched": "owner's word"}]),
    "digests": lambda m: m.update(digests=None),
    "signature": lambda m: m.update(signature={"algorithm": "ed25519", "key": "0" * 64, "value": "0" * 128}),
}
# where a run stands, and how its records were made: nobody's guarantee rests on them
FREE = {
    "dataset": lambda m: m.update(dataset="other"),
    "run_id": lambda m: m.update(run_id="0" * 32),
    "ledger_chain": lambda m: m.update(ledger_chain="0" * 64),
    "n_records": lambda m: m.update(n_records=7),
    "refit": lambda m: m.update(refit={"release": "0" * 64, "method": "dpsyn"}),
    "seed": lambda m: m.update(seed=8),
    "query": lambda m: m.update(query="owner's word"),
    "versions": lambda m: m["versions"].update(numpy="0.1"),
    "seconds": lambda m: m.update(seconds=1234.5),
}
OF_CHARGES = {
    "name": lambda c: c.update(name="marginal pay"),
    "mechanism": lambda c: c.update(mechanism="exponential"),
    "sensitivity": lambda c: c.update(sensitivity=1.0),
    "sigma": lambda c: c.update(sigma=c["sigma"] * 2),
    "scale": lambda c: c.update(sigma=None, scale=5.0),
    "cells": lambda c: c.update(cells=1),
    "rho": lambda c: c.update(rho=c["rho"] / 2),
    "epsilon": lambda c: c.update(epsilon=0.4),
    "delta": lambda c: c.update(delta=1e-3),
    "kind": lambda c: c.update(kind="total"),
    "sampling": lambda c: c.update(sampling=0.5),
    "steps": lambda c: c.update(steps=4),
    "records": lambda c: c.update(records=9),
    "exchanged": lambda c: c.update(exchanged=True),
}
OF_DIGESTS = {"measurements": lambda d: d.update(measurements="0" * 64), "parts": lambda d: d.update(parts=[PART])}
PART = {"name": "p", "n_records": 1, "content": "0" * 64, "file": "0" * 64}
FREE_OF_DIGESTS = {  # the bytes of the file are its own; another copy would not be
    "content": lambda d: d.update(content="0" * 64),
    "excel": lambda d: d.update(excel="0" * 64),
    "tables": lambda d: d.update(tables=[]),
    "model": lambda d: d.update(model="0" * 64),
}


def test_every_field_of_a_manifest_is_tried():
    assert set(ALONE) | set(FREE) == set(Manifest.model_fields)
    assert set(OF_CHARGES) == set(ChargeRecord.model_fields)
    assert set(OF_DIGESTS) | set(FREE_OF_DIGESTS) | {"files"} == set(Digests.model_fields)


def test_what_was_not_edited_is_safe_to_publish_and_can_be_signed(place):
    assert edited(place, lambda m: None).publishable
    assert not refused_to_sign(place)


@pytest.mark.parametrize("field", list(ALONE))
def test_a_field_of_the_guarantee_cannot_be_edited_by_itself(place, field):
    found = edited(place, ALONE[field])
    assert not found.holds and not found.publishable and found.sentence
    assert field in ("digests", "signature") or refused_to_sign(place)  # signing makes another, and sees no table


@pytest.mark.parametrize("field", list(FREE))
def test_a_field_that_is_not_of_the_guarantee_is_the_signatures_business(place, field):
    # a word for the query can be added by anybody; from then on nothing is called safe to publish
    assert edited(place, FREE[field]).holds and edited(place, FREE[field]).publishable == (field != "query")
    document = json.loads((place / "private.json").read_text("utf-8"))
    signed = Manifest.model_validate(document).signed(load_key(place / "owner.key"))
    (place / "private.json").write_text(signed.to_json(), encoding="utf-8")
    assert "signature does not fit" in edited(place, FREE[field]).sentence


@pytest.mark.parametrize("field", list(OF_CHARGES))
def test_a_field_of_a_charge_cannot_be_edited_by_itself(place, field):
    assert not edited(place, lambda m: OF_CHARGES[field](m["charges"][0])).holds
    assert refused_to_sign(place)


@pytest.mark.parametrize("field", list(OF_DIGESTS))
def test_digests_of_other_files_are_refused(place, field):
    assert not edited(place, lambda m: OF_DIGESTS[field](m["digests"])).holds


@pytest.mark.parametrize("field", list(FREE_OF_DIGESTS))
def test_digests_of_what_is_not_at_hand_change_nothing_about_the_file_that_is(place, field):
    assert edited(place, lambda m: FREE_OF_DIGESTS[field](m["digests"])).publishable


def test_a_receipt_says_that_the_query_rests_on_the_owners_word(place):
    assert "owner's word" not in edited(place, lambda m: None).sentence
    found = edited(place, FREE["query"])
    assert "is the owner's word, on which its promise rests" in found.sentence
    assert found.vouched and not found.publishable and "so that it is not called safe to publish" in found.sentence


def test_a_digest_of_another_file_leaves_the_table_and_not_the_file(place):
    found = edited(place, lambda m: m["digests"].update(files={"csv": "0" * 64}))
    assert found.holds and not found.publishable


TOGETHER = {
    "a smaller epsilon": (lambda m: m.update(epsilon=0.5), "charges cost"),
    "fewer records an individual": (lambda m: m.update(max_records=1), "sensitivity"),
    "more records an individual": (lambda m: m.update(max_records=9), "sensitivity"),
    "other neighbours": (lambda m: m.update(neighbours="replace"), "sensitivity"),
    "people instead of records": (lambda m: m.update(identifier="person"), "another unit of privacy"),
    "no charges": (lambda m: m.update(charges=[]), "no charge at all"),
    "one charge less": (lambda m: m.update(charges=m["charges"][1:]), "does not list that charge"),
    "one charge less, and its epsilon": (
        lambda m: (m.update(charges=m["charges"][1:]), quieter(m, 1.0)), "does not list that charge"),
    "more noise than was added": (lambda m: quieter(m, 10.0), "released with less noise"),
    "more noise at the same epsilon": (
        lambda m: [c.update(sigma=c["sigma"] * 2, rho=c["rho"] / 4) for c in m["charges"]], "less noise"),
    "a smaller sensitivity": (
        lambda m: [c.update(sensitivity=1.0, sigma=c["sigma"] / 2) for c in m["charges"]], "sensitivity"),
    "another method": (lambda m: m.update(method="dpsyn", settings={}), "the method charges nothing of the kind"),
    "a method that adds no noise": (lambda m: m.update(method="pgm", settings={"not_private": True}), "adds no noise"),
    "a method that nobody knows": (lambda m: m.update(method="magic", settings={}), "unknown method 'magic'"),
    "pure": (lambda m: m.update(delta=0.0), "charges cost"),
}  # fmt: skip


@pytest.mark.parametrize("what", list(TOGETHER))
def test_fields_of_a_private_manifest_that_are_edited_together_are_contradicted(place, what):
    change, says = TOGETHER[what]

    def both(m):
        change(m)
        add_up(m)

    found = edited(place, both)
    assert not found.holds and says in found.sentence, found.sentence
    assert refused_to_sign(place)


def test_a_weaker_promise_than_was_kept_is_no_lie(place):
    def weaker(m):
        m.update(epsilon=3.0, versions={})
        add_up(m)

    assert edited(place, weaker).holds


TOWARD = {
    "private": lambda m: m.update(private=True),
    "not_private_because": lambda m: m.update(not_private_because=[]),
    "guarantee": lambda m: m.update(
        guarantee=guarantee(Budget(epsilon=1.0, delta=1e-9), Unit(neighbours="add-remove", max_records=2))
    ),
}


def test_the_schema_denies_a_manifest_that_was_edited_from_not_private_to_private(place):
    for size in (1, 2, 3):
        for some in itertools.combinations(TOWARD, size):
            found = edited(place, lambda m, some=some: [TOWARD[f](m) for f in some], of="drafted")
            assert not found.holds and not found.publishable and found.sentence, some
            assert refused_to_sign(place, of="drafted"), some
    assert "was read from the data" in found.sentence
    assert main(["verify", "drafted.csv", "--manifest", "edited.json", "--schema", "drafted.schema.json"]) == 2
    assert main(["report", "-", "drafted.csv", "--manifest", "edited.json", "--schema", "drafted.schema.json", "--json",
                 "r.json", "--quiet"]) == 0  # fmt: skip
    assert "not to be published" in json.loads((place / "r.json").read_text("utf-8"))["label"]


def test_the_schema_in_the_file_of_marginals_is_enough_to_deny_it(place):
    edited(place, lambda m: [change(m) for change in TOWARD.values()], of="drafted")
    found = receipt(place / "drafted.csv", place / "edited.json", measurements=place / "drafted.json.gz")
    assert not found.holds and "was read from the data" in found.sentence


def test_another_schema_that_was_confirmed_later_is_denied_by_the_marginals(place):
    confirmed = Schema.load(place / "private.schema.json")
    shutil.copy(place / "private.json", place / "other.json")
    stated = json.loads((place / "other.json").read_text("utf-8"))["schema_hash"]
    edited(place, lambda m: [*(c(m) for c in TOWARD.values()), m.update(schema_hash=stated)], of="drafted")
    found = receipt(
        place / "drafted.csv", place / "edited.json", measurements=place / "drafted.json.gz", schema=confirmed
    )
    assert not found.holds and "another schema" in found.sentence


def test_a_run_without_noise_that_is_called_private_is_denied_by_its_manifest_alone(place):
    """The real table itself, called safe to publish by a manifest that anybody can write."""
    nothing = {"charges": [], "mu": 0.0, "rho": 0.0}
    for method, settings in (("pgm", {"not_private": True}), ("vae", {}), ("independent", {})):

        def lie(m, method=method, settings=settings):
            m.update(nothing, method=method, settings=settings, epsilon=1e-6)
            add_up(m)

        found = edited(place, lie)
        alone = receipt(place / "private.csv", place / "edited.json")
        for got in (found, alone):
            assert not got.holds and not got.publishable and "no charge" in got.sentence
        with pytest.raises(InputError, match="not signed"):
            Manifest.load(place / "edited.json").signed(load_key(place / "owner.key"))
        assert refused_to_sign(place)


@pytest.mark.parametrize(("columns", "records"), [(40, 60), (40, 3000), (3, 100_000)])
def test_the_plan_of_a_private_number_of_records_contradicts_no_run_and_finds_a_column_that_is_missing(
    columns, records, tmp_path
):
    """How often rls releases a total, and whether it measures pairs, depends on the records of the private table."""
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(0)
    table = pa.table({f"c{i}": rng.integers(0, 4, records).astype(str) for i in range(columns)})
    some = [{"name": n, "kind": "categorical", "values": ["0", "1", "2", "3"]} for n in table.column_names]
    schema = Schema.of({"version": 1, "name": "many", "attributes": some})
    found = synthesize(table, schema, epsilon=1.0, delta=1e-9, rng=0, n_records=10, ledger=Ledger(tmp_path / "l"))
    assert contradictions(found.manifest, schema=schema) == []
    document = json.loads(found.manifest.to_json())
    document["charges"] = [c for c in document["charges"] if c["name"] != "marginal c1"]
    add_up(document)
    [said] = contradictions(Manifest.model_validate(document), schema=schema)
    assert f"'1-way' {columns} times or more, and the manifest {columns - 1} times" in said


def test_parts_that_have_other_records_than_the_manifest_states_are_denied():
    from tests.privacy.test_manifest import manifest

    part = PartDigests(name="p", n_records=3, content="0" * 64, file="0" * 64)
    found = manifest().written(Digests(parts=(part,)))
    assert any("its parts have 3" in said for said in contradictions(found))


def test_a_signature_asks_for_the_schema(place):
    with pytest.raises(SystemExit):
        main(["key", "sign", "private.json", "--key", "owner.key"])


def test_itemsets_are_signed_with_their_items(place, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(place / "home"))
    (place / "baskets.txt").write_text("milk bread\nmilk\nbread\n" * 30, encoding="utf-8")
    (place / "items.txt").write_text("milk\nbread\neggs\n", encoding="utf-8")
    (place / "others.txt").write_text("milk\nbread\n", encoding="utf-8")
    assert main(["itemsets", "baskets.txt", "--items", "items.txt", "--k", "2", "--epsilon", "5", "--out", "i.csv",
                 "--manifest", "i.json", "--quiet"]) == 0  # fmt: skip
    assert main(["verify", "i.csv", "--manifest", "i.json", "--publishable"]) == 0
    assert main(["key", "sign", "i.json", "--key", "owner.key", "--items", "others.txt"]) == 2
    assert main(["key", "sign", "i.json", "--key", "owner.key", "--schema", "private.schema.json"]) == 2
    assert main(["key", "sign", "i.json", "--key", "owner.key", "--items", "items.txt"]) == 0
    assert signing_faults(Manifest.load(place / "i.json")) == []


def cases():
    """Every system under its neighbours, pure and not, as far as it offers them."""
    from dpsyn_core.systems.registry import config_class

    for name in names():
        g = config_class(name).guarantee
        for neighbours in g.neighbours[: 1 if config_class(name).trains else 2]:
            for pure in (True, False):
                if g.pure if pure else g.approximate:
                    yield pytest.param(
                        name, neighbours, pure, marks=pytest.mark.slow if config_class(name).trains else ()
                    )


@pytest.mark.parametrize(("name", "neighbours", "pure"), list(cases()))
def test_no_system_is_contradicted_by_its_own_manifest(name, neighbours, pure, place):
    from dpsyn_core.estimate.marginals.released_file import ReleasedFile
    from dpsyn_core.systems.registry import config_class

    config = config_class(name)
    if config.missing():
        pytest.skip(config.missing())
    document = copy.deepcopy(SCHEMA) | {
        "unit": {"neighbours": neighbours, "max_records": 2 - config.guarantee.one_record}
    }
    document |= {"n_records": 200} if config.guarantee.needs_public_n else {}
    for a in document["attributes"][:2] if name == "field-groups" else ():
        a["group"] = "g"
    schema = Schema.of(document)
    for epsilon, n in ((0.3, None), (2.0, 50)):
        try:
            release = synthesize(
                read_table(place / "people.csv"), schema, epsilon=epsilon, delta=0.0 if pure else 1e-9, rng=0,
                method=name, settings=MINI.get(name, {}), n_records=n, ledger=Ledger(place / "l.sqlite3"),
            )  # fmt: skip
        except DPSynError:
            assert config.trains and epsilon < 1  # too little for its training
            continue
        released = ReleasedFile(measurements=release.marginals, schema=schema)
        assert contradictions(release.manifest, schema=schema, measurements=released) == []
        assert contradictions(release.manifest) == []
