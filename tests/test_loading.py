"""Late loading: a run of the command loads little, and what it left out is there for whoever asks for it."""

import subprocess
import sys

from dpsyn_core.cli import main

RUN = """
import sys
from dpsyn_core import cli
code = cli.main()
print("exit", code, *(n for n in ("pandas", "scipy.linalg", "numba.np.arraymath", "sklearn") if n in sys.modules))
import numpy as np
np.testing.assert_equal(1, 1)
import pandas
print(pandas.Series([1, 2]).sum())
"""
COMPILES = """
import numpy as np
from dpsyn_core.counting.kernels import recoded
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
    for _ in range(2):  # the first may compile
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["exit", "0", "3"]


def test_a_kernel_that_is_kept_is_loaded_and_another_form_of_it_is_compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", COMPILES], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    one = COMPILES.replace("(np.uint8, np.uint16, np.uint32)", "(np.uint8, np.int64)")
    done = subprocess.run([sys.executable, "-c", one], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
