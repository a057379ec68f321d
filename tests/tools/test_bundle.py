"""The folder that installs without a network: its requirements, its sums, and that an index is never asked."""

import hashlib
import subprocess
import sys
import zipfile

import pytest

from tools import bundle, wheels

LOCK = "numpy==2.4.6 \\\n    --hash=sha256:{a}\n".format(a="a" * 64)


@pytest.fixture
def made(tmp_path):
    """A wheel of nothing."""
    path = tmp_path / "wheels" / "a_small_one-1.0-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("a_small_one.py", "")
        info = "a_small_one-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: a-small-one\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


def test_requirements_name_the_folder_alone_and_the_hash_of_our_own_wheel(made):
    text = bundle.requirements(LOCK, made)
    assert text.startswith("--no-index\n--find-links wheels\nnumpy==2.4.6")
    assert text.endswith(f"a-small-one==1.0 \\\n    --hash=sha256:{hashlib.sha256(made.read_bytes()).hexdigest()}\n")


def test_pip_installs_from_the_folder_and_refuses_a_file_that_was_changed(made, tmp_path):
    listed = tmp_path / "requirements.txt"
    listed.write_text(bundle.requirements("", made), "utf-8")
    line = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(tmp_path / "out"), "-r", str(listed)]
    assert subprocess.run(line, cwd="/", capture_output=True, check=False).returncode == 0
    assert (tmp_path / "out" / "a_small_one.py").exists()
    made.write_bytes(made.read_bytes() + b"\0")
    assert subprocess.run(line, cwd="/", capture_output=True, check=False).returncode != 0


def test_sums_have_every_file_but_themselves(made, tmp_path):
    (tmp_path / "SHA256SUMS").write_text("old")
    (tmp_path / "requirements.txt").write_text("x")
    assert [line.split("  ")[1] for line in bundle.sums(tmp_path).splitlines()] == [
        "requirements.txt", "wheels/a_small_one-1.0-py3-none-any.whl",
    ]  # fmt: skip


def test_a_package_without_a_wheel_is_named_and_the_others_are_counted(monkeypatch):
    """What uv says, of two such packages."""
    lock = "".join(f"{name}==1 \\\n    --hash=sha256:x \\\n    --hash=sha256:y\n" for name in ("a", "b-c", "d"))

    def resolve(left, place, version):
        for name in ("b-c", "d"):
            if name in left:
                extra = "{implementation_name != 'pypy'}" if name == "d" else ""
                return f"cause: Because {name}{extra}==1 has no\n usable wheels and you require it"
        return "Resolved 1 package in 1ms\nWould install 1 package"

    monkeypatch.setattr(wheels, "resolve", resolve)
    assert wheels.cell(lock, "somewhere", "3.13") == "1, not b-c, d"
    assert wheels.without(lock, "b-c").count("--hash") == 4
    monkeypatch.setattr(wheels, "resolve", lambda *_: "error: no index")
    with pytest.raises(SystemExit, match="no index"):
        wheels.cell(lock, "somewhere", "3.13")
