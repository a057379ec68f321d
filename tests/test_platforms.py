"""Windows and macOS: one module knows what they lack, and the program works where that is taken away.

`tests/elsewhere/sitecustomize.py` takes it away from Python itself, in every process that a test starts here, so that
the branches of `dpsyn_core/platforms.py` for the other system run.
"""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dpsyn_core import platforms
from dpsyn_core.outside import file_word
from dpsyn_core.privacy.manifest.manifest import package_versions
from tests.elsewhere.sitecustomize import MODULES, OF_OS, OF_SIGNAL
from tests.elsewhere.use import USES

ROOT = Path(__file__).resolve().parent.parent
SYSTEMS = {"win32": "Windows", "darwin": "macOS"}
# parts of `os` and `signal` that not every system has, and modules of one system
LACKED = {*OF_OS["win32"], *OF_OS["darwin"], *OF_SIGNAL["win32"], "getuid", "statvfs"}
OF_ONE = {*MODULES["win32"], "msvcrt", "winreg", "_winapi"}


def elsewhere(system, *arguments, **more):
    """Python on the other system, with what it printed."""
    path = os.pathsep.join([str(ROOT / "tests" / "elsewhere"), str(ROOT)])
    env = os.environ | {"PYTHONPATH": path, "DPSYN_TEST_SYSTEM": system, **more}
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def sources():
    for place in ("dpsyn_core", "ui", "pages"):
        yield from (p for p in (ROOT / place).rglob("*.py") if "_app" not in p.parts)


def asked(tree):
    """What a file asks of one system: modules, parts of `os` and `signal`, the system's name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module]
            yield from (name for name in names if name in OF_ONE)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            whole = f"{node.value.id}.{node.attr}"
            if (node.value.id in ("os", "signal") and node.attr in LACKED) or whole in ("os.name", "sys.platform"):
                yield whole
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and re.match(r"/(proc|tmp|dev)/", node.value)
        ):
            yield node.value


def test_one_module_asks_which_system_this_is():
    found = {p.relative_to(ROOT).as_posix(): set(asked(ast.parse(p.read_text("utf-8")))) for p in sources()}
    assert {"fcntl", "msvcrt", "resource", "os.fchmod", "sys.platform"} <= found.pop("dpsyn_core/platforms.py")
    assert {name: what for name, what in found.items() if what} == {}


def test_text_is_read_and_written_in_a_named_encoding():
    """Windows takes the encoding of its console where none is named."""
    loose = []
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            named = any(k.arg == "encoding" for k in node.keywords)
            if (name == "read_text" and not node.args and not named) or (
                name == "write_text" and isinstance(node.func, ast.Attribute) and len(node.args) < 2 and not named
            ):
                loose.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert loose == []


def test_a_manifest_names_the_system_and_this_one_lacks_what_the_page_of_the_guarantee_says():
    assert package_versions()["system"] == platforms.line()
    page = (ROOT / "docs" / "guarantee.md").read_text("utf-8")
    for system, name in SYSTEMS.items():
        done = elsewhere(
            system, "-c", "from dpsyn_core.platforms import MISSING, line; print(line(), MISSING, sep='|')"
        )
        line, missing = done.stdout.strip().split("|")
        assert line.startswith(name) and "without limits of memory" in line
        row = next(row for row in page.splitlines() if row.startswith(f"| {name} |"))
        assert all(f"*{what}*" in row for what in ast.literal_eval(missing)), row


def test_names_that_windows_does_not_take():
    for name in ("con", "AUX.csv", "lpt1.tar.gz", "a:b", "a?", "end.", "end ", "nul .txt", "a\tb", "a\\b"):
        assert platforms.unusable(name), name
    for name in ("console.csv", "aux2", "ok.csv", "größe.csv", ".hidden"):
        assert not platforms.unusable(name), name
    assert file_word("con", "x") == "con_" and file_word("Ko:nto", "x") == "Ko-nto"


def test_a_message_passes_a_console_that_lacks_its_characters():
    code = "from dpsyn_core.platforms import print_anything as p; p(); print('\\u2265 1 \\u20ac')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ | {"PYTHONIOENCODING": "cp1252"}, capture_output=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.split() == [b"?", b"1", b"\x80"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_the_other_system_lacks_is_gone(system):
    """The test of the tests: each part is missing, an open file stays, and two cases are one name."""
    code = f"""
import importlib, os, signal, sys, tempfile
for name in {MODULES[system]}:
    try:
        importlib.import_module(name)
    except ImportError:
        continue
    sys.exit(name)
assert not [n for n in {OF_OS[system]} if hasattr(os, n)]
assert not [n for n in {OF_SIGNAL[system]} if hasattr(signal, n)]
assert not os.path.exists("/proc/self/fd")
with tempfile.TemporaryDirectory() as folder:
    open(folder + "/Name", "w").close()
    assert os.path.samefile(folder + "/name", folder + "/NAME")
    with open(folder + "/NAME"):
        try:
            os.unlink(folder + "/name")
        except PermissionError:
            print("open")
    from pathlib import Path
    from dpsyn_core.child import Child
    child = Child([sys.executable, "-c", "import time; time.sleep(60)"])
    child.end()
    print(child.returncode)
"""
    done = elsewhere(system, "-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == (["open", "1"] if system == "win32" else ["-9"])


@pytest.mark.slow
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_program_works_without_what_the_other_system_lacks(system, use, tmp_path):
    done = elsewhere(system, "-m", "tests.elsewhere.use", use, str(tmp_path))
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
