import json
import zipfile

import pytest

from tools import osv, vulnerabilities

LOCK = """alpha==1.4.2 \\
    --hash=sha256:00
Beta_Two==2.0 ; python_version < '3.12' \\
    --hash=sha256:11
beta-two==2.1 ; python_version >= '3.12'
gamma==0.1
"""


def finding(number, package, *, events=(), versions=(), ecosystem="PyPI", **more):
    ranges = [{"type": "ECOSYSTEM", "events": [dict([e]) for e in events]}]
    affected = {"package": {"name": package, "ecosystem": ecosystem}, "ranges": ranges, "versions": list(versions)}
    return {"id": f"X-{number}", "affected": [affected], **more}


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A project with one lock, and a way to write a database."""
    (tmp_path / "requirements.lock").write_text(LOCK)
    monkeypatch.setattr(vulnerabilities, "PROJECT", tmp_path)
    monkeypatch.setattr(vulnerabilities, "LOCKS", ("requirements.lock",))

    def write(*records):
        path = tmp_path / "all.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for record in records:
                archive.writestr(f"{record['id']}.json", json.dumps(record))
        return ["--database", str(path)]

    return write


def test_pins_of_a_lock_are_read_with_their_markers():
    assert osv.pins(LOCK) == [("alpha", "1.4.2"), ("beta-two", "2.0"), ("beta-two", "2.1"), ("gamma", "0.1")]


@pytest.mark.parametrize(
    ("events", "hit"),
    [
        ([("introduced", "0")], True),
        ([("introduced", "0"), ("fixed", "1.4.2")], False),
        ([("introduced", "0"), ("fixed", "1.4.10")], True),
        ([("introduced", "0"), ("last_affected", "1.4.2")], True),
        ([("introduced", "0"), ("last_affected", "1.4.1")], False),
        ([("introduced", "1.5")], False),
        ([("introduced", "0"), ("fixed", "1.0"), ("introduced", "1.4"), ("fixed", "1.5")], True),
        ([("introduced", "1.4"), ("fixed", "1.5"), ("introduced", "0"), ("fixed", "1.0")], True),
        ([("introduced", "0"), ("fixed", "1.0"), ("introduced", "2.0")], False),
        ([("introduced", "an old mark")], True),
    ],
)
def test_a_version_is_held_against_ranges_as_versions_and_not_as_text(events, hit):
    assert osv.hits(finding(1, "alpha", events=events)["affected"][0], "1.4.2") is hit


def test_a_database_of_a_file_is_judged_without_a_network(world, monkeypatch, capsys):
    monkeypatch.setattr(vulnerabilities, "ask", None)  # nobody is asked
    given = world(
        finding(1, "Alpha", events=[("introduced", "0"), ("fixed", "1.5")]),
        finding(2, "beta.two", versions=["2.1"]),
        finding(3, "gamma", versions=["0.1"], withdrawn="2026-01-01T00:00:00Z"),
        finding(4, "gamma", versions=["0.1"], ecosystem="npm"),
        finding(5, "another", versions=["1.4.2"]),
    )
    assert vulnerabilities.main(given) == 1
    assert capsys.readouterr().out.splitlines() == [
        "requirements.lock: 4 packages checked, 0 unknown, 2 findings",
        "  alpha 1.4.2: X-1 (fixed in 1.5)",
        "  beta-two 2.1: X-2 (no fixed version yet)",
    ]
    assert vulnerabilities.main(world(finding(5, "another", versions=["1.4.2"]))) == 0


def test_a_database_that_cannot_be_read_is_one_sentence(world, tmp_path, capsys):
    (tmp_path / "all.zip").write_text("no archive")
    assert vulnerabilities.main(["--database", str(tmp_path / "all.zip")]) == 2
    assert vulnerabilities.main(["--database", str(tmp_path / "none.zip")]) == 2
    assert capsys.readouterr().out.count("\n") == 2


def test_without_any_data_one_line_says_so_and_the_check_passes(world, monkeypatch, capsys):
    monkeypatch.setattr(vulnerabilities, "ask", lambda lock, service: None)
    assert vulnerabilities.main([]) == 0
    assert capsys.readouterr().out == (
        "requirements.lock: not checked, no vulnerability data can be reached from here\n"
    )
    unknown = {"dependencies": [{"name": "alpha", "skip_reason": "not found"}]}
    monkeypatch.setattr(vulnerabilities, "ask", lambda lock, service: unknown)
    assert vulnerabilities.main([]) == 0
    assert "not checked" in capsys.readouterr().out
