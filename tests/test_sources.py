"""docs/sources.md: every file and test that the map of the source documents names exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
PATHS = sorted(set(re.findall(r"`((?:dpsyn_core|ui|tests|docs|benchmarks)/[^`:]+)(?:::\w+)?`", TEXT)))
TESTS = sorted(set(re.findall(r"`(tests/[^`]+)::(\w+)`", TEXT)))


def test_the_map_is_a_map():
    assert len(PATHS) > 50 and len(TESTS) > 30


@pytest.mark.parametrize("path", PATHS)
def test_named_files_exist(path):
    assert (ROOT / path).is_file()


@pytest.mark.parametrize(("path", "name"), TESTS, ids=[name for _, name in TESTS])
def test_named_tests_exist(path, name):
    assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")
