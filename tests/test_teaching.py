"""Teaching material: every lab has a notebook that runs, and the plans name labs and links that exist."""

import json
import re
from pathlib import Path

import pytest

from tools.notebooks import cells, notebooks, run
from ui.learn import LABS
from ui.shared.text import catalogue

ROOT = Path(__file__).resolve().parent.parent
TEACHING = ROOT / "docs" / "teaching"
NUMBERS = {lab: int(catalogue()[f"learn.{lab}.name"].split(".")[0]) for lab in LABS}


def test_every_lab_has_a_notebook_of_its_number_and_name():
    wanted = {f"{number:02d}-{lab}.ipynb" for lab, number in NUMBERS.items()}
    assert {p.name for p in notebooks()} >= wanted


@pytest.mark.parametrize("path", notebooks(), ids=lambda p: p.stem)
def test_a_notebook_runs_with_the_package_alone_and_says_something(path, monkeypatch, tmp_path):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path))
    document = json.loads(path.read_text("utf-8"))
    assert document["nbformat"] == 4 and document["cells"][0]["cell_type"] == "markdown"
    code = ["".join(c["source"]) for c in cells(path) if c["cell_type"] == "code"]
    assert code and not any(c.get("outputs") for c in cells(path)), "outputs are not kept"
    assert not re.search(r"^\s*[%!]|import (streamlit|ui|tests|benchmarks)\b", "\n".join(code), re.MULTILINE)
    assert len(run(path)) > 60


def test_the_plans_name_labs_that_exist_and_every_lab_is_somewhere():
    named = set()
    for path in [*TEACHING.glob("plan-*.md"), TEACHING / "README.md", TEACHING / "mistakes.md"]:
        text = path.read_text("utf-8")
        named |= {int(n) for n in re.findall(r"[Ll]abs? (\d+)|^\| (\d+) \|", text, re.MULTILINE) for n in n if n}
    assert set(NUMBERS.values()) <= named | {5, 6}, "labs 4 to 7 are named as a range"
    assert named <= set(NUMBERS.values())


@pytest.mark.parametrize("number", [1, 2, 3])
def test_every_task_of_a_sheet_has_its_solution(number):
    tasks, solved = (
        re.findall(r"^\*\*(\d+)\.\*\*", (TEACHING / f"{kind}-{number}.md").read_text("utf-8"), re.MULTILINE)
        for kind in ("sheet", "solutions")
    )
    assert tasks == solved and len(tasks) >= 5
