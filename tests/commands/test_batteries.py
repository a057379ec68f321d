"""A questionnaire whose items share a mean table: its release holds and is made again, and edited ones do not hold."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.schema.document import Schema
from tests.systems.rls.test_batteries import ITEMS, SIZES, scale

ATTRIBUTES = [{"name": n, "kind": "categorical", "values": [str(i) for i in range(size)]} for n, size in SIZES.items()]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("items")
    pd.DataFrame(dict(zip(SIZES, scale(), strict=True))).to_csv(place / "items.csv", index=False)
    Schema.of({"version": 1, "name": "items", "attributes": ATTRIBUTES}).dump(place / "schema.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYN_HOME", str(place / "home"))
        patch.chdir(place)
        assert main([
            "synth", "items.csv", "--schema", "schema.json", "--epsilon", "1.2", "--delta", "1e-9", "--quiet",
            "--out", "a.csv", "--manifest", "a.json", "--measurements", "a.json.gz", "--save-release", "a.dpsyn",
        ]) == 0  # fmt: skip
    return place


@pytest.fixture
def place(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


def charged(place):
    """The charge of the mean table."""
    (charge,) = [c for c in json.loads((place / "a.json").read_text())["charges"] if c.get("kind") == "mean"]
    return charge


def test_the_release_holds_and_its_charge_says_of_how_many_pairs_it_is(place, capsys):
    count = int(charged(place)["name"].removeprefix("mean marginal of ").partition(":")[0])
    assert 6 <= count <= ITEMS * (ITEMS - 1) // 2
    assert charged(place)["sensitivity"] == count
    words = ["verify", "a.csv", "--manifest", "a.json", "--schema", "schema.json", "--measurements", "a.json.gz"]
    assert main(words) == 0
    assert "safe to publish" in capsys.readouterr().out


def test_it_is_made_again_for_nothing_and_keeps_the_scale(place, capsys):
    assert main(["refit", "a.dpsyn", "--out", "b.csv", "--manifest", "b.json", "--seed", "3", "--quiet"]) == 0
    assert main(["verify", "b.csv", "--manifest", "b.json"]) == 0
    assert "safe to publish" in capsys.readouterr().out
    items = pd.read_csv("b.csv")[[f"q{i}" for i in range(ITEMS)]].to_numpy().T
    assert ITEMS / (ITEMS - 1) * (1 - items.var(axis=1).sum() / items.sum(axis=0).var()) > 0.5


@pytest.mark.parametrize(("field", "factor"), [("sensitivity", 0.5), ("sigma", 2.0)])
def test_a_charge_that_states_less_than_the_mean_costs_does_not_hold(place, field, factor, capsys):
    document = json.loads((place / "a.json").read_text())
    (charge,) = [c for c in document["charges"] if c.get("kind") == "mean"]
    charge[field] *= factor
    (place / "edited.json").write_text(json.dumps(document))
    words = ["verify", "a.csv", "--manifest", "edited.json", "--schema", "schema.json", "--measurements", "a.json.gz"]
    assert main(words) == 2
    assert capsys.readouterr().err


def test_marginals_with_a_clearer_mean_do_not_hold(place, capsys):
    document = json.loads(gzip.decompress((place / "a.json.gz").read_bytes()))
    (mean,) = document["means"]
    mean["sigma"] /= 2
    (place / "edited.json.gz").write_bytes(gzip.compress(json.dumps(document).encode()))
    words = ["verify", "a.csv", "--manifest", "a.json", "--schema", "schema.json", "--measurements", "edited.json.gz"]
    assert main(words) == 2
    assert "edited.json.gz" in capsys.readouterr().err


def test_a_report_of_what_was_released_names_the_charge(place):
    words = ["report", "-", "a.csv", "--schema", "schema.json", "--manifest", "a.json", "--html", "a.html"]
    assert main(words) == 0
    assert "mean marginal of" in (place / "a.html").read_text()
    assert np.isfinite(charged(place)["sigma"])
