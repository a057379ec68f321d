"""What commands print of a plan, an outlook and a release: each sentence and each column of a table, word by word."""

import json
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from dpsyn_core.commands import plan, synth
from dpsyn_core.commands.cli import main
from dpsyn_core.runs.choose.outlook import Outlook
from dpsyn_core.runs.choose.tree_outlook import TreeOutlook
from dpsyn_core.systems.steps import Step
from tests.commands.small import SCHEMA, write_table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "t.csv")
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA | {"n_records": 200}))
    (tmp_path / "open.json").write_text(json.dumps(SCHEMA))
    return tmp_path


def said(capsys, words, status=0):
    assert main(words.split()) == status
    return capsys.readouterr()


def test_an_outlook_has_a_line_for_each_epsilon_and_a_column_for_each_number_of_records(capsys):
    found = [
        Outlook(epsilon=e, n_records=n, columns=c, pairs=p)
        for e, n, c, p in [
            (0.5, 1000, 0.0123, 0.5),
            (0.5, 20_000, None, 0.034),
            (2.0, 1000, 0.001, None),
            (2.0, 20_000, 0, 1),
        ]
    ]
    plan.print_outlook(found)
    assert capsys.readouterr().out == (
        "\nexpected error of noise alone, single columns / pairs that are measured\n"
        f"{'epsilon':<10}{'1,000 records':>20}{'20,000 records':>20}\n"
        f"{'0.5':<10}{'1.2% / 50%':>20}{'none / 3.4%':>20}\n"
        f"{'2':<10}{'0.1% / none':>20}{'0% / 1e+02%':>20}\n"
    )


def test_an_outlook_of_linked_tables_has_a_part_for_each_table_and_role(capsys):
    found = [
        TreeOutlook(table=t, role=r, epsilon=e, n_roots=n, columns=0.01 * e, pairs=0.02 * n / 1000)
        for t, r in (("homes", ""), ("people", "first")) for e in (1.0, 2.0) for n in (1000, 5000)
    ]  # fmt: skip
    plan.print_tree_outlook(found, "homes")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].endswith("by the number of 'homes', where")
    assert lines[3:9] == [
        f"{'homes':<26}{'1,000':>22}{'5,000':>22}",
        f"{'  epsilon 1':<26}{'1% / 2%':>22}{'1% / 10%':>22}",
        f"{'  epsilon 2':<26}{'2% / 2%':>22}{'2% / 10%':>22}",
        f"{'people: first':<26}{'1,000':>22}{'5,000':>22}",
        f"{'  epsilon 1':<26}{'1% / not known':>22}{'1% / not known':>22}",
        f"{'  epsilon 2':<26}{'2% / not known':>22}{'2% / not known':>22}",
    ]
    assert lines[9].startswith("not known: ") and len(lines) == 10


def test_names_of_a_part_and_numbers_of_a_step():
    assert plan.named(list("abcd")) == "a, b, c, d"
    assert plan.named(list("abcdef")) == "a, b, c, d and 2 more"
    assert plan.named(list("abc"), most=2) == "a, b and 1 more"
    assert plan.spread(["1", "2", "1"]) == "1" and plan.spread(["1", "2"]) == "1 to 2"


def step(**more):
    return Step(
        **({"kind": "one-way", "parts": (2, 5), "share": (0.1, 0.25), "sigma": (1.0, 2.0), "cells": (3, 9)} | more)
    )


def test_steps_are_described_for_json():
    made = SimpleNamespace(
        steps=[step(), step(kind="chosen", inside=("a", "b"), likely=(1, 2))], std=lambda s: s.likely
    )
    first, second = plan.described(made)
    assert first["what"] == plan.KINDS.get("one-way", "tables of one columns")
    assert (first["share"], first["releases"], first["cells"]) == ([0.1, 0.25], [2, 5], [3, 9])
    assert first["likely"] is None and first["std"] is None and first["inside"] == []
    assert second["what"] == "pairs and triples inside the part a, b"
    assert second["likely"] == second["std"] == [1, 2] and second["inside"] == ["a", "b"]


def planned(monkeypatch, capsys, steps, folder, *more):
    """The table of a plan whose steps are given."""
    import dpsyn_core.runs

    stds = {id(s): std for s, std in steps}
    made = SimpleNamespace(steps=[s for s, _ in steps], std=lambda s: stds[id(s)])
    monkeypatch.setattr(dpsyn_core.runs, "plan", lambda *_, **__: made)
    monkeypatch.setattr(dpsyn_core.runs, "lost", lambda *_: None)
    run = "plan --schema s.json --epsilon 1 --delta 1e-6 --method independent"
    return said(capsys, " ".join([run, *more])).out.splitlines()


def test_a_plan_says_what_is_certain_and_what_is_about(folder, monkeypatch, capsys):
    steps = [
        (step(parts=(3, 3), share=(0.25, 0.25)), (1.5, 1.5)),
        (step(share=(0.0, 0.12345), parts=(0, 4), about=True), (2.0, 3.25)),
        (step(share=(0.1, 0.2), parts=(1, 6), likely=(2, 3), about=True), None),
        (step(share=(0.0, 0.0), parts=(1, 1)), (1e-9, 4.0)),
    ]
    lines = planned(monkeypatch, capsys, steps, folder)
    assert lines[0] == "independent at epsilon 1, delta 1e-06; forecasts are for about 200 records"
    what = plan.KINDS.get("one-way", "tables of one columns")
    assert lines[1:] == [
        f"{'part of budget':<24}{'releases':<26}{'noise of a cell (std)':<24}what",
        f"{'25%':<24}{'3':<26}{'1.5':<24}{what}",
        f"{'up to 12.3%':<24}{'0 to 4':<26}{'about 2 to 3.25':<24}{what}",
        f"{'about 10 to 20%':<24}{'about 2 to 3 of 6':<26}{'-':<24}{what}",
        f"{'0%':<24}{'1':<26}{'1e-09 to 4':<24}{what}",
    ]
    out = json.loads("\n".join(planned(monkeypatch, capsys, steps[:1], folder, "--json")))
    assert out == {
        "method": "independent", "epsilon": 1.0, "delta": 1e-6, "steps": [out["steps"][0]], "computed": [],
        "warning": None, "not_private_because": [],
    }  # fmt: skip
    assert json.loads("\n".join(planned(monkeypatch, capsys, steps[:1], folder, "--json", "--outlook")))["outlook"]
    assert "expected error of noise alone" in "\n".join(planned(monkeypatch, capsys, steps[:1], folder, "--outlook"))


@pytest.mark.parametrize(("words", "sentence"), [
    ("--schema s.json --epsilon 1 --delta 1e-6 --n-records 0", "--n-records is 0; it must be at least 1"),
    ("--schema s.json --epsilon 1 --delta 1e-6 --of pairs", "--of goes with --error"),
    ("--schema s.json --epsilon 1 --delta 1e-6 --error 0.1", "look for an epsilon; leave --epsilon out"),
    ("--schema s.json --delta 1e-6 --gain 0.1 --outlook", "look for an epsilon; leave --outlook out"),
    ("--schema s.json --delta 1e-6 --gain 0.1 --save-settings x.json", "leave --save-settings out"),
    ("--schema s.json --gain 0.1", "--delta is missing"),
    ("--schema s.json --error 0.1", "--delta is missing"),
    ("--columns a=2 --schema s.json --epsilon 1 --delta 1e-6", "--columns and --schema exclude each other"),
    ("--columns a=2 --settings s.json --epsilon 1 --delta 1e-6", "--columns and --settings exclude each other"),
    ("--columns a=2 --save-settings s.json --epsilon 1 --delta 1e-6", "--columns and --save-settings exclude"),
    ("--columns a=2 --delta 1e-6", "--epsilon is missing; a plan from names"),
    ("--columns a=2 --epsilon 1", "--delta is missing; a plan from names"),
    ("--schema s.json --epsilon 1 --delta 1e-6 --save-settings s.json", "would overwrite 's.json', which is read"),
])  # fmt: skip
def test_what_a_plan_cannot_be_is_one_sentence(words, sentence, folder, capsys):
    err = said(capsys, f"plan {words}", 2).err
    assert sentence in err and err.count("\n") == 1


def test_the_epsilon_of_a_gain_and_of_an_error(folder, capsys):
    run = "plan --schema s.json --delta 0 --method independent"
    out = said(capsys, f"{run} --gain 0.25").out
    assert out == "gain 0.25: epsilon 1 at most (exactly 1.09861)\n"  # e^eps = (1 + 2g) / (1 - 2g) = 3
    out = json.loads(
        said(capsys, "plan --schema s.json --delta 1e-6 --method independent --error 0.1 --of columns --json").out
    )
    found = out["error"]
    assert out["delta"] == 1e-6 and "gain" not in out and (found["of"], found["target"]) == ("columns", 0.1)
    assert found["n_records"] == 200
    within = [e for e, err in sorted(map(tuple, found["curve"])) if err <= 0.1]
    assert found["epsilon"] <= within[0]
    text = said(capsys, "plan --schema s.json --delta 1e-6 --method independent --error 0.1 --of columns").out
    assert text.startswith("error 0.1 of columns with about 200 records: epsilon ")
    assert "an attacker then gains at most" in text
    far = said(capsys, "plan --schema s.json --delta 1e-6 --method independent --error 1e-9 --of columns").out
    assert f"not reached up to epsilon {found['curve'][-1][0]:g};" in far
    text = said(capsys, "plan --columns a=2,b=number:20 --delta 1e-6 --error 0.1 --n-records 700 --of columns").out
    assert "with about 700 records" in text


def test_a_plan_of_names_says_what_it_guessed(folder, capsys):
    run = "--epsilon 1 --delta 1e-6 --method independent"
    assert said(capsys, f"plan --columns sex,a=2,b=skip {run}").out.startswith("guessed from the names: sex=")
    assert not said(capsys, f"plan --columns a=2,b=number:9 {run}").out.startswith("guessed")
    assert json.loads(said(capsys, f"plan --columns sex,a=2 {run} --json").out)["method"] == "independent"
    assert "about 10000 records" in said(capsys, f"plan --columns a=2 {run}").out
    assert "about 1 records" in said(capsys, f"plan --columns a=2 {run} --n-records 1").out
    assert "about 77 records" in said(capsys, f"plan --columns a=2 {run} --n-records 77").out


def test_saved_settings_are_where_they_were_to_be(folder, capsys):
    out = said(capsys, "plan --schema s.json --epsilon 1 --delta 1e-6 --method independent --save-settings run.json")
    assert not out.err and json.loads((folder / "run.json").read_text())


RUN = "synth t.csv --schema s.json --epsilon 1 --delta 1e-6 --method independent"


def test_a_run_says_what_it_wrote_and_what_it_spent(folder, capsys):
    err = said(capsys, f"{RUN} -o o.csv").err.splitlines()
    assert err[0] == "reading" and err[-1] == "wrote 200 records to o.csv; spent epsilon 1 at delta 1e-06"
    assert not any("close to its noise" in line for line in err)
    lines = (folder / "o.csv").read_text().splitlines()
    assert lines[0] == "sex,age,pay,note" and len(lines) == 201
    assert "the output 'o.txt' must end with .csv" in said(capsys, f"{RUN} -o o.txt", 2).err
    assert not said(capsys, f"{RUN} -o p.csv --quiet").err.replace("note: ", "").startswith("reading")
    assert "wrote" not in said(capsys, f"{RUN} -o q.csv --quiet").err


def test_next_to_nothing_counted_is_said_where_the_number_of_records_was_counted(folder, capsys):
    (folder / "few.csv").write_text("sex,age,pay,note\nF,1,1,c\n")
    run = "synth few.csv --epsilon 0.1 --delta 1e-6 --method independent --quiet"
    assert "is close to its noise" in said(capsys, f"{run} --schema open.json -o a.csv").err
    assert "is close to its noise" not in said(capsys, f"{run} --schema s.json -o b.csv").err
    assert "is close to its noise" not in said(capsys, f"{run} --schema open.json --n-records 50 -o c.csv").err


def test_measurements_are_kept_where_that_was_asked(folder, capsys):
    said(capsys, f"{RUN} -o o.csv")
    said(capsys, f"{RUN} -o p.csv --measurements m.json.gz")
    said(capsys, f"{RUN} -o q.csv --save-release r.dpsyn")
    assert (folder / "m.json.gz").stat().st_size > 100 and (folder / "r.dpsyn").stat().st_size > 100


def release(**more):
    manifest = SimpleNamespace(epsilon=1.0, delta=1e-6, **more)
    return SimpleNamespace(
        manifest=manifest, arrows={"homes": pa.table({"a": [1, 2]}), "people": pa.table({"b": [1, 2, 3]})},
        copies=[1], answers=[SimpleNamespace(sentence=lambda: "a mean is 3")],
    )  # fmt: skip


def test_linked_tables_say_their_sizes_copies_and_answers(monkeypatch, capsys):
    import dpsyn_core.runs

    monkeypatch.setattr(dpsyn_core.runs, "nearly_empty_tables", lambda _: {"people": (7, 12.6)})
    made = release()
    synth.say_tree(made, Path("out"), counted=False, quiet=False)
    wrote = "wrote 2 of homes, 3 of people to out; spent epsilon 1 at delta 1e-06\n"
    assert capsys.readouterr().err == wrote + "a mean is 3\n"
    made.copies = [1, 2]
    synth.say_tree(made, Path("out"), counted=False, quiet=False)
    assert capsys.readouterr().err.startswith("wrote 2 of homes, 3 of people, 2 times to out; ")
    synth.say_tree(made, Path("out"), counted=True, quiet=True)
    err = capsys.readouterr().err
    assert err.startswith(
        "note: 7 records of 'people', the number that was released, is close to its noise (which alone"
    )
    assert "may make 13)" in err and err.count("\n") == 1


def test_what_rules_changed_is_said_of_all_copies_together(capsys):
    synth.say_repaired([(1000, 2), (500, 0)], quiet=False)
    assert capsys.readouterr().err.splitlines() == [
        "rules: 1,500 synthetic cells were changed to keep them",
        "rules: 2 synthetic records were left out, for no free values were left",
    ]
    synth.say_repaired([(1000, 1)], quiet=True)
    assert capsys.readouterr().err.startswith("rules: 1 synthetic records were left out")
    synth.say_repaired([(3, 0)], quiet=True)
    synth.say_repaired([], quiet=False)
    assert not capsys.readouterr().err
    synth.say_repaired([(0, 0)], quiet=False)
    assert capsys.readouterr().err == "rules: 0 synthetic cells were changed to keep them\n"
