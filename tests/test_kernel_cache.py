"""Where compiled kernels go when the usual folders are read-only; `os.access` is played, for it never binds root."""

import os
from pathlib import Path

import pytest

from dpsyn_core import kernel_cache


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Folders of a machine; `locked` holds those that cannot be written."""
    locked = set()
    real = os.access

    def access(path, mode):
        return real(path, mode) and not any(str(path).startswith(str(p)) for p in locked)

    monkeypatch.setattr(kernel_cache.os, "access", access)
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(kernel_cache, "__file__", str(tmp_path / "package" / "kernel_cache.py"))
    monkeypatch.delenv(kernel_cache.VARIABLE, raising=False)
    for name in ("package", "cache", "brought", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "brought" / "kernel.nbc").write_text("compiled")
    return tmp_path, locked


def settled():
    kernel_cache.settle()
    return os.environ.get(kernel_cache.VARIABLE)


def test_numba_keeps_its_usual_folders_when_it_can_write_one(world):
    folder, locked = world
    assert settled() is None
    locked.add(folder / "package")
    assert settled() is None
    (folder / "cache").rmdir()  # numba makes it
    assert settled() is None


def test_kernels_go_to_the_home_when_the_usual_folders_are_read_only(world):
    folder, locked = world
    locked |= {folder / "package", folder / "cache"}
    assert settled() == str(folder / "home" / "kernels")


def test_kernels_of_a_read_only_image_are_copied_once(world, monkeypatch):
    folder, locked = world
    monkeypatch.setenv(kernel_cache.VARIABLE, str(folder / "brought"))
    assert settled() == str(folder / "brought")
    locked.add(folder / "brought")
    first = settled()
    assert first.startswith(str(folder / "home" / "kernels-"))
    assert [p.name for p in (folder / "home").iterdir()] == [Path(first).name]
    assert (Path(first) / "kernel.nbc").read_text() == "compiled"
    monkeypatch.setenv(kernel_cache.VARIABLE, str(folder / "brought"))
    assert settled() == first


def test_a_machine_without_any_folder_gets_a_temporary_one(world):
    folder, locked = world
    locked |= {folder / "package", folder / "cache", folder / "home"}
    assert Path(settled()).is_dir()
