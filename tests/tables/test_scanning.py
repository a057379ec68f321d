"""Delimited files without quotation marks are read without the compiled walk; what that finds is in test_read.py."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(("cell", "loaded"), [("x", False), ('"x, y"', True)])
def test_numba_is_loaded_for_files_with_quotation_marks_alone(tmp_path, cell, loaded):
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n1,{cell}\n2,z\n")
    code = (
        "import sys; from pathlib import Path; from dpsyn_core.tables.read import read_table\n"
        f"assert read_table(Path({str(path)!r})).num_rows == 2; print('numba' in sys.modules)"
    )
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert got.stdout.strip() == str(loaded)
