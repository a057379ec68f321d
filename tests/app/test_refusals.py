"""Refusals and settings in the visitor's language: by what the engine still says, with all that it names."""

import ast
import re
import string
from functools import cache
from pathlib import Path

import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.report.translation import NAMED, sentences, translated
from dpsyn_core.systems import registry
from dpsyn_core.systems.settings import fields_of
from dpsyn_core.tables.read import read_table
from tests.app_driver import at_page, words
from ui.shared.text import LANGUAGES

ROOT = Path(__file__).resolve().parents[2]
JOINED = 4  # runs of words that stand in no single literal, where a sentence is put together of two or three
RUN = 3  # words


@cache
def said_by_the_engine():
    """Runs of words of every literal of the engine and the pages, with what is filled in left out."""
    out = set()
    for file in [*(ROOT / "dpsyn_core").rglob("*.py"), *(ROOT / "ui").rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                out |= runs("".join(p.value if isinstance(p, ast.Constant) else "\0" for p in node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                out |= runs(node.value)
    return out | runs((ROOT / "assets" / "text" / "en.toml").read_text("utf-8"))


def runs(text):
    listed = text.replace("\0", " \0 ").split()
    return {tuple(w) for w in zip(*(listed[i:] for i in range(RUN)), strict=False) if not any("\0" in x for x in w)}


def filled(sentence):
    """What a German sentence fills in; braces that stand for themselves are doubled."""
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_refusal_that_is_translated_is_still_said(code):
    gone = []
    for english in (*sentences("refusals", code), *sentences("said", code)):
        missing = runs(NAMED.sub("\0", english)) - said_by_the_engine()
        if len(missing) > JOINED:
            gone.append((english, sorted(missing)[:3]))
    assert not gone


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_translation_fills_in_only_what_the_sentence_names(code):
    for english, here in sentences("refusals", code).items():
        assert all(f"{{{name}}}" in english for name in filled(here)), english


@pytest.mark.parametrize(
    ("name", "raw", "german"),
    [
        ("a.csv", b"", "ist leer (0 Bytes)"),
        ("a.csv", b"\x89PNG\r\n\x1a\n" + b"d" * 99, "die Datei ist ein Bild"),
        ("a.csv", b"<!doctype html><html></html>", "die Datei ist XML oder HTML"),
        ("a.csv", bytes(range(256)) * 9, "binäre Bytes"),
        ("a.csv", b"a,b\n", "keine Datensätze"),
        ("a.xlsx", bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 600, "hat ein Passwort"),
        ("a.parquet", b"PAR1" + b"0" * 99, "die Parquet-Datei ist beschädigt"),
        ("a.json", b'[{"a": 1}]', "die Datei ist JSON"),
        ("a.pdf", b"%PDF-1.4\n%", "die Datei ist ein PDF"),
        ("a.csv", b"a,\n1,2\n", "hat keinen Namen"),
    ],
)
def test_files_that_are_refused_are_refused_in_german(tmp_path, name, raw, german):
    (tmp_path / name).write_bytes(raw)
    try:
        read_table(tmp_path / name)
    except TableError as error:
        here = translated(str(error), "de")
        assert german in here
        assert here != str(error), f"not translated: {error}"


def test_a_german_page_refuses_in_german(app, monkeypatch):
    monkeypatch.setenv("DPSYN_LANGUAGE", "de")
    at_page(app, "plan")
    app.text_area[0].set_value("sex=2, sex=2").run()
    assert "steht zweimal da; geben Sie jeder einen eigenen Namen" in words(app)


# parts of the engine that only visitors' choices make refuse; what others say is added as it is met
WHOLE = (
    "systems/others/dpsyn2018/design.py",
    "systems/others/mst.py",
    "systems/others/priview.py",
    "systems/others/mwem.py",
    "systems/others/aim.py",
    "systems/others/dpsyn.py",
    "systems/others/field_groups.py",
    "systems/others/dirichlet.py",
    "systems/base.py",
    "report/reader.py",
    "measure/discovery.py",
    "schema/rules/formula.py",
    "schema/rules/interval_ends.py",
    "tables/clause.py",
    "schema/rules/registry.py",
    "questions/validity.py",
    "schema/linked.py",
    "runs/refits/subset_schema.py",
    "runs/attacks/attack.py",
    "runs/choose/comparison.py",
)
GERMAN_ONLY_IN_PART = ("only the high bins of a group", "mwem needs the marginal")  # of a file made by another program


def raised_by_the_pages():
    """Sentences that `ui` and WHOLE refuse with: each that is given to `msg`, with {x} for what is filled in.

    The numbers of labs are left out: they raise ValueError, for which the labs have words of their own.
    """
    pages = [p for p in sorted((ROOT / "ui").rglob("*.py")) if "numbers" not in p.parts]
    for file in (*pages, *(ROOT / "dpsyn_core" / name for name in WHOLE)):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "msg":
                parts = node.value.values if isinstance(node.value, ast.JoinedStr) else [node.value]
                said = "".join(str(p.value) if isinstance(p, ast.Constant) else "{x}" for p in parts)
                if re.search(r"\w", said.replace("{x}", "")):
                    yield said


def test_every_refusal_of_the_pages_is_translated():
    missing = [said for said in raised_by_the_pages() if translated(said, "de") == said]
    assert not [said for said in missing if not said.startswith(GERMAN_ONLY_IN_PART)]


def test_a_refusal_inside_another_is_translated_too():
    inside = "the share of the budget for questions is 2; it must lie between 0 and 1"
    said = translated(f"question 'a': {inside}", "de")
    assert said == "Frage „a“: der Anteil des Budgets für Fragen ist 2; er muss zwischen 0 und 1 liegen"


@pytest.mark.parametrize("code", [c for c in LANGUAGES if sentences("settings", c)])
def test_settings_have_names_in_every_language_and_none_is_left_of_one_that_is_gone(code):
    said = set()
    for name in registry.names():
        for field, info in fields_of(registry.config_class(name)).items():
            title = info.title or field.replace("_", " ").capitalize()
            said |= {title, info.description, (info.json_schema_extra or {}).get("unit")}
    assert not {x for x in said if x} - set(sentences("settings", code)), "add these to assets/text/settings.*.toml"
    assert not set(sentences("settings", code)) - said
