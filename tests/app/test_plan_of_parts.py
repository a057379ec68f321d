"""The plan on the page names the part of a design that a step belongs to."""

from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.dry_run import plan
from ui.privacy.plan import label
from ui.shared.text import LANGUAGE

PARTS = [["a", "b"], ["c", "d", "e", "f", "g"]]


def made(**design):
    task = Task(domain=Domain.of(dict.fromkeys("abcdefg", 2)), unit=Unit(), budget=Budget(epsilon=1, delta=1e-9))
    return plan("dpsyn-2018", {"design": {"parts": PARTS, **design}}, task)


def test_a_step_inside_a_part_names_its_columns(monkeypatch):
    found = made()
    assert [label(s) for s in found.steps] == [
        "single columns", "pairs and triples inside a, b", "pairs and triples inside c, d, e, f and 1 more"
    ]  # fmt: skip
    monkeypatch.setenv(LANGUAGE, "de")
    assert label(found.steps[2]) == "Paare und Tripel innerhalb von c, d, e, f und 1 weiteren"


def test_a_part_without_a_listed_set_is_named_too():
    found = made(marginals=[{"epsilon": 0, "sets": [["a", "b"]]}])
    assert [label(s) for s in found.steps[1:]] == [
        "combinations listed in the settings inside a, b",
        "combinations listed in the settings inside c, d, e, f and 1 more"
    ]  # fmt: skip
    assert found.steps[2].share == (0.0, 0.0)
