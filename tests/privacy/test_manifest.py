"""The manifest: round trip, recomputed promise, refusal of disagreement, a readable certificate."""

import hashlib
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from cryptography.exceptions import InvalidSignature
from pydantic import ValidationError

from dpsyn_core.errors import EngineError, InputError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.charge_record import ChargeRecord
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.manifest.signing import fingerprint, load_key, new_key
from dpsyn_core.privacy.manifest.statement import Booking
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs.release import Release
from tests.privacy.facts import split

BUDGET = Budget(epsilon=1.0, delta=1e-9)


def charges(budget=BUDGET, shares=(0.3, 0.7)):
    out = []
    for i, part in enumerate(budget.gaussian().split(shares)):
        sigma = part.sigma(1.0)
        out.append(
            Charge(
                name=f"marginal a{i}", mechanism="gaussian", sensitivity=1.0, scale=sigma, cells=4, rho=0.5 / sigma**2
            )
        )
    return out


def manifest(**changes):
    given = {
        "budget": BUDGET,
        "unit": Unit(),
        "charges": charges(),
        "method": "independent",
        "settings": {"sweeps": 3, "update": {"polish": 1}},
        "n_records": 100,
        "booking": Booking("census", "r1"),
        "seed": 7,
        "seconds": 1.234,
    }
    return Manifest.build(**given | split(changes))


def test_a_manifest_survives_a_trip_through_its_file(tmp_path):
    made = manifest(bought=charges(shares=(1.0,)))
    made.dump(tmp_path / "m.json")
    assert Manifest.load(tmp_path / "m.json") == made


def test_charges_say_of_what_kind_they_are_and_older_manifests_without_it_still_load(tmp_path):
    made = manifest(charges=[replace(c, kind="1-way") for c in charges()])
    made.dump(tmp_path / "new.json")
    document = json.loads((tmp_path / "new.json").read_text())
    assert [c["kind"] for c in document["charges"]] == ["1-way", "1-way"]
    assert [c.charge().kind for c in Manifest.load(tmp_path / "new.json").charges] == ["1-way", "1-way"]
    for charge in document["charges"]:
        del charge["kind"]
    (tmp_path / "old.json").write_text(json.dumps(document))
    assert [c.kind for c in Manifest.load(tmp_path / "old.json").charges] == [None, None]


def test_the_json_has_the_promised_fields():
    document = json.loads(manifest().to_json())
    wanted = (
        "version epsilon delta mu rho neighbours max_records method n_records private charges seed versions seconds"
    )
    assert set(wanted.split()) <= set(document)
    assert document["private"] is True
    assert document["seconds"] == 1.2
    assert {"name", "mechanism", "sensitivity", "sigma", "cells", "rho"} <= set(document["charges"][0])
    assert document["mu"] == pytest.approx(0.1819748, abs=5e-8)
    assert document["rho"] == pytest.approx(document["mu"] ** 2 / 2)


def test_the_promise_is_recomputed_from_the_charges_and_not_copied():
    assert manifest().recomputed_epsilon() == pytest.approx(1.0, rel=1e-9)
    assert manifest().recomputed_epsilon() <= 1.0 + 1e-11
    twice = manifest(bought=charges(shares=(1.0,)))
    assert twice.recomputed_epsilon(with_bought=True) > 1.3


def test_charges_beyond_the_budget_withhold_the_table():
    with pytest.raises(EngineError, match="withheld"):
        manifest(charges=charges(Budget(epsilon=1.001, delta=1e-9)))


def test_sampled_noise_is_accounted_for_its_own_unit_only():
    step = Charge(name="s", mechanism="sampled-gaussian", sensitivity=1.0, scale=9.0, cells=1, sampling=0.01, steps=50)
    made = manifest(charges=[step])
    assert (made.mu, made.rho) == (None, None)
    assert 0 < made.recomputed_epsilon() < 1
    assert "50 steps on samples of 0.01" in made.certificate()
    with pytest.raises(EngineError, match="accounted for another unit"):
        manifest(charges=[step], unit=Unit(neighbours="replace"))


def test_a_reason_stamps_the_release_not_private():
    made = manifest(reasons=["attribute 'city': its values were read from the data"] * 2)
    assert made.private is False
    assert len(made.not_private_because) == 1
    assert made.guarantee.startswith("NOT PRIVATE")
    assert made.certificate().startswith("NOT PRIVATE")
    assert "city" in made.certificate()
    with pytest.raises(ValidationError, match="disagree"):
        Manifest.model_validate({**made.model_dump(), "private": True})


def test_a_pure_run_has_no_mu():
    charge = Charge(name="a", mechanism="geometric", sensitivity=1.0, scale=2.0, cells=3, epsilon=0.5, rho=0.125)
    made = manifest(budget=Budget(epsilon=0.5, delta=0), charges=[charge])
    assert made.mu is None
    assert made.rho == pytest.approx(0.125)
    assert made.recomputed_epsilon() == pytest.approx(0.5)
    assert json.loads(made.to_json())["charges"][0]["scale"] == 2.0
    assert "pure" in made.guarantee


def test_the_certificate_names_unit_budget_charges_method_and_versions():
    text = manifest(unit=Unit(neighbours="replace", max_records=3)).certificate()
    for part in (
        "replace",
        "at most 3 records",
        "epsilon              1",
        "1e-09",
        "marginal a1",
        "sigma",
        "numpy",
        "r1",
    ):
        assert part in text
    assert "sweeps = 3" in text
    assert "update.polish = 1" in text


def test_a_long_list_of_charges_is_cut_and_counted():
    text = manifest(charges=charges(shares=[1.0 + i for i in range(91)])).certificate()
    assert "... and 51 more" in text


def test_equal_charges_of_a_long_list_are_one_line_of_the_certificate():
    text = manifest(charges=charges(shares=[1.0] * 91)).certificate()
    assert "marginal a0, and 90 more, each: gaussian" in text
    assert "..." not in text


def test_a_field_that_is_wrong_is_named(tmp_path):
    document = json.loads(manifest().to_json())
    document["charges"][1]["sigma"] = -1
    path = tmp_path / "m.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"charges\.1\.sigma"):
        Manifest.load(path)
    with pytest.raises(InputError, match="cannot read"):
        Manifest.load(tmp_path / "none.json")
    path.write_text("{")
    with pytest.raises(InputError, match="no manifest"):
        Manifest.load(path)


def test_a_manifest_holds_no_number_that_json_lacks():
    with pytest.raises(ValidationError):
        Manifest.model_validate({**manifest().model_dump(), "epsilon": math.inf})


def test_the_documented_check_finds_the_promised_epsilon(tmp_path, monkeypatch, capsys):
    manifest().dump(tmp_path / "manifest.json")
    text = (Path(__file__).parents[2] / "docs" / "manifest.md").read_text(encoding="utf-8")
    promise, content, signature = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(promise, {})
    assert float(capsys.readouterr().out) == pytest.approx(1.0, rel=1e-6)
    table = pa.table({"a": ["=1", "x,y", None], "b": [1.0, 2.5, None], "c": ["3.0", "2020-01-01T00:00:00", ""]})
    new_key(tmp_path / "owner.key")
    key = load_key(tmp_path / "owner.key")
    release = Release(copies=({"t": table},), arrow_copies=({"t": table},), manifest=manifest())
    made = release.write(tmp_path / "synthetic.csv", tmp_path / "manifest.json", key=key)
    exec(content, {})
    assert capsys.readouterr().out.strip() == made.digests.content
    given = {"m": json.loads((tmp_path / "manifest.json").read_text("utf-8")), "json": json, "hashlib": hashlib}
    exec(signature, given)
    assert capsys.readouterr().out.strip() == fingerprint(made.signature.key).replace(" ", "")
    given["m"]["epsilon"] = 2.0
    with pytest.raises(InvalidSignature):
        exec(signature, given)


def test_every_field_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "manifest.md").read_text(encoding="utf-8")
    fields = [*Manifest.model_fields, *ChargeRecord.model_fields]
    assert [f for f in fields if f"`{f}`" not in text] == []


@pytest.mark.parametrize("text", ['{"version": ' + "9" * 5000 + "}", "[" * 100_000, '{"a": 1, "a": 2}', "\udcff"])
def test_text_that_is_no_manifest_is_refused_in_a_sentence(text):
    with pytest.raises(InputError, match="not JSON with each field once"):
        Manifest.parse(text.encode("utf-8", "surrogateescape"), "m.json")
