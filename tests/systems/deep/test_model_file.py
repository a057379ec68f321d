"""Saved models: the same records after a round trip, by the command too, and a sentence for whatever is no model."""

import json

import numpy as np
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import DPSynError
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.systems.registry import configure
from tests.commands.small import SCHEMA, write_table
from tests.seeded import SeededNoise
from tests.systems.harness import PlainCounter, random_codes, task_for

pytestmark = pytest.mark.deep
TRAINED = {"steps": 3, "hidden": 4, "sampling": 0.2}
SIZES = {"a": 3, "b": 2, "c": 40}


def released(name, **settings):
    task = task_for(name, SIZES, 50)
    system = configure(name, TRAINED | settings).calibrate(task)
    gate = Gate(account=Account(system.cost, delta=system.failure), noise=SeededNoise(2), unit=task.unit)
    return system.measure(PlainCounter(random_codes(SIZES, 50), task.domain), gate=gate), task.domain


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("p3gm", {}),
        ("p3gm", {"target": "c"}),
        ("p3gm-ae", {}),
        ("dp-vae", {}),
        ("dp-gm", {}),
        ("dp-gm", {"divide": "target", "target": "a"}),
    ],
)
def test_a_model_that_is_read_back_draws_the_same_records(name, settings):
    from dpsyn_core.systems.deep.model_file import pack, unpack

    made, domain = released(name, **settings)
    content = pack(made, columns=["b", "a", "c"])
    assert content == pack(made, columns=["b", "a", "c"])
    back = unpack(content, domain)
    assert back.columns == ("b", "a", "c")
    same = [m.draw(40, rng=np.random.default_rng(3)) for m in (made, back.released)]
    assert np.array_equal(*same)


def test_what_is_no_model_of_the_schema_is_refused_in_a_sentence():
    from safetensors.numpy import load, save

    from dpsyn_core.systems.deep.model_file import KEY, pack, unpack

    made, domain = released("p3gm")
    content = pack(made, columns=["a", "b", "c"])
    length = int.from_bytes(content[:8], "little")
    document = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][KEY])
    arrays = load(content)

    def changed(told=None, **more):
        return save(arrays | more, {KEY: json.dumps(document | (told or {}))})

    wrong = [
        b"",
        b"pickle",
        content[:-9],
        content[:200],
        save(arrays),
        changed({"version": "9"}),
        changed({"passes": 10**9}),
        changed({"shape": document["shape"] | {"hidden": 10**9}}),
        changed({"dtype": "O"}),
        changed({"blocks": []}),
        changed({"shares": [-1.0]}),
        changed({"shares": [float("inf")]}),
        changed({"space_total": float("nan")}),
        changed(**{"prior.weights": arrays["prior.weights"] * 0 + 1e308}),
        changed(weights=arrays["weights"] * np.nan),
        changed(**{"block0.recode": np.array([0, 0, 7])}),
        changed(**{"prior.variances": arrays["prior.variances"] * 0}),
        changed(**{"prior.variances": arrays["prior.variances"] * np.inf}),
        changed(**{"components.vectors": arrays["components.vectors"] * np.nan}),
        changed(**{"block0.features": arrays["block0.features"] * np.nan}),
        save(arrays, {KEY: "[" * 100_000}),
    ]
    for bad in wrong:
        with pytest.raises(DPSynError, match="no saved model"):
            unpack(bad, domain)
    assert unpack(changed(), domain)
    with pytest.raises(DPSynError, match="no saved model"):
        unpack(content, task_for("p3gm", {"a": 3, "b": 2, "c": 41}, 5).domain)


def test_the_command_saves_a_model_and_draws_more_records_for_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "people.csv")
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    run = ["synth", "people.csv", "--schema", "s.json", "--epsilon", "1", "--delta", "1e-6", "--quiet"]
    run += ["--method", "p3gm", "--set", "steps=3", "--set", "hidden=3", "--out", "a.csv", "--manifest", "a.json"]
    assert main([*run, "--save-model", "m.bin"]) == 2
    assert main([*["rls" if word == "p3gm" else word for word in run], "--save-model", "m.safetensors"]) == 2
    assert not Ledger().datasets(), "nothing is charged for what cannot be saved"
    assert main([*run, "--save-model", "m.safetensors"]) == 0
    more = ["draw", "m.safetensors", "--manifest", "a.json", "--schema", "s.json", "--n-records", "70", "--seed", "5"]
    assert main([*more, "--out", "b.csv", "--new-manifest", "b.json"]) == 0
    assert len(Ledger().entries()) == 1
    assert len((tmp_path / "b.csv").read_text().splitlines()) == 71
    capsys.readouterr()
    assert main(["verify", "b.csv", "--manifest", "b.json"]) == 0
    assert "by Renyi accounting, a second and coarser bound" in capsys.readouterr().out
    again = [*more[:3], "b.json", *more[4:]]
    assert main([*again, "--out", "c.csv", "--new-manifest", "c.json"]) == 0
    assert (tmp_path / "c.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    content = bytearray((tmp_path / "m.safetensors").read_bytes())
    content[-1] ^= 1
    (tmp_path / "m.safetensors").write_bytes(content)
    assert main([*more, "--out", "d.csv", "--new-manifest", "d.json"]) == 2
    assert "not the one of this manifest" in capsys.readouterr().err
    assert not (tmp_path / "d.csv").exists()


def test_a_model_without_noise_and_all_that_is_drawn_from_it_say_so_in_their_names_and_documents(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "people.csv")
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    run = ["synth", "people.csv", "--schema", "s.json", "--epsilon", "1", "--delta", "1e-6", "--quiet"]
    run += ["--method", "pgm", "--set", "not_private=true", "--set", "steps=3", "--set", "hidden=3", "--out", "a.csv"]
    assert main([*run, "--manifest", "a.json", "--save-model", "m.safetensors"]) == 0
    assert capsys.readouterr().err.startswith("NOT PRIVATE")
    draw = ["draw", "m.NOT-PRIVATE.safetensors", "--manifest", "a.json", "--schema", "s.json", "--n-records", "70"]
    assert main([*draw, "--out", "b.csv", "--new-manifest", "b.json"]) == 0
    assert capsys.readouterr().out.startswith("NOT PRIVATE")
    made = sorted(p.name for p in tmp_path.iterdir() if "." in p.name)
    stamped = ["a.NOT-PRIVATE.csv", "b.NOT-PRIVATE.csv", "m.NOT-PRIVATE.safetensors"]
    assert made == sorted([*stamped, "a.json", "b.json", "people.csv", "s.json"])
    for name in ("a", "b"):
        assert main(["verify", f"{name}.NOT-PRIVATE.csv", "--manifest", f"{name}.json"]) in (0, 1)
        said = capsys.readouterr().out
        assert "NOT PRIVATE" in said and "added no noise" in said and "promises" not in said
        report = ["report", "-", f"{name}.NOT-PRIVATE.csv", "--schema", "s.json", "--manifest", f"{name}.json"]
        assert main([*report, "--html", f"{name}.html", "--json", f"{name}.report.json"]) == 0
        assert "NOT PRIVATE" in (tmp_path / f"{name}.html").read_text()
        assert json.loads((tmp_path / f"{name}.report.json").read_text())["label"].startswith("NOT PRIVATE")
    assert main(["ledger"]) == 0
    (entry,) = [line for line in capsys.readouterr().out.splitlines() if " pgm " in line]
    assert "nothing is promised" in entry and "epsilon" not in entry


def test_nothing_is_drawn_by_a_manifest_that_was_changed_after_it_was_signed(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "people.csv")
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    assert main(["key", "new", "k"]) == 0
    run = ["synth", "people.csv", "--schema", "s.json", "--epsilon", "1", "--delta", "1e-6", "--quiet", "--sign", "k"]
    run += ["--method", "p3gm", "--set", "steps=0", "--out", "a.csv", "--manifest", "a.json"]
    assert main([*run, "--save-model", "m.safetensors"]) == 0
    draw = ["draw", "m.safetensors", "--manifest", "a.json", "--schema", "s.json", "--n-records", "9"]
    assert main([*draw, "--out", "b.csv", "--new-manifest", "b.json"]) == 0
    document = json.loads((tmp_path / "a.json").read_text())
    (tmp_path / "a.json").write_text(json.dumps(document | {"n_records": 7}))
    capsys.readouterr()
    assert main([*draw, "--out", "c.csv", "--new-manifest", "c.json"]) == 2
    assert "changed after signing" in capsys.readouterr().err
    assert not (tmp_path / "c.csv").exists()
