"""`dpsyn plan`: every system prints its steps without a table, and says what it does not know."""

import json
from statistics import median

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.commands.plan import KINDS as WORDS
from dpsyn_core.data import paths
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy import charge
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs import price as runs_plan
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.sample import sample_table
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.dry_run import plan
from dpsyn_core.systems.registry import config_class, configure, names
from tests.systems.harness import PlainCounter, SeededNoise
from ui.shared.text import t

SAMPLE = str(paths("sample")[1])


def printed(capsys, *words):
    assert main(["plan", *words]) == 0
    return capsys.readouterr().out


def small(tmp_path, **more):
    attributes = [
        {"name": n, "kind": "categorical", "values": list(range(s)), **({"group": "g"} if n != "c" else {})}
        for n, s in (("a", 3), ("b", 4), ("c", 5))
    ]
    path = tmp_path / "schema.json"
    path.write_text(json.dumps({"version": 1, "name": "t", "attributes": attributes, **more}), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", names())
def test_every_system_has_a_plan_that_accounts_for_the_whole_budget(name, capsys, tmp_path):
    g = config_class(name).guarantee
    unit = {"neighbours": g.neighbours[0]}
    schema = small(tmp_path, unit=unit, n_records=500)
    delta = "1e-9" if g.approximate else "0"
    out = json.loads(
        printed(capsys, "--schema", schema, "--epsilon", "1", "--delta", delta, "--method", name, "--json")
    )
    assert out["method"] == name
    assert sum(s["share"][1] for s in out["steps"]) == pytest.approx(1, abs=0.2)
    for step in out["steps"]:
        assert 0 <= step["releases"][0] <= step["releases"][1]
        assert "-way" not in step["what"]
        assert step["std"] is None or 0 < step["std"][0] <= step["std"][1]


def test_the_default_forecasts_how_many_pairs_it_will_measure(capsys):
    few, many = (
        json.loads(
            printed(capsys, "--schema", SAMPLE, "--epsilon", e, "--delta", "1e-9", "--n-records", "20000", "--json")
        )["steps"][-1]
        for e in ("0.1", "3")
    )
    assert few["kind"] == many["kind"] == "chosen"
    assert 0 <= few["likely"][0] <= few["likely"][1] < many["likely"][1] <= 91
    assert few["about"]


def test_the_text_says_what_is_certain_and_what_is_a_forecast(capsys):
    text = printed(capsys, "--schema", SAMPLE, "--epsilon", "1", "--delta", "1e-9", "--method", "aim")
    assert "single columns" in text
    assert " to " in text.split("tables chosen")[0].splitlines()[-1], "a number of rounds that is not known is a range"
    text = printed(capsys, "--schema", SAMPLE, "--epsilon", "1", "--delta", "1e-9")
    assert "forecasts are for about 10000 records" in text


def test_every_kind_of_charge_has_words_for_the_command_and_a_label_for_the_page():
    for kind in charge.KINDS:
        assert WORDS[kind]
        assert t(f"plan.{kind}")


def test_a_wrong_number_of_records_is_one_sentence(capsys):
    assert main(["plan", "--schema", SAMPLE, "--epsilon", "1", "--delta", "1e-9", "--n-records", "0"]) == 2
    assert "--n-records is 0; it must be at least 1" in capsys.readouterr().err


def test_a_plan_is_for_the_individuals_that_the_schema_names(tmp_path, monkeypatch):
    seen = []
    real = runs_plan.plan

    def kept(spec, schema, **more):
        seen.append(spec.task(schema))
        return real(spec, schema, **more)

    monkeypatch.setattr(runs_plan, "plan", kept)
    unit = {"neighbours": "replace", "identifier": "who", "max_records": 3}
    path = small(tmp_path, unit=unit, n_records=50)
    assert main(["plan", "--schema", path, "--epsilon", "1", "--delta", "1e-9", "--method", "independent"]) == 0
    assert seen[0].unit == Unit(**unit)
    assert seen[0].n_public == 50


def test_the_forecast_of_pairs_holds_on_the_sample():
    schema = Schema.load(SAMPLE)
    codes = Codec(schema).encode(sample_table()).codes
    task = Task.of(schema, Budget(epsilon=1.0, delta=1e-9))
    (chosen,) = [s for s in plan("rls", {}, task, n_records=20_000).steps if s.kind == "chosen"]
    measured = []
    for seed in range(5):
        system = configure("rls", {"triples": False}).calibrate(task)
        gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
        system.measure(PlainCounter(codes, task.domain), gate=gate)
        measured.append(sum(" x " in c.name for c in gate.account.charges))
    assert 0.8 * chosen.likely[0] <= median(measured) <= 1.2 * chosen.likely[1], measured
    assert chosen.likely[1] < 91, "a forecast of everything would say nothing"


def test_a_plan_of_a_design_with_parts_says_what_each_part_gets(capsys, tmp_path):
    schema = small(tmp_path, n_records=500)
    design = json.dumps({"parts": [["a", "b"], ["c"]]})
    text = printed(
        capsys, "--schema", schema, "--epsilon", "1", "--delta", "1e-9", "--method", "dpsyn-2018", "--set",
        f"design={design}",
    )  # fmt: skip
    assert "pairs and triples inside the part a, b\n" in text and "part c" not in text


@pytest.mark.parametrize("of", [None, "pairs", "columns"])
def test_an_error_is_of_pairs_and_of_what_is_named_instead(of, capsys):
    named = [] if of is None else ["--of", of]
    given = ["--columns", "age=number:20,sex=2,work=5", "--delta", "1e-9", "--n-records", "20000"]
    found = json.loads(printed(capsys, *given, "--error", "0.05", "--json", *named))["error"]
    assert (found["of"], found["target"], found["n_records"]) == (of or "pairs", 0.05, 20_000)
    errors = [error for _, error in found["curve"]]
    assert errors[0] > 0.05 and found["epsilon"] is not None
