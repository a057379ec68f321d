"""Late loading: a run of the command loads little, and what it left out is there for whoever asks for it."""

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from dpsyn_core import loading
from dpsyn_core.commands.cli import main

RUN = """
import sys
from dpsyn_core.commands import cli
code = cli.main()
print("exit", code, *(n for n in ("pandas", "scipy.linalg", "numba.np.arraymath", "sklearn") if n in sys.modules))
import numpy as np
np.testing.assert_equal(1, 1)
import pandas
print(pandas.Series([1, 2]).sum())
"""
COMPILES = """
import numpy as np
from dpsyn_core.measure.counting.kernels import recoded
for width in (np.uint8, np.uint16, np.uint32):
    for narrow in (np.uint8, np.uint16):
        out = np.zeros(3, narrow)
        recoded(np.array([2, 0, 1], width), np.array([5, 6, 7], narrow), out)
        assert out.tolist() == [7, 5, 6]
"""


def test_a_run_of_the_command_loads_neither_pandas_nor_what_compiling_needs(tmp_path):
    assert main(["sample", str(tmp_path)]) == 0
    run = [
        sys.executable, "-c", RUN, "synth", str(tmp_path / "sample.csv"), "--schema",
        str(tmp_path / "sample.schema.json"), "--epsilon", "1", "--delta", "1e-9", "--out", str(tmp_path / "out.csv"),
        "--quiet",
    ]  # fmt: skip
    # the first run may compile. One in twenty later ones takes a kernel that none before it took, for noise decides,
    # and a test beside this one may write the index of kept kernels: four runs in a row that compile are no chance
    for _ in range(5):
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        if (said := done.stdout.split()) == ["exit", "0", "3"]:
            break
    assert said == ["exit", "0", "3"]


def test_a_kernel_that_is_kept_is_loaded_and_another_form_of_it_is_compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", COMPILES], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    one = COMPILES.replace("(np.uint8, np.uint16, np.uint32)", "(np.uint8, np.int64)")
    done = subprocess.run([sys.executable, "-c", one], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", [*loading.PRIVATE, "module"])
def test_a_kernel_is_compiled_as_usual_where_numba_has_moved_a_private_part(name, monkeypatch):
    from numba.core import caching

    if name == "module":
        monkeypatch.setitem(sys.modules, "numba.core.runtime", None)  # importing it fails
    else:
        owner = next(c for c in caching.FunctionCache.__mro__ if name in vars(c))
        monkeypatch.delattr(owner, name)
    monkeypatch.setattr("numba.njit", lambda **options: lambda f: f)
    kernel = loading.compiled(nogil=True)(abs)
    assert kernel is abs  # nothing was put in its place


def test_numba_and_streamlit_have_an_upper_bound_for_the_private_parts_that_are_used():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [*project["dependencies"], *project["optional-dependencies"]["app"]]
    for package in ("numba", "streamlit"):
        (wanted,) = [Requirement(n) for n in named if Requirement(n).name == package]
        assert version(package) in wanted.specifier
        major, minor, *_ = Version(version(package)).release
        assert f"{major}.{minor + 1}.0" not in wanted.specifier, "the next one has not been tried"
