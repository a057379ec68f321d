"""Systems of other packages: listed without their code, loaded by name, marked as theirs, never in place of ours."""

import json
import sys
import textwrap

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import MethodError
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.systems import registry
from tests.commands.small import SCHEMA, write_table

SYSTEM = """
from typing import Any

import numpy as np

from dpsyn_core.systems.base import Guarantee
from dpsyn_core.systems.independent import IndependentConfig


class UniformConfig(IndependentConfig):
    summary = "As independent; of another package."
    guarantee = Guarantee(text="(epsilon, delta)-DP by exact Gaussian accounting; epsilon-DP at delta 0")
"""


def install(
    folder, name="dpsyn-uniform", module="their_uniform", code=SYSTEM, declared=("uniform = {m}:UniformConfig",)
):
    """An installed distribution: a module, and the metadata that an installer writes."""
    (folder / f"{module}.py").write_text(textwrap.dedent(code))
    info = folder / f"{name.replace('-', '_')}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    lines = [line.format(m=module) for line in declared]
    (info / "entry_points.txt").write_text("\n".join(["[dpsyn.systems]", *lines, ""]))


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of packages on the path; what they import is forgotten afterwards."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    yield folder
    for name in [n for n in sys.modules if n.startswith("their_")]:
        del sys.modules[name]


def test_a_system_of_another_package_is_listed_as_theirs_and_not_imported(site, capsys):
    install(site)
    assert registry.others() == {"uniform": ("dpsyn-uniform", "1.2")}
    assert "uniform" not in registry.names()
    assert main(["methods"]) == 0
    said = capsys.readouterr().out
    assert "uniform (not one of ours)" in said and "dpsyn-uniform 1.2" in said
    assert main(["methods", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {"name": "uniform", "package": "dpsyn-uniform", "version": "1.2"} in listed
    assert "their_uniform" not in sys.modules


def test_it_runs_by_its_name_and_the_manifest_says_whose_it_is(site, tmp_path, capsys):
    install(site)
    write_table(tmp_path / "people.csv")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    words = ["--schema", str(tmp_path / "schema.json"), "--epsilon", "1", "--delta", "1e-9", "--method", "uniform"]
    assert main(["synth", str(tmp_path / "people.csv"), *words, "-o", str(tmp_path / "o.csv"), "--quiet"]) == 0
    assert "dpsyn-uniform 1.2 and not one of ours" in capsys.readouterr().err
    manifest = Manifest.load(tmp_path / "o.manifest.json")
    assert manifest.method == "uniform" and manifest.versions["dpsyn-uniform"] == "1.2"
    assert "dpsyn-uniform 1.2" in manifest.certificate()
    assert main(["verify", str(tmp_path / "o.csv"), "--schema", str(tmp_path / "schema.json")]) == 0


def test_no_plugin_takes_the_place_of_a_built_in_system(site):
    taken = "from dpsyn_core.systems.registry import register\n@register('rls')\nclass"
    both = ("rls = {m}:UniformConfig", "uniform = {m}:UniformConfig")
    install(site, code=SYSTEM.replace("class", taken), declared=both)
    ours = registry.config_class("rls")
    assert ours.__module__.startswith("dpsyn_core.") and "rls" not in registry.others()
    with pytest.raises(MethodError, match="cannot be loaded"):
        registry.config_class("uniform")
    assert registry.config_class("rls") is ours


@pytest.mark.parametrize(
    ("code", "declared", "why"),
    [
        ("raise RuntimeError('secret')", "uniform = {m}:UniformConfig", r"cannot be loaded \(RuntimeError\)"),
        ("UniformConfig = 3", "uniform = {m}:UniformConfig", "is no MethodConfig"),
        (SYSTEM, "uniform = {m}:Nothing", r"cannot be loaded \(AttributeError\)"),
        (SYSTEM, "Not A Name = {m}:UniformConfig", "unknown method 'uniform'"),
    ],
)
def test_what_is_no_system_is_refused_in_a_sentence(site, code, declared, why):
    install(site, code=code, declared=(declared,))
    with pytest.raises(MethodError, match=why):
        registry.config_class("uniform")


def test_a_name_that_two_packages_declare_is_refused(site):
    install(site)
    install(site, name="dpsyn-other", module="their_other")
    with pytest.raises(MethodError, match="dpsyn-other, dpsyn-uniform"):
        registry.config_class("uniform")
