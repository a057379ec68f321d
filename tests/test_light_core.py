"""A light core: engine and command without the libraries of the extras, and a wheel that is the same bytes twice."""

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from dpsyn_core.extras import LIBRARIES
from tools import dist
from tools.index_page import index_page

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRA = (
    "streamlit", "plotly", "altair", "jinja2", "openpyxl", "pyreadstat", "duckdb", "psycopg", "polars", "torch", "mbi",
    "pyspark", "xgboost", "authlib", "httpx", "pandas", "sklearn",
)  # fmt: skip
OPENED = """
from streamlit.testing.v1 import AppTest
from dpsyn_core.commands.app import app_folder
print(len(AppTest.from_file(str(app_folder() / "app.py"), default_timeout=300).run().exception))
"""
# as where they are not installed: no entry in sys.modules, which SciPy and pyarrow ask for
RUN = f"""
import sys
class Without:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        return None if name.split(".")[0] in {EXTRA!r} else self.finder.find_spec(name, path, target)
sys.meta_path[:] = [Without(f) for f in sys.meta_path]
import contextlib, io, json
from dpsyn_core.commands.cli import main
done = []
for words in json.load(sys.stdin):  # libraries that are not found cost their search in every command, not a process
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = main(words)
    done.append([code, said.getvalue()])
print(json.dumps(done))
"""


def names(requirements):
    named = {re.split(r"[<>=\[;]", r)[0].lower().replace("-", "_") for r in requirements}
    return {"sklearn" if n == "scikit_learn" else n for n in named}


def test_the_core_needs_no_library_of_an_extra_and_nothing_is_pinned_to_a_minor_version():
    core, extras = names(PROJECT["dependencies"]), PROJECT["optional-dependencies"]
    assert not core & set(EXTRA)
    for extra, libraries in LIBRARIES.items():
        assert set(libraries) <= names(extras[extra]), extra
    assert names(extras["app"]) == {
        "altair", "jinja2", "openpyxl", "pandas", "plotly", "sklearn", "streamlit",
    }  # fmt: skip
    whole = re.search(r"\[(.*)\]", extras["all"][0])[1].split(",")
    assert set(whole) == set(extras) - {"all", "build", "dev", "docs"}
    every = [*PROJECT["dependencies"], *(r for some in extras.values() for r in some)]
    bounded = {r for r in every if re.search(r"==|~=|<\d+\.", r)}
    assert names(bounded) == {"numba", "streamlit"}, "private parts of these two are used, which a version may change"


def dpsyn(folder, commands):
    """Status and words of each command, all of one process."""
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        cwd=folder,
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT), "DPSYN_HOME": str(folder / "home")},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_command_runs_without_the_libraries_of_the_extras_and_names_the_one_that_is_missing(tmp_path):
    out = (
        "synth", "demo/sample.csv", "--schema", "demo/sample.schema.json", "--epsilon", "1", "--delta", "1e-9",
        "--method", "independent", "--out",
    )  # fmt: skip
    report = ("report", "demo/sample.csv", "s.csv", "--schema", "demo/sample.schema.json", "--metrics", "tvd-1way")
    with zipfile.ZipFile(tmp_path / "book.xlsx", "w") as book:
        book.writestr("xl/workbook.xml", "")
    (tmp_path / "x.duckdb").write_bytes(b"\0" * 8 + b"DUCK" + b"\0" * 100)
    works = (
        ("sample", "demo"), (*out, "s.csv"), (*report, "--json", "r.json"),
        (*report[:-1], "tvd-1way,pmse,learning", "--json", "l.json"),
    )  # fmt: skip
    missing = {
        "app": ("app", "--no-browser"),
        "app ": (*report, "--html", "r.html"),
        "excel": ("schema", "draft", "book.xlsx", "-o", "d.json"),
        "codebooks": (*out, "s.sav"),
        "databases": (*("x.duckdb" if w == "demo/sample.csv" else w for w in out), "t.csv", "--sql-table", "t"),
    }
    done = dpsyn(tmp_path, [*works, *missing.values()])
    for code, said in done[: len(works)]:
        assert code == 0, said
    found = json.loads((tmp_path / "l.json").read_text(encoding="utf-8"))
    assert json.dumps(found).count("dpsyn-studio[learning]") == 2
    for extra, (code, said) in zip(missing, done[len(works) :], strict=True):
        assert code == 2, extra
        assert f'pip install "dpsyn-studio[{extra.strip()}]"' in said, said
        assert len(said.removeprefix("reading\n").strip().splitlines()) == 1
    assert not (tmp_path / "s.sav").exists() and not (tmp_path / "r.html").exists()


def test_wheel_and_sdist_are_the_same_bytes_twice(tmp_path, capsys):
    assert dist.main(["-o", str(tmp_path)]) == 0
    built = sorted(p.name for p in tmp_path.iterdir())
    assert [b.rsplit(".", 1)[1] for b in built] == ["whl", "gz"] and len(capsys.readouterr().out.splitlines()) == 2
    with zipfile.ZipFile(tmp_path / built[0]) as wheel:
        name = next(n for n in wheel.namelist() if n.endswith("/METADATA"))
        page = wheel.read(name).decode()
    assert "Description-Content-Type: text/markdown" in page and "## From a shell" in page
    assert not re.findall(r"\]\((?!https?:)[^)]*\)", page), "an index has no files of the repository to show or to link"


def test_the_page_of_an_index_keeps_words_and_drops_pictures():
    said = "A [b](docs/b.md) [c](https://c.d).\n\n![p](docs/p.png)\n\n| x |\n|---|\n| ![y](y.png) |\n\n![z](https://z.z/z.png)"
    assert index_page(said) == "A b [c](https://c.d).\n\n![z](https://z.z/z.png)"


@pytest.mark.registry
def test_the_wheel_alone_runs_the_shell_part_of_the_readme_and_with_the_app_it_opens(tmp_path):
    assert dist.main(["-o", str(tmp_path / "dist")]) == 0
    wheel = next((tmp_path / "dist").glob("*.whl"))
    venv.create(tmp_path / "env")
    place = tmp_path / "env" / "bin"
    # Python compiles what is imported; pip would compile all of every package
    pip = [sys.executable, "-m", "pip", "--python", str(place / "python"), "install", "--no-compile", "--quiet"]
    if subprocess.run([*pip, str(wheel)], capture_output=True, check=False).returncode:
        pytest.skip("no package registry answers here")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    env |= {"PATH": f"{place}{os.pathsep}{os.environ['PATH']}", "DPSYN_HOME": str(tmp_path / "home")}

    def run(command):
        line = ["bash", "-ec", command]
        return subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^## From a shell\n+```\n(.*?)```", readme, re.MULTILINE | re.DOTALL)[1]
    for command in block.replace("\\\n", " ").splitlines():
        done = run(command)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
    done = run("dpsyn report demo/sample.csv synthetic.csv --schema demo/sample.schema.json --html report.html")
    assert done.returncode == 2 and "dpsyn-studio[app]" in done.stderr
    loaded = run("python -c 'import dpsyn_core, sys; print(len(sys.modules))'")
    assert int(loaded.stdout) < 400
    assert not subprocess.run([*pip, f"{wheel}[app]"], capture_output=True, check=False).returncode
    (tmp_path / "opened.py").write_text(OPENED, encoding="utf-8")
    opened = run("python opened.py")
    assert opened.stdout.strip().splitlines()[-1] == "0", opened.stderr


def test_the_numbers_of_the_labs_import_neither_compiler_nor_scipy(tmp_path):
    """So that they can run in a browser: what they load at the top is Python and numpy."""
    parts = sorted(p.stem for p in (ROOT / "ui" / "learn" / "numbers").glob("*.py") if p.stem != "__init__")
    assert len(parts) >= 8
    blocked = ("numba", "llvmlite", "scipy", "pandas", "pyarrow", "sklearn", "cryptography", "psutil")
    script = (
        f"import importlib, sys; sys.modules.update(dict.fromkeys({blocked!r}))\n"
        f"for name in {parts!r}: importlib.import_module('ui.learn.numbers.' + name)\n"
        "from ui.learn.numbers.systems import results; assert results('systems')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_one_version_stands_everywhere():
    from dpsyn_core import __version__

    assert re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)[1] == __version__
    newest = re.search(r"^## (?!Unreleased)(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest[1] == __version__
