"""Rules that headers propose are added to a refit by one option: nothing is charged, and no record breaks them."""

import json

import numpy as np
import pandas as pd
import pytest

from dpsyn_core.commands.cli import main

DATES = [{"name": n, "kind": "datetime", "min": "2023-01-01", "max": "2023-12-31"} for n in ("start_date", "end_date")]


@pytest.fixture
def release(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    start = np.datetime64("2023-02-01") + rng.integers(0, 200, 400)
    frame = pd.DataFrame({"start_date": start, "end_date": start + rng.integers(0, 9, 400)})
    frame.to_csv("stays.csv", index=False)
    document = {"version": 1, "name": "stays", "attributes": [a | {"source": "public"} for a in DATES]}
    (tmp_path / "s.json").write_text(json.dumps(document), encoding="utf-8")
    made = ["--epsilon", "1", "--delta", "1e-9", "--method", "independent", "-o", "made.csv", "--manifest", "made.json"]
    assert main(["synth", "stays.csv", "--schema", "s.json", *made, "--save-release", "r.dpsyn", "--quiet"]) == 0
    return tmp_path


def breaks(file):
    made = pd.read_csv(file, parse_dates=["start_date", "end_date"])
    return int((made.start_date > made.end_date).sum())


def test_a_proposed_rule_is_added_and_kept_and_the_promise_stays(release, capsys):
    assert breaks("made.csv") > 0
    refit = ["refit", "r.dpsyn", "-o", "again.csv", "--manifest", "again.json", "--quiet", "--add-proposed"]
    assert main(refit) == 0 and breaks("again.csv") == 0
    stated = json.loads((release / "again.json").read_text("utf-8"))
    assert stated["private"] and stated["epsilon"] == 1
    assert main([*refit, "7"]) == 2 and "numbers from 1 to 1" in capsys.readouterr().err
