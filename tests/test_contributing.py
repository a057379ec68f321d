"""Follows the recipes of CONTRIBUTING.md to the letter, in a copy of the project, and checks what came of them."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # each recipe is followed in a copy of the project
ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TITLES = re.findall(r"^### (Add a .+)$", GUIDE, re.MULTILINE)
COPIED = ("app.py", "pyproject.toml", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE",
          ".streamlit", "assets", "benchmarks", "docs", "dpsyn_core", "pages", "tests", "tools", "ui")  # fmt: skip
BLOCK = re.compile(r"(?P<before>[^\n]*(?:\n[^\n]+)*)\n\n```(?P<kind>\w+)\n(?P<body>.*?)\n```", re.DOTALL)

PAGE = """
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest, app_test
from ui.shared import serving

class Served(PagesManager):  # AppTest forgets on every run that the app has pages
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        PagesManager.uses_pages_directory = False

app_test.PagesManager = Served
serving.prepare = lambda: None
app = AppTest.from_file("app.py", default_timeout=300)
app.run()
app.switch_page("pages/synthesize.py").run()
app.selectbox(key="method").set_value("uniform").run()
assert not app.exception
print(app.selectbox(key="method").options, [w.label for w in app.number_input], [e.value for e in app.error], sep="\\n")
"""


def recipe(title):
    """The blocks of a recipe in their order: (paragraph before, kind, body)."""
    found = re.search(rf"^### {title}\n(.*?)(?=^##|\Z)", GUIDE, re.DOTALL | re.MULTILINE)
    assert found, f"CONTRIBUTING.md has no recipe '{title}'"
    return [m.group("before", "kind", "body") for m in BLOCK.finditer(found[1])]


def patched(text, diff):
    """The text after a block of changes; the lines that stay and those that go must be in it once, in one piece."""
    lines = [line or " " for line in diff.splitlines()]
    old = "".join(line[1:] + "\n" for line in lines if line[0] in " -")
    new = "".join(line[1:] + "\n" for line in lines if line[0] in " +")
    assert text.count(old) == 1, f"found {text.count(old)} times:\n{old}"
    return text.replace(old, new)


class Newcomer:
    """Somebody with a copy of the project who does what a recipe says."""

    def __init__(self, folder):
        self.folder = folder / "copy"
        self.folder.mkdir()
        self.printed = []
        for name in COPIED:
            source, target = ROOT / name, self.folder / name
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("img", "_app"))
            else:
                shutil.copy2(source, target)
        tools = Path(sys.executable).parent
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")} | {
            "PYTHONPATH": str(self.folder),
            "DPSYN_HOME": str(folder / "home"),
            "DPSYN_WARM_UP": "0",
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        }

    def run(self, *command):
        done = subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command[-1]}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def follow(self, title, *, run=True):
        """Writes the files, applies the changes, runs the commands; what the commands print is kept."""
        for before, kind, body in recipe(title):
            if kind == "diff":
                path, _, changes = body.partition("\n")
                target = self.folder / path.removeprefix("--- ")
                target.write_text(patched(target.read_text(encoding="utf-8"), changes), encoding="utf-8")
            elif kind == "sh":
                for line in body.replace("\\\n", " ").splitlines() if run else ():
                    self.printed.append((" ".join(line.split()), self.run("bash", "-ec", line)))
            else:
                named = re.search(r"Write `([^`]+)`", before)
                assert named, f"the recipe '{title}' does not say where to write:\n{body[:200]}"
                target = self.folder / named[1]
                assert not target.exists(), target
                target.parent.mkdir(exist_ok=True)
                target.write_text(body + "\n", encoding="utf-8")

    def output(self, start):
        """What the last command that begins so has printed."""
        return next(out for command, out in reversed(self.printed) if command.startswith(start))

    def asked(self, code):
        """What a few lines of Python print in the copy."""
        return self.run(sys.executable, "-c", code)


@pytest.fixture
def newcomer(tmp_path):
    return Newcomer(tmp_path)


def passed(printed):
    """How many tests passed, by the last line of pytest."""
    return int(re.search(r"(\d+) passed", printed)[1])


def test_there_are_recipes_and_each_runs_what_it_made():
    assert len(TITLES) >= 8
    for title in TITLES:
        assert recipe(title)[-1][1] == "sh", title


def test_a_system_takes_one_file_and_one_line():
    kinds = [kind for _, kind, _ in recipe("Add a system")]
    assert kinds == ["python", "diff", "sh"]
    added = [line for line in recipe("Add a system")[1][2].splitlines() if line[0] in "+-" and line[:3] != "---"]
    assert len(added) == 1


@pytest.mark.slow
def test_a_system_and_its_setting_reach_the_command_the_plan_the_page_and_the_contract_tests(newcomer):
    newcomer.follow("Add a system")
    assert "\nuniform\n" in newcomer.output("dpsyn methods")
    assert re.search(r"^100% +1 .*number of records$", newcomer.output("dpsyn plan"), re.MULTILINE)
    assert passed(newcomer.output("python -m pytest tests/systems")) >= 20
    manifest = json.loads((newcomer.folder / "out" / "uniform.json").read_text(encoding="utf-8"))
    assert manifest["method"] == "uniform"
    assert manifest["private"]

    newcomer.follow("Add a setting of a system")
    assert "multiple = 1" in newcomer.output("dpsyn methods")
    rows = len((newcomer.folder / "out" / "hundreds.csv").read_text(encoding="utf-8").splitlines()) - 1
    assert rows % 100 == 0
    assert rows > 19_000
    offered, fields, errors = newcomer.asked(PAGE).splitlines()
    assert "'uniform'" in offered
    assert "Multiple (records)" in fields, "the form has grown by itself"
    assert errors == "[]"


@pytest.mark.slow
def test_a_kind_of_attribute_is_checked_synthesized_and_reported(newcomer):
    newcomer.follow("Add a kind of attribute")
    assert "duration" not in newcomer.output("dpsyn schema check"), "every cell of the table is one"
    lines = (newcomer.folder / "out" / "made.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 51
    assert all(re.fullmatch(r"(bus|train),(\d h \d+ min)?", line) for line in lines[1:])
    assert len(set(lines)) > 10, "values are drawn inside their bins"
    report = json.loads((newcomer.folder / "out" / "report.json").read_text(encoding="utf-8"))
    assert "took" in json.dumps(report["tables"][0]["scores"]["wasserstein"])
    assert passed(newcomer.output("python -m pytest tests/schema")) >= 20


@pytest.mark.slow
def test_a_metric_reaches_the_registry_the_comparison_and_the_report(newcomer):
    newcomer.follow("Add a metric")
    compared = json.loads((newcomer.folder / "out" / "compare.json").read_text(encoding="utf-8"))
    assert "repeated-records" in compared["scores"]
    report = json.loads((newcomer.folder / "out" / "report.json").read_text(encoding="utf-8"))
    assert report["metrics"]["repeated-records"]["goal"] == "zero"
    assert -1 <= report["tables"][0]["scores"]["repeated-records"]["value"] <= 1
    assert "Repeated records" in (newcomer.folder / "out" / "report.html").read_text(encoding="utf-8")
    quick = "from dpsyn_core.evaluate.base import names; print(names(quick=True))"
    assert "'repeated-records'" in newcomer.asked(quick), "All scores lists the quick ones"


@pytest.mark.slow
def test_a_lab_opens_on_the_learn_page_and_has_all_its_words(newcomer):
    newcomer.follow("Add a lab")
    assert passed(newcomer.output("python -m pytest tests/app/test_labs.py")) == 2


@pytest.mark.slow
def test_a_source_is_accepted_by_synthesize_as_it_is(newcomer):
    newcomer.follow("Add a source")
    n, words = newcomer.output("python out/folder_release.py").split(" ", 1)
    assert words == "synthetic records by independent\n"
    assert 19_000 < int(n) < 21_000, "both files were counted"
    code = """
from pathlib import Path
from dpsyn_core.measure.sources.base import Source
from dpsyn_core.measure.sources.folder import FolderSource
print(isinstance(FolderSource(Path("out")), Source))
"""
    assert newcomer.asked(code) == "True\n"


RULE = """
import json
from pathlib import Path
from streamlit.testing.v1 import AppTest
from dpsyn_core.runs.jobs.folder import take_table
from dpsyn_core.runs.jobs.spec import JobSpec
from dpsyn_core.progress import silent
from dpsyn_core.schema.document import Schema
from dpsyn_core.measure.sources.choice import source_of
from dpsyn_core.tables.read import open_table, parts_of, read_table
from dpsyn_core.tables.read_form import ReadForm

form, raw, folder = ReadForm(blank="NA"), Path("out/towns.csv").read_bytes(), Path("out/towns")
folder.mkdir()
for name in "ab":
    (folder / f"{name}.csv").write_bytes(raw)
print([t["town"].to_pylist() for t in parts_of(folder, form)[1][0].read()])
print(read_table(raw, blank="NA")["age"].to_pylist(), open_table(folder, form).whole()["town"].to_pylist())
schema = Schema.of({"version": 1, "name": "t", "attributes": [
    {"name": "town", "kind": "categorical", "values": ["Oslo", "NA"], "missing": True, "other": True}]})
job = JobSpec(
    query_vouched=False, table=str(folder.absolute()), epsilon=1, delta=1e-9, method="independent", seed=1, form=form)
with take_table(Path("out"), JobSpec.model_validate_json(job.model_dump_json()), schema).open(
    schema, progress=silent
) as opened:
    print(opened.counter.marginal(("town",)).tolist())

app = AppTest.from_string('''
import streamlit as st
from dpsyn_core.tables.read_form import ReadForm
from ui.data.form import asked
st.session_state["said"] = asked("text", ReadForm(blank="NA"), key="k")
''').run()
assert not app.exception
print(app.session_state["said"]["blank"], [w.label for w in app.text_input])
"""


@pytest.mark.slow
def test_a_rule_of_reading_is_one_field_and_holds_wherever_the_table_comes_from(newcomer):
    newcomer.follow("Add a rule of reading")
    assert "--blank WORD" in newcomer.output("dpsyn schema draft --help")
    drafted = json.loads((newcomer.folder / "out" / "towns.schema.json").read_text(encoding="utf-8"))
    town = next(a for a in drafted["attributes"] if a["name"] == "town")
    assert town["missing"] and "NA" not in town["values"]
    part, read, counted, page = newcomer.asked(RULE).splitlines()
    assert part == "[['Oslo', '', 'Bergen', 'Oslo']]"
    assert read == "['31', '45', '27', ''] " + str(["Oslo", "", "Bergen", "Oslo"] * 2)
    assert counted == "[4, 0, 2, 2]", "Oslo, NA, other, missing"
    assert page == "NA ['blank', 'headers, if the file has none']"


@pytest.mark.slow
def test_a_kind_of_rule_is_declared_kept_said_and_counted(newcomer):
    newcomer.follow("Add a kind of rule")
    assert "from and to differ" in newcomer.output("dpsyn schema check")
    rows = (newcomer.folder / "out" / "made.csv").read_text(encoding="utf-8").split()[1:]
    assert not [row for row in rows if row.split(",")[0] == row.split(",")[1]]
    report = json.loads((newcomer.folder / "out" / "flights.json").read_text(encoding="utf-8"))
    assert '"from and to differ"' in json.dumps(report)
    words = """
from dpsyn_core.schema.document import Schema
from ui.schema.rule_words import rule_words
print(rule_words(Schema.load("out/flights.schema.json").rules[0]))
"""
    assert newcomer.asked(words) == "from and to differ\n"


@pytest.mark.slow
def test_a_form_of_question_is_planned_measured_and_stands_in_the_manifest(newcomer):
    newcomer.follow("Add a form of question")
    assert "tables that your questions need" in newcomer.output("dpsyn plan")
    manifest = json.loads((newcomer.folder / "out" / "asked.json").read_text(encoding="utf-8"))
    assert manifest["questions"]["document"]["questions"][0]["kind"] == "spread"
    assert passed(newcomer.output("python -m pytest tests/questions --quick")) > 80
    code = """
from dpsyn_core.questions.document import declared
from dpsyn_core.questions.evaluation import evaluate
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.sample import sample_schema, sample_table
[question] = declared("out/questions.json", sample_schema()).questions
print(evaluate(question, Codec(sample_schema()).encode(sample_table()).codes, sample_schema()).values.min() > 100)
"""
    assert newcomer.asked(code) == "True\n"


@pytest.mark.slow
def test_what_the_recipes_write_passes_lint_and_types(newcomer):
    for title in TITLES:
        newcomer.follow(title, run=False)
    newcomer.run("ruff", "check", "dpsyn_core", "ui")
    newcomer.run("ruff", "format", "--check", "dpsyn_core", "ui")
    kept = ROOT / ".mypy_cache"  # of files that are the same here as there, mypy looks at the others alone
    if kept.is_dir():
        shutil.copytree(kept, newcomer.folder / ".mypy_cache")
    newcomer.run("mypy")
