"""Documents that come from outside: an example of each, how the program opens it, and what it then writes of it.

`tests/test_outside_documents.py` sets every field of every example to hostile words. A model that can stand in a
document and is in none of the examples fails there.
"""

import functools
import gzip
import hashlib
import io
import json
import tempfile
import zipfile
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pyarrow.parquet as pq

from dpsyn_core.commands.refit import _rules
from dpsyn_core.estimate.marginals.released_file import read_released
from dpsyn_core.files import home
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.manifest.certificates import certificate, citation
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.manifest.statement import HangingTable, guarantee
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.questions.document import Questions
from dpsyn_core.report.publishing.nist import nist_page
from dpsyn_core.report.publishing.registry import CURATORS, Person, entry, file_name, to_yaml
from dpsyn_core.report.takeaways import bibtex, linked_script, notebook, python_script
from dpsyn_core.runs.jobs.folder import MANIFEST, MEASUREMENTS
from dpsyn_core.runs.jobs.spec import FinishedRun
from dpsyn_core.runs.notebook import as_html
from dpsyn_core.runs.release_file import Index, load_release
from dpsyn_core.runs.settings_file import RunSettings
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.trees.export import places_of, statements
from dpsyn_core.schema.code_lists import list_of
from dpsyn_core.schema.document import Schema, TableSchema
from dpsyn_core.schema.importers.formats import FORMATS, export, read_schema
from dpsyn_core.schema.linked import LinkedSchema
from tests.app.brought import JOB, packed, released
from tests.app.test_jobs import TABLE
from ui.data.projects import Project, open_project
from ui.export import files
from ui.schema import codelists
from ui.schema.files import read as read_parameters
from ui.shared.state import Workspace, jobs

WHERE = "age in [0, 15]"


def num(name, low, high, **more):
    return {"name": name, "kind": "numeric", "dtype": "integer", "min": low, "max": high, "bins": {"count": 4}} | more


def cat(name, *values):
    return {"name": name, "kind": "categorical", "values": list(values)}


def date(name):
    return {"name": name, "kind": "datetime", "min": "2020-01-01", "max": "2020-12-31", "bins": {"every": "month"}}


COLUMNS = [
    num("age", 0, 99, label="Age", description="in years", notes={"from": "a codebook"}),
    num("edged", 0, 99, bins={"edges": [0, 10, 50, 99]}, special_values=[-1]), cat("town", "a", "b"),
    cat("land", "x", "y"),
    date("in"), date("out"), num("days", 0, 365), num("net", 0, 50), num("tax", 0, 50), num("gross", 0, 100),
    num("ratio", 0, 60), {"name": "region", "kind": "derived", "from": "town", "map": [["a", "N"], ["b", "S"]]},
    {"name": "who", "kind": "identifier"}, {"name": "memo", "kind": "ignored"},
]  # fmt: skip
BOUGHT = {
    "name": "range", "mechanism": "gaussian", "sensitivity": 1.0, "scale": 9.0, "cells": 1, "rho": 0.1,
    "unit": {"neighbours": "add-remove", "identifier": "who", "max_records": 1},
}  # fmt: skip
SCHEMA_EXAMPLE = {
    "version": 1, "name": "t", "dataset": "t", "unit": {"identifier": "who", "max_records": 1, "source": "public"},
    "attributes": COLUMNS, "bought": [BOUGHT], "notes": {"made": "by hand"},
    "rules": [
        {"kind": "order", "lower": "in", "upper": "out"},
        {"kind": "difference", "column": "days", "of": "out", "minus": "in"},
        {"kind": "impossible", "where": "age in [0, 15] and town = b"},
        {"kind": "blank", "column": "edged", "where": WHERE, "value": -1},
        {"kind": "follows", "column": "land", "of": ["town"], "map": [["a", "x"], ["b", "y"]]},
        {"kind": "sum", "column": "gross", "parts": ["net", "tax"]},
        {"kind": "ratio", "column": "ratio", "of": "net", "by": ["tax"]},
        {"kind": "unique", "together": ["age", "town"]},
    ],
}  # fmt: skip
QUESTIONS = [
    {"name": "table", "kind": "table", "of": ["age", "town"], "bins": {"age": {"width": 10}}},
    {"name": "counted", "kind": "table", "of": ["age"], "bins": {"age": {"count": 2}}},
    {"name": "edged", "kind": "mean", "of": "net", "by": ["age"], "bins": {"age": {"edges": [0, 50]}}},
    {"name": "grouped", "kind": "table", "of": ["town"], "bins": {"town": {"groups": [["a"], ["b"]]}}},
    {"name": "dated", "kind": "table", "of": ["in"], "bins": {"in": {"every": "quarter"}}},
    {"name": "sum", "kind": "sum", "of": "net", "by": ["town"]},
    {"name": "quantile", "kind": "quantile", "of": "net", "at": [0.5], "by": ["town"]},
    {"name": "gini", "kind": "gini", "of": "net"},
    {"name": "gap", "kind": "gap", "of": "net", "between": {"town": ["a", "b"]}},
    {"name": "range", "kind": "range", "where": WHERE},
    {"name": "predict", "kind": "predict", "of": "town", "predictors": ["age"]},
    {"name": "regress", "kind": "regression", "of": "net", "on": ["age"], "model": "linear"},
]
HOUSEHOLDS = {"name": "households", "key": "id", "schema": {
    "version": 1, "name": "h", "attributes": [num("rooms", 1, 9)]}}  # fmt: skip
PERSONS = {"name": "persons", "key": None, "schema": {k: v for k, v in SCHEMA_EXAMPLE.items() if k != "bought"} | {
    "rules": SCHEMA_EXAMPLE["rules"][:-1], "dataset": None, "unit": {},
    "attributes": [*COLUMNS, cat("role", "Head", "Child")]}}  # fmt: skip
VISITS = {
    "name": "visits",
    "key": None,
    "schema": {"version": 1, "name": "v", "attributes": [num("year", 2000, 2020, bins={"count": 2})]},
}
LINKED = {
    "version": 2, "name": "home", "dataset": "home", "unit": {"neighbours": "add-remove", "source": "public"},
    "tables": [HOUSEHOLDS, PERSONS, VISITS],
    "links": [
        {
            "parent": "households", "child": "persons", "key": "hid", "max_children": 5,
            "roles": {"column": "role", "single": ["Head"]},
            "rules": [
                {"kind": "order", "lower": "age", "upper": "Head.age", "where": "role = Child"},
                {"kind": "count", "where": "role = Head", "least": 0, "most": 1},
            ],
        },
        {"parent": "households", "child": "visits", "key": "hid", "max_children": 3, "order": "year", "distinct": True},
    ],
}  # fmt: skip
LINKED_QUESTIONS = {
    "version": 1,
    "questions": [],
    "across": [
        {"about": "households", "counts": {"kids": {"of": "persons", "where": "role = Child"}}, "at_most": 2,
         "ask": {"name": "q", "kind": "mean", "of": "kids"}},
        *({"about": "persons", "ask": q} for q in QUESTIONS if q["kind"] not in ("predict", "regression")),
    ],
}  # fmt: skip
ZERO = "0" * 64
PANEL = {
    "version": 2, "name": "panel", "one_file": True, "tables": [HOUSEHOLDS, VISITS], "links": LINKED["links"][1:]
}  # fmt: skip
SPEC = RunSpec(epsilon=1.0, delta=1e-9, method="independent", seed=1)


@functools.cache
def manifest():
    """The manifest of a run with what any may state beside; its digests are made up."""
    made = json.loads(released()[MANIFEST])
    told = Questions.of(QUESTIONS[:1])
    each = {"content": ZERO, "files": {"csv": ZERO}}
    stated = guarantee(
        Budget(epsilon=made["epsilon"], delta=made["delta"]), Unit(neighbours=made["neighbours"]),
        hanging=[HangingTable(table="persons", max_children=3)],
    )  # fmt: skip
    return made | {
        "guarantee": stated, "query": "owner's word",
        "questions": {"sha256": told.digest, "share": 0.1, "document": told.document()},
        "public_table": {
            "name": "last.csv", "sha256": ZERO, "n_records": 9, "columns": ["a"], "vouched": "owner's word"},
        "hanging": [{"table": "persons", "max_children": 3}],
        "rules": [{"table": None, "rule": "b is blank where a = x", "vouched": "owner's word"}],
        "refit": {"release": ZERO, "by": None, "method": "rls", "settings": {}, "where": "a = x", "columns": ["a"],
                  "rules": [{"kind": "impossible", "where": "a = x"}]},
        "digests": made["digests"] | {
            "tables": [each], "parts": [{"name": "part-0.parquet", "n_records": 1, "content": ZERO, "file": ZERO}]},
        "signature": {"algorithm": "ed25519", "key": ZERO, "value": ZERO * 2},
    }  # fmt: skip


@functools.cache
def measured():
    return json.loads(gzip.decompress(released()[MEASUREMENTS]))


def project():
    asked = {"version": 1, "questions": []}
    spec = {k: v for k, v in JOB.items() if k in FinishedRun.model_fields}
    spec |= {"refit": False, "maker": "rls", "where": "a = x", "columns": ["a"], "questions": asked, "settings": {},
             "rules": [{"kind": "impossible", "where": "a = x"}], "n_records": 9, "questions_share": 0.1}  # fmt: skip
    note = {"spec": spec, "label": "a run", "created": 1.0, "salt": "00", "table": "", "own": False}
    return {"version": 3, "dataset": "toy.csv", "ledger": "toy", "settings": {"mst": {}}, "runs": [note]}


def project_of_version_2():
    note = {"spec": JOB | {"release": "release.dpsyn", "public_table": "public-x.csv"}, "label": "a run"}
    return {"version": 2, "dataset": "t", "ledger": "t", "runs": [note | {"created": 1.0, "table": "", "own": True}]}


# ---- how each is opened, and everything that is then written of it


def open_as_project(document):
    space = Workspace(f"somebody {open_as_project.count}")
    open_as_project.count += 1
    said = [open_project(space, packed(document, whole=True))]
    for job in jobs().of(space.owner):
        made = files.scripts(space, job) | {"name": files.stem(space, job), "certificate": files.certificate(job)}
        said += [made, files.schema_text(space, job), files.manifest_text(space, job), job.spec.model_dump_json()]
        said += [(job.folder / "job.json").read_text("utf-8")]
        said += [str(files.release(space, job))] if files.reusable(job) else []
    for job in jobs().of(space.owner):
        jobs().remove(job.id, space.owner)
    return said


open_as_project.count = 0


def open_as_schema(document):
    found = Schema.loads(json.dumps(document))
    return [found.dumps(), *(export(found, form)[0].decode() for form in FORMATS)]


def open_as_linked(document):
    found = LinkedSchema.loads(json.dumps(document))
    out = home() / "out"
    places = places_of(out, found)
    assert all(out.resolve() in p.resolve().parents for p in places.outs), places.outs
    tables = {t.name: TABLE for t in found.tables}
    return [found.dumps(), *statements(tables, found), linked_script(SPEC, found, "a run", "out", query_vouched=True)]


def open_as_questions(document):
    found = Questions.loads(json.dumps(document))
    return [found.checked(Schema.of(SCHEMA_EXAMPLE)).dumps()]


def open_as_linked_questions(document):
    return [str(Questions.loads(json.dumps(document).encode()).document())]


def open_as_settings(document):
    found = RunSettings.loads(json.dumps(document))
    made = [write(found.run, "a run", "out", query_vouched=True) for write in (python_script, notebook)]
    return [found.dumps(), found.file_name, made]


def open_as_manifest(document):
    found = Manifest.parse(json.dumps(document).encode(), "m.json")[0]
    person = Person(
        curator="us", kind=CURATORS[0], use="research", region="x", author="a", published="2030-01-01", sector=None
    )
    pages, yaml = {"page.html": as_html(found, TABLE, ())}, to_yaml(entry(found, person))
    name = file_name(found)
    assert Path(name).name == name and not name.startswith(".")
    return [certificate(found), citation(found, 2030), bibtex(found, 2030), nist_page(found), name, yaml, pages]


def open_as_release(document):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name in (MANIFEST, MEASUREMENTS):
            archive.writestr(name, released()[name])
        archive.writestr("release.json", json.dumps(document))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.dpsyn"
        path.write_bytes(out.getvalue())
        found = load_release(path)
    return [str(found.columns), found.manifest.to_json()]


def open_as_measurements(document):
    found = read_released(gzip.compress(json.dumps(document).encode(), 1), "m.json.gz")
    return [found.schema.dumps(), str([m.attributes for m in found.measurements])]


def open_as_rules(document):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.json"
        path.write_text(json.dumps(document), "utf-8")
        listed = _rules(path)
    return [Schema.of(SCHEMA_EXAMPLE | {"rules": list(listed)}).dumps()]


def open_as_codes(document):
    return [str(codelists.read(json.dumps(document).encode(), "codes.json"))]


def open_as_list(document):
    """As the first column of a file with one value a line."""
    return list(list_of("\n".join(json.dumps(v, ensure_ascii=False) for v in document).encode(), "values.txt").values)


def open_as_codebook(raw):
    text = raw if isinstance(raw, bytes) else json.dumps(raw).encode()
    onto = Schema.of(SCHEMA_EXAMPLE) if b"METADATA_SPEC_VERSION" in text else None
    found = read_schema(text, name="t", what="a file", onto=onto)
    return [] if found is None else [found.dumps()]


@functools.cache
def slots():
    """Every text and attribute of a DDI codebook: its element's number, and the name of the attribute or nothing."""
    found = {}
    for number, element in enumerate(ElementTree.fromstring(codebook("ddi")).iter()):
        found |= {(number, ""): element.text or ""} | {(number, k): v for k, v in element.attrib.items()}
    return found


def open_as_ddi(document):
    root = ElementTree.fromstring(codebook("ddi"))
    listed = list(root.iter())
    for (number, key), value in zip(slots(), document.values(), strict=True):
        if key:
            listed[number].set(key, value)
        else:
            listed[number].text = value
    return open_as_codebook(ElementTree.tostring(root))


def open_as_parameters(document):
    return [read_parameters([json.dumps(document).encode()], name="t").dumps()]


def codebook(form):
    """An export of the example in one of the JSON formats."""
    plain = Schema.of({k: v for k, v in SCHEMA_EXAMPLE.items() if k not in ("rules", "bought")})
    return export(plain, form)[0]


def settings():
    schema = {k: v for k, v in SCHEMA_EXAMPLE.items() if k != "bought"}
    run = SPEC.model_dump(mode="json", exclude={"query_vouched", "public_table"})
    run |= {
        "method": "rls", "settings": {}, "n_records": 9, "dataset": "t",
        "questions": {"version": 1, "questions": QUESTIONS[:1]},
        "questions_share": 0.1,
    }  # fmt: skip
    return {"kind": "dpsyn-settings", "version": 1, "schema": schema, "run": run}


def index():
    parts = {n: hashlib.sha256(released()[n]).hexdigest() for n in (MANIFEST, MEASUREMENTS)}
    return {"version": 1, "columns": ["a", "b"], "sha256": parts}


PARAMETERS = {
    "schema": {
        "AGE": {"dtype": "uint8", "kind": "numeric", "min": 0, "max": 99, "bins": [0, 20, 50]},
        "SEX": {"dtype": "str", "kind": "categorical", "values": ["F", "M"]},
    }
}
# name: the example, how it is opened, and its model where it has one
DOCUMENTS = {
    "project": SimpleNamespace(example=project, opens=open_as_project, model=Project),
    "project of version 2": SimpleNamespace(example=project_of_version_2, opens=open_as_project, model=None),
    "settings file": SimpleNamespace(example=settings, opens=open_as_settings, model=None),
    "schema": SimpleNamespace(example=lambda: SCHEMA_EXAMPLE, opens=open_as_schema, model=TableSchema),
    "linked schema": SimpleNamespace(example=lambda: LINKED, opens=open_as_linked, model=LinkedSchema),
    "linked schema of one file": SimpleNamespace(example=lambda: PANEL, opens=open_as_linked, model=None),
    "questions": SimpleNamespace(
        example=lambda: {"version": 1, "questions": QUESTIONS}, opens=open_as_questions, model=Questions
    ),
    "linked questions": SimpleNamespace(
        example=lambda: LINKED_QUESTIONS, opens=open_as_linked_questions, model=Questions
    ),
    "manifest": SimpleNamespace(example=manifest, opens=open_as_manifest, model=Manifest),
    "release file": SimpleNamespace(example=index, opens=open_as_release, model=Index),
    "measurements": SimpleNamespace(example=measured, opens=open_as_measurements, model=None),
    "rules of a refit": SimpleNamespace(example=lambda: SCHEMA_EXAMPLE["rules"], opens=open_as_rules, model=None),
    "code list": SimpleNamespace(
        example=lambda: {"SEX": {"1": "Male", "2": "Female"}}, opens=open_as_codes, model=None
    ),
    "public list": SimpleNamespace(example=lambda: ["north", "south"], opens=open_as_list, model=None),
    "codebook ddi": SimpleNamespace(
        example=lambda: {f"slot {i}": value for i, value in enumerate(slots().values())}, opens=open_as_ddi, model=None
    ),
    "parameters": SimpleNamespace(example=lambda: PARAMETERS, opens=open_as_parameters, model=None),
} | {
    f"codebook {form}": SimpleNamespace(
        example=functools.partial(lambda f: json.loads(codebook(f)), form), opens=open_as_codebook, model=None
    )
    for form in FORMATS
    if form != "ddi"
}  # fmt: skip
# where the app takes a file or a link, by the key of the field: what may come there
UPLOADS = {
    "project_open": "project", "schema_upload": "schema", "plan_schema": "schema", "refit_file": "release file",
    "reader_files": "manifest", "questions_upload": "questions",
    "labels_file": "code list", "follows_file": "code list", "list_file_": "public list",
    "upload": "a table", "public_table": "a table", "public_file": "a table", "linked_upload": "tables",
    "settings_file": "settings file",
}  # fmt: skip


def read_table(_name, raw):
    """A table of an upload without its child process."""
    return pq.read_table(io.BytesIO(raw))
