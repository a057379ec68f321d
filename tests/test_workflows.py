"""The workflows: files that parse, least rights, a release without a stored token, commands and Pythons that exist."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from dpsyn_core import __version__
from tests.test_site import runner
from tools.dev import TARGETS

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
RIGHTS = {  # that a job may have beyond reading the repository, by file and job, and why there
    ("docs.yml", "publish"): {"id-token", "pages"},
    ("image.yml", "build"): {"packages"},
    ("release.yml", "publish"): {"id-token"},
}


def read(path):
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    document["on"] = document.pop(True)  # YAML 1.1 reads the word `on` as a truth
    return document


def steps():
    return [
        (path.name, name, step)
        for path in FILES
        for name, job in read(path)["jobs"].items()
        for step in job.get("steps", [])
    ]


def test_there_are_tests_wheel_docs_release_and_image():
    assert [p.stem for p in FILES] == ["docs", "image", "package", "release", "tests"]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_a_workflow_has_what_a_runner_needs_and_no_right_beyond_its_task(path):
    document = read(path)
    assert set(document) - {"concurrency"} == {"name", "on", "permissions", "jobs"}
    assert document["permissions"] == {"contents": "read"}
    for name, job in document["jobs"].items():
        assert ("uses" in job) != ("runs-on" in job and bool(job.get("steps")))
        given = {right for right, level in job.get("permissions", {}).items() if level == "write"}
        assert given == RIGHTS.get((path.name, name), set())
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(document["jobs"])
        if "uses" in job:
            assert (ROOT / job["uses"]).exists()
    for _, _, step in [s for s in steps() if s[0] == path.name]:
        assert ("uses" in step) != ("run" in step)
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"]), "a tag can be moved: name the commit"
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
    named = re.findall(r"uses: (?!\./)(.*)", path.read_text(encoding="utf-8"))
    assert all(re.fullmatch(r"\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line) for line in named)  # what the commit was called


def test_a_contributor_waits_for_three_systems_in_three_parts_and_for_one_check():
    document = read(ROOT / ".github" / "workflows" / "tests.yml")
    matrix = document["jobs"]["quick"]["strategy"]["matrix"]
    assert [name.split("-")[0] for name in matrix["system"]] == ["ubuntu", "windows", "macos"]
    assert matrix["shard"] == ["1/3", "2/3", "3/3"] and document["concurrency"]["cancel-in-progress"]
    for left in matrix["exclude"]:
        assert left["system"] != "ubuntu-24.04" and left["python"] in matrix["python"][1:-1]
    waited = {name: job for name, job in document["jobs"].items() if job.get("if") != "github.event_name == 'push'"}
    assert set(waited) == {"check", "quick"} and all(job["timeout-minutes"] <= 12 for job in waited.values())
    for _, name, step in [s for s in steps() if s[0] == "tests.yml" and s[1] in waited]:
        assert "setup-python" not in step.get("uses", "") or step["with"]["cache"] == "pip", name


def test_the_tests_run_on_all_pythons_that_the_package_takes():
    for file, job in (("tests.yml", "quick"), ("package.yml", "try")):
        pythons = read(ROOT / ".github" / "workflows" / file)["jobs"][job]["strategy"]["matrix"]["python"]
        assert len(pythons) == 4 and all(isinstance(p, str) for p in pythons)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == f">={pythons[0]}"
    said = [c.rsplit(" ", 1)[1] for c in project["classifiers"] if c.startswith("Programming Language :: Python :: 3.")]
    assert said == pythons  # the wheel is tried on each of them


def test_commands_of_the_workflows_exist():
    used_by_ci = (ROOT / ".ci" / "run").read_text("utf-8")
    assert any(step.get("run") == "bash .ci/run" for _, _, step in steps())
    targets = set(TARGETS)
    lines = [used_by_ci, *(step.get("run", "") for _, _, step in steps())]
    named = {m for line in lines for m in re.findall(r"^(?:make|python -m tools.dev) ([\w-]+)", line, re.MULTILINE)}
    assert {"check", "test", "test-all", "dist", "docs"} <= named <= targets
    commands = {p.stem for p in (ROOT / "dpsyn_core" / "commands").glob("*.py")}
    used = {m for _, _, step in steps() for m in re.findall(r"\bdpsyn ([a-z]+)", step.get("run", ""))}
    assert used and used <= commands


def test_the_job_that_runs_everything_installs_what_the_guide_says_that_all_tests_need():
    needed = re.search(r"make test-all.*\(needs Debian's ([^)]+)\)", (ROOT / "CONTRIBUTING.md").read_text("utf-8"))[1]
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    installed = re.search(r"apt-get install [^\n]*\\\n(.*)\n", script)[1].split()
    assert set(needed.split(", ")) <= set(installed)
    assert {"make", "python3-venv", "fonts-liberation"} <= set(installed)


def test_a_release_follows_a_tag_of_this_version_and_stores_no_token():
    release = read(ROOT / ".github" / "workflows" / "release.yml")
    assert set(release["on"]) == {"push"} and set(release["on"]["push"]) == {"tags"}
    assert "secrets" not in (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    check = release["jobs"]["tag"]["steps"][1]["run"]
    pattern = re.search(r"s/(.*)/\\1/p", check)[1].replace("\\(", "(").replace("\\)", ")")
    text = (ROOT / "dpsyn_core" / "version.py").read_text("utf-8")
    assert re.search(pattern, text, re.MULTILINE)[1] == __version__
    assert release["jobs"]["publish"]["environment"] == "release"


@pytest.mark.parametrize(("tag", "status"), [(f"v{__version__}", 0), ("v0.9.9", 1), (f"x{__version__}", 1)])
def test_the_step_that_holds_a_tag_against_the_version_runs(tag, status):
    line = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]["tag"]["steps"][1]["run"]
    assert (
        subprocess.run(
            ["bash", "-e", "-c", line], cwd=ROOT, env=os.environ | {"GITHUB_REF_NAME": tag}, check=False
        ).returncode
        == status
    )


@pytest.mark.parametrize("ref", ["main", "12/merge", f"v{__version__}"])
def test_the_steps_of_the_image_run_and_every_name_is_one_that_docker_takes(ref, tmp_path):
    """With a stand-in for docker; tools/image.sh itself builds and tries the image without one as well."""
    docker = tmp_path / "docker"
    docker.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/said\ncase "$*" in *touch*) exit 1;; login*) cat;; *) echo 1000;; esac\n',
        encoding="utf-8",
    )
    docker.chmod(0o755)
    env = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "GITHUB_REF_NAME": ref, "GITHUB_ACTOR": "somebody"}
    env |= {"GITHUB_REPOSITORY": "Some-Body/DPSyn", "GITHUB_REPOSITORY_OWNER": "Some-Body", "TOKEN": "secret"}
    for step in read(ROOT / ".github" / "workflows" / "image.yml")["jobs"]["build"]["steps"]:
        if "run" in step and ("if" not in step or ref.startswith("v")):
            subprocess.run(["bash", "-e", "-c", step["run"]], cwd=ROOT, env=env, check=True)
    said = (tmp_path / "said").read_text("utf-8")
    assert "secret" not in said
    places = re.findall(r"^(?:build --tag (\S+)|tag \S+ (\S+)|push (\S+))", said, re.MULTILINE)
    names = ["".join(found) for found in places]
    part = r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*"
    assert names and all(
        re.fullmatch(rf"(?:[a-z0-9.]+/)?{part}(?:/{part})*(?::[\w][\w.-]{{0,127}})?", n) for n in names
    ), names
    assert ("push" in said) == ref.startswith("v")


@pytest.mark.slow
def test_the_steps_that_try_the_wheel_run(tmp_path):
    lines = [step["run"] for _, job, step in steps() if job == "try" and step.get("run", "").startswith("dpsyn ")]
    assert len(lines) == 2
    run = runner(tmp_path)
    for line in lines:
        run(line)
