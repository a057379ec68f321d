"""All locks are looked up; what could not be is a failure, unless a flag allows it."""

import pytest

from tests.test_left_out import ROOT
from tools import vulnerabilities
from tools.dev import ENVIRONMENTS, TARGETS

ALPHA = {"name": "alpha", "version": "1.4.2", "vulns": []}
BETA = {
    "name": "beta",
    "version": "2.0",
    "vulns": [{"id": "X-1", "fix_versions": ["2.1"]}, {"id": "X-2", "fix_versions": []}],
}
GAMMA = {"name": "gamma", "skip_reason": "not found"}
NO_DATA = "NOT CHECKED: no vulnerability data can be reached"


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A project with two locks, and a way to say what each service answers; returns what was asked."""
    (tmp_path / "requirements").mkdir()
    for name in ("run.lock", "dev.lock"):
        (tmp_path / "requirements" / name).touch()
    monkeypatch.setattr(vulnerabilities, "PROJECT", tmp_path)

    def answers(**given):
        asked = []
        monkeypatch.setattr(
            vulnerabilities, "ask", lambda lock, service: asked.append((lock.name, service)) or given.get(service, [])
        )  # fmt: skip
        return asked

    return answers


def test_every_lock_of_the_project_is_looked_up():
    names = {path.name for path in vulnerabilities.locks()}
    assert names == {f"{name}.lock" for name in ENVIRONMENTS} and len(names) == 6


def test_findings_fail_and_are_named_with_what_mends_them(world, capsys):
    asked = world(pypi=[ALPHA, BETA])
    assert vulnerabilities.main([]) == vulnerabilities.main(["--allow-unchecked"]) == 1
    assert capsys.readouterr().out.splitlines()[:3] == [
        "dev.lock: 2 packages checked, 2 findings",
        "  beta 2.0: X-1 (fixed in 2.1)",
        "  beta 2.0: X-2 (no fixed version yet)",
    ]
    assert asked[:2] == [("dev.lock", "pypi"), ("run.lock", "pypi")]
    world(pypi=[ALPHA])
    assert vulnerabilities.main([]) == 0


@pytest.mark.parametrize("pypi", [[], [GAMMA]], ids=["no answer", "no such data"])
def test_without_any_data_it_fails_unless_that_is_allowed_and_says_so_either_way(world, capsys, pypi):
    asked = world(pypi=pypi)
    assert vulnerabilities.main([]) == 2
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == [f"dev.lock: {NO_DATA}", f"run.lock: {NO_DATA}"]
    assert "--allow-unchecked" in said[2]
    assert asked == [("dev.lock", "pypi"), ("dev.lock", "osv")]
    assert vulnerabilities.main(["--allow-unchecked"]) == 0
    assert capsys.readouterr().out.splitlines() == said[:2]


def test_one_package_that_is_unknown_is_not_checked_either(world, capsys):
    world(pypi=[ALPHA, GAMMA])
    assert vulnerabilities.main([]) == 2
    assert "run.lock: 1 packages checked, 0 findings, NOT CHECKED: 1 packages" in capsys.readouterr().out
    assert vulnerabilities.main(["--allow-unchecked"]) == 0


def test_the_second_service_is_asked_where_the_first_has_no_data(world):
    world(osv=[ALPHA])
    assert vulnerabilities.main([]) == 0


def test_only_the_script_of_a_machine_that_may_reach_no_service_allows_it():
    """The target, the workflows and a release check without the flag."""
    flag = "--allow-unchecked"
    assert not any(flag in command for command in TARGETS["check"].commands)
    assert not any(flag in p.read_text(encoding="utf-8") for p in (ROOT / ".github" / "workflows").glob("*.yml"))
    assert flag in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    release = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "make check" in release
