"""The labs as a static folder: what is packed, what is checked, and that every lab opens without a compiler."""

import hashlib
import json
import os
import subprocess
import sys
import zipfile

import pytest

from tools.browser import __main__ as build

# what the distribution for browsers lacks, and what no lab may need
BLOCKED = (
    "llvmlite", "psutil", "dp_accounting", "sklearn", "duckdb", "psycopg", "xgboost", "polars", "pyreadstat", "authlib",
    "httpx", "openpyxl", "_multiprocessing",
)  # fmt: skip
OPENED = f"""
import json, sys, warnings
warnings.simplefilter("ignore")
sys.modules.update(dict.fromkeys({BLOCKED!r}))
import numba
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest
from ui.learn import LABS
from ui.learn.numbers import growing

def older(drawn):  # that of the Streamlit in the browser (1.62) takes no alt
    def call(self, *args, **named):
        if "alt" in named:
            raise TypeError("alt")
        return drawn(self, *args, **named)
    return call

for name in ("plotly_chart", "vega_lite_chart", "altair_chart", "dataframe", "data_editor", "table"):
    setattr(DeltaGenerator, name, older(getattr(DeltaGenerator, name)))
    setattr(st, name, getattr(getattr(st, name).__self__, name))
wrong = []
for lab in LABS:
    page = AppTest.from_file("labs.py", default_timeout=120)
    page.query_params["lab"], page.query_params["open"] = lab, "1"
    page.run()
    wrong += [lab] if len(page.exception) or not page.markdown else []
grown = [growing.grown(a, c, seed).tolist() for a in (0.5, 1.0) for c in (0.0, 0.5, 1.0) for seed in range(5)]
print(json.dumps([numba.__file__, len(LABS), wrong, grown]))
"""


def test_the_archive_has_the_labs_and_the_engine_and_is_the_same_bytes_twice(tmp_path):
    for name in ("a.zip", "b.zip"):
        build.write_app(tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    names = zipfile.ZipFile(tmp_path / "a.zip").namelist()
    assert {"labs.py", "numba.py", "ui/learn/growing.py", "ui/learn/numbers/game.py"} <= set(names)
    assert not [n for n in names if "__pycache__" in n or n.startswith(("tests/", "benchmarks/"))]


def test_what_is_needed_follows_from_the_lock_whatever_the_spelling_of_a_name():
    lock = {n: {"depends": d} for n, d in {"a_b": ["C"], "C": ["d-e"], "d-e": ["a-b"], "x": []}.items()}
    assert build.closure(lock, ("a-b",)) == ["C", "a_b", "d-e"]
    with pytest.raises(KeyError):
        build.closure(lock, ("y",))


def test_a_package_with_another_digest_is_not_taken_and_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "ROOTS", ("good", "bad"))
    monkeypatch.setattr(build, "APART", ("pure-one",))
    (tmp_path / "out" / "pyodide").mkdir(parents=True)
    (tmp_path / "given").mkdir()
    lock = {}
    for name in ("good", "bad"):
        (tmp_path / "given" / f"{name}.whl").write_bytes(name.encode())
        digest = hashlib.sha256(b"good").hexdigest()
        lock[name] = {"file_name": f"{name}.whl", "sha256": digest, "depends": []}
    missing = build.add_wheels(lock, tmp_path / "given", tmp_path / "out")
    assert [line[65:].strip() for line in missing] == ["bad.whl", "pure-one, a wheel of pure Python"]
    assert [p.name for p in (tmp_path / "out" / "pyodide").iterdir()] == ["good.whl"]


@pytest.mark.slow
def test_every_lab_opens_from_the_archive_without_a_compiler_and_lab_5_says_the_same(tmp_path):
    from ui.learn.numbers import growing

    build.write_app(tmp_path / "app.zip")
    zipfile.ZipFile(tmp_path / "app.zip").extractall(tmp_path / "app")
    env = os.environ | {"PYTHONPATH": str(tmp_path / "app"), "DPSYN_HOME": str(tmp_path / "home")}
    env |= {"DPSYN_CLASSROOM": "1", "DPSYN_WARM_UP": "0"}
    done = subprocess.run(
        [sys.executable, "-c", OPENED], cwd=tmp_path / "app", env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    stand_in, labs, wrong, grown = json.loads(done.stdout.strip().splitlines()[-1])
    assert stand_in == str(tmp_path / "app" / "numba.py") and labs >= 27 and wrong == []
    here = [growing.grown(a, c, seed).tolist() for a in (0.5, 1.0) for c in (0.0, 0.5, 1.0) for seed in range(5)]
    assert grown == here
