"""The bill of materials names what is installed, once, with licences, links and the lock's hashes."""

import json
from importlib.metadata import PackageNotFoundError, version

import pytest

from tools.sbom import bill, lock_hashes, needed

LOCK = """numpy==2.4.6 \\
    --hash=sha256:{a} \\
    --hash=sha256:{b}
Some_Other.Name==1 ; python_full_version < '3.12' \\
    --hash=sha256:{b}
""".format(a="a" * 64, b="b" * 64)


def test_every_component_stands_once_and_every_link_leads_to_one():
    document = bill("streamlit", LOCK)
    refs = [c["bom-ref"] for c in document["components"]]
    assert len(refs) == len(set(refs))
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    known = {*refs, document["metadata"]["component"]["bom-ref"]}
    for link in document["dependencies"]:
        assert link["ref"] in known
        assert set(link["dependsOn"]) <= known
    assert f"pkg:pypi/numpy@{version('numpy')}" in refs
    assert all(c["version"] == version(c["name"]) for c in document["components"])


def test_the_lock_hashes_stand_beside_their_package():
    assert lock_hashes(LOCK) == {"numpy": ["a" * 64, "b" * 64], "some-other-name": ["b" * 64]}
    numpy = next(c for c in bill("streamlit", LOCK)["components"] if c["name"] == "numpy")
    assert [p["value"] for p in numpy["properties"]] == ["a" * 64, "b" * 64]
    assert numpy["licenses"]


def test_the_same_environment_gives_the_same_bytes():
    assert json.dumps(bill("pandas")) == json.dumps(bill("pandas"))


def test_markers_and_extras_decide_what_is_a_material():
    assert "numpy" in needed("pandas")
    assert "pytest" not in needed("pandas")
    with pytest.raises(PackageNotFoundError):
        needed("no-such-distribution-here")
