"""Small multiples: every column and value is there, nothing is drawn as markup, and documents ask for no network."""

import json
from dataclasses import replace

import numpy as np
import pytest
from jsonschema.exceptions import ValidationError

from dpsyn_core.errors import TableError
from dpsyn_core.evaluate.base import compute
from dpsyn_core.report import build
from dpsyn_core.report.figures.overview import CHOSEN, COLUMNS, MOST, PANELS, Panel, glance
from dpsyn_core.report.figures.systems import Measure, systems_chart
from dpsyn_core.report.theme import DARK, LIGHT
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.schema.sample import sample_schema, sample_table
from dpsyn_core.tables.read import read_table
from tests.evaluate.tables import small

HOSTILE = "datum['x'] <b> \" ' {{x}}"


def panels(count, **change):
    half = np.array([0.5, 0.5])
    return [
        Panel(
            name=f"c{i}", labels=["yes", "no"], shares={"real": half, HOSTILE: half}, difference=1 / (i + 1), **change
        )
        for i in range(count)
    ]


def addresses(node):
    if isinstance(node, dict):
        for key, value in node.items():
            yield from ([value] if key in {"url", "href"} else [])
            yield from addresses(value)
    elif isinstance(node, list):
        for value in node:
            yield from addresses(value)


def strings(node):
    if isinstance(node, dict):
        for value in node.values():
            yield from strings(value)
    elif isinstance(node, list):
        for value in node:
            yield from strings(value)
    elif isinstance(node, str):
        yield node


def test_every_column_and_value_of_every_table_is_in_the_document():
    document = glance(panels(30), palette=DARK)
    rows = document["datasets"][PANELS]
    assert len(rows) == 30 * 2 * 2
    assert {r["column"] for r in rows} == {f"c{i}" for i in range(30)}
    assert [r["column"] for r in document["datasets"][COLUMNS]][:2] == ["c0", "c1"]
    assert sum(r["share"] for r in rows) == pytest.approx(60)
    json.dumps(document)


@pytest.mark.parametrize("change", [{}, {"selects": False}, {"across": 2}])
@pytest.mark.parametrize("differing", [True, False])
def test_altair_finds_no_fault_in_a_document_that_is_made_without_its_checks(differing, change):
    import altair as alt

    shown = panels(30) if differing else [replace(p, difference=None) for p in panels(30)]
    document = glance(shown, **change)
    document["datasets"] = {}  # of any kind; each of their values would be checked
    alt.Chart.from_dict(document, validate=True)
    with pytest.raises(ValidationError, match="is not of type 'number'"):
        alt.Chart.from_dict(document | {"columns": "two"}, validate=True)


def test_the_brush_covers_the_first_columns_of_a_wide_table_and_none_of_a_narrow_one():
    def brush(document):
        return next(p for p in document["params"] if p["name"] == "brush")

    assert brush(glance(panels(MOST + 1)))["value"] == {"x": [-0.5, MOST - 0.5]}
    assert "value" not in brush(glance(panels(MOST)))
    assert any(p["name"] == CHOSEN for p in glance(panels(3))["params"])
    assert not any(p["name"] == CHOSEN for p in glance(panels(3), selects=False)["params"])


def test_names_stand_in_the_data_and_never_in_an_expression():
    hostile = [Panel(name=HOSTILE, labels=[HOSTILE, "b"], shares={"real": np.array([1.0, 0])}, difference=0.2)]
    document = glance(hostile)
    data = document.pop("datasets")
    assert data[PANELS][0]["column"] == HOSTILE
    assert not any("<b>" in s or "{{x}}" in s for s in strings(document))


def test_no_document_asks_for_another_address():
    measures = [Measure(name="pairs", values={"rls": 0.1, "independent": 0.3}, mark=0.02, format="~%")]
    for document in (glance(panels(3)), systems_chart(measures)):
        document.pop("$schema")  # a name, not an address that is read
        assert not list(addresses(document))


def test_columns_are_sorted_by_difference_and_hold_the_shares_of_both_tables():
    c = small(n=400, m=500, blur=0.2)
    differing = build.differences([compute(c, ["tvd-1way"])["tvd-1way"]])
    made = build.panels({"one": c}, differing)
    assert [p.difference for p in made] == sorted((p.difference for p in made), reverse=True)
    for p in made:
        real, synthetic = p.shares["real"], p.shares["one"]
        assert real.sum() == pytest.approx(1) and synthetic.sum() == pytest.approx(1)
        assert np.abs(real - synthetic).sum() / 2 == pytest.approx(p.difference)


def test_a_profile_counts_every_record_once_by_the_schema():
    schema, table = sample_schema(), sample_table().slice(0, 500)
    made = {p.name: p for p in build.profile(schema, table)}
    assert list(made) == [a.name for a in schema.coded]
    women = sum(v == "Female" for v in table.column("SEX").to_pylist())
    sex = dict(zip(made["SEX"].labels, made["SEX"].shares[""], strict=True))
    assert sex["Female"] == pytest.approx(women / 500)
    for p in made.values():
        assert p.shares[""].sum() == pytest.approx(1)
        assert len(p.labels) <= 20
    assert "params" not in glance(list(made.values()), selects=False)


def test_a_profile_of_a_table_that_its_schema_does_not_describe_is_refused_in_a_sentence():
    document = {"attributes": [{"name": "SEX", "kind": "categorical", "values": ["x"], "source": "public"}]}
    schema = Schema.of({"version": 1, "name": "other", **document})
    with pytest.raises(TableError, match="SEX"):
        build.profile(schema, sample_table())


@pytest.mark.parametrize("lines", [b"NA,f\n", b"3,f,1\n"])
def test_a_profile_shows_what_was_drafted_beside_words_for_no_answer_and_lines_that_could_not_be_read(lines):
    table = read_table(b"score,sex\n" + b"1,m\n2,f\n" * 20 + lines * 10)
    score = build.profile(draft(table, "t"), table)[0]
    assert score.shares[""].tolist() == [0.4, 0.4, 0.2]


def test_systems_are_in_one_order_in_all_figures_and_marks_lie_inside():
    measures = [
        Measure(name="pairs", values={"b": 0.3, "a": 0.1}, mark=0.4),
        Measure(name="gap", values={"b": -5.0, "a": 20.0}, mark=10.0),
    ]
    document = systems_chart(measures, palette=LIGHT, across=1)
    for part, (low, high) in zip(document["concat"], ((0, 0.4), (-5, 20)), strict=True):
        dots = next(layer["encoding"] for layer in part["layer"] if "size" in layer["encoding"])
        assert dots["y"]["sort"] == ["a", "b"]
        domain = dots["x"]["scale"]["domain"]
        assert domain[0] <= low and domain[1] > high
    assert document["columns"] == 1
    assert len(document["datasets"]["systems"]) == 4


def test_what_is_kept_of_a_figure_has_the_names_and_shares_of_no_other_one():
    def drawn(*tables):
        shares = {name: np.array([0.1 * k, 1 - 0.1 * k]) for k, name in enumerate(tables)}
        return glance([Panel(name="town", labels=["a", "b"], shares=shares, difference=0.1)])

    for tables in (("real", "mine"), ("real", 'the "other"\n@table0'), ("@table1", "@table0")):
        document = drawn(*tables)
        assert [t for t in ("mine", "other") if t in json.dumps(document)] == [
            t for t in ("mine", "other") if t in str(tables)
        ]
        scales = [e["scale"]["domain"] for e in colours_of(document) if "domain" in e.get("scale", {})]
        assert scales and all(tuple(s) == tables for s in scales)
        document.clear()
    assert drawn("real", "mine")["datasets"][PANELS][2]["share"] == 0.1


def colours_of(node):
    """All encodings of colour below a node of a document."""
    if isinstance(node, dict):
        yield from ([node["color"]] if isinstance(node.get("color"), dict) else [])
        for inner in node.values():
            yield from colours_of(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from colours_of(inner)
