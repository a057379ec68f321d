"""A second language: no key is missing, placeholders agree, nothing is clipped, and each visitor reads their own."""

import ast
import re
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dpsyn_core.evaluate import base as metrics
from dpsyn_core.privacy.curves import CURVES
from dpsyn_core.questions.answers.answers import ENGLISH as ANSWERS
from dpsyn_core.schema.misfit import WHERE
from dpsyn_core.systems import registry
from dpsyn_core.systems.deep.system import STAGES
from tests.app_driver import at_page, words
from ui.shared import downloads
from ui.shared import text as spoken
from ui.shared.text import LANGUAGES, catalogue, language, t, written

ROOT = Path(__file__).resolve().parents[2]
OTHERS = [code for code in LANGUAGES if code != "en"]
# how much longer a label may be than the English one: what stands on buttons, tabs and above fields has its room
ROOM, SHORT = 2.2, 24


def placeholders(sentence):
    """What is filled in: {name}, but not Plotly's %{x} and the doubled braces of templates."""
    return sorted(re.findall(r"(?<![%{])\{(\w+)\}(?!\})", sentence))


def plotly(sentence):
    """Fields that Plotly fills in, with their formats, whether or not their braces are doubled."""
    return sorted(re.findall(r"%\{+([\w.:,+%~]+)\}+", sentence))


@pytest.mark.parametrize("code", OTHERS)
def test_no_entry_of_the_interface_lacks_a_translation(code):
    missing = sorted(set(catalogue("en")) - set(written(code)))
    assert not missing, f"add these to assets/text/{code}*.toml: {', '.join(missing)}"


@pytest.mark.parametrize("code", OTHERS)
def test_no_translation_is_left_of_an_entry_that_is_gone(code):
    gone = set(written(code)) - set(catalogue("en"))
    assert not sorted(key for key in gone if not key.startswith("engine."))


@pytest.mark.parametrize("code", LANGUAGES)
def test_no_long_text_stands_under_two_names(code):
    """A text that was put in the place of another one says there what is not so; a page and a file may agree."""
    names = defaultdict(list)
    for name, text in written(code).items():
        if len(text) > 60 and not name.startswith("engine."):
            names[text].append(name)
    assert not [same for same in names.values() if len({name.rpartition(".")[2] for name in same}) > 1]


def stages():
    """What runs report that they are doing, by the calls in the code of the engine."""
    out = {"starting", *(stage for _, stage in STAGES.values())}
    for file in (ROOT / "dpsyn_core").rglob("*.py"):
        for call in (n for n in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(n, ast.Call)):
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            first = call.args[0] if len(call.args) > 2 else None
            if name in ("progress", "_progress", "report") and isinstance(first, ast.Constant):
                out.add(first.value)
    return out


def engine_says():
    """What the engine says in English of its parts, by the keys of their translations."""
    out = {f"engine.answer.{k}": v for k, v in ANSWERS.items()}
    for name in registry.names():
        config = registry.config_class(name)
        out |= {f"engine.system.{name}.summary": config.summary, f"engine.guarantee.{config.guarantee.text}": ""}
    for name in metrics.names():
        kind = metrics.metric_class(name)
        out |= {f"engine.metric.{name}": kind.title, f"engine.unit.{kind.unit}": "", f"engine.on.{kind.on}": ""}
        out |= {f"engine.question.{name}": kind.question}
    out |= {f"engine.goes.{k}": v for k, v in WHERE.items()}
    out |= {f"engine.goal.{k}": v for k, v in metrics.GOAL_WORDS.items()}
    for name, (called, why) in CURVES.items():
        out |= {f"engine.curve.{name}": why, f"engine.curve_name.{name}": called}
    return out | {f"engine.stage.{stage}": "" for stage in stages()}


@pytest.mark.parametrize("code", OTHERS)
def test_what_the_engine_says_of_its_parts_is_translated(code):
    said, translated = engine_says(), written(code)
    assert sorted(said) == sorted(k for k in translated if k.startswith("engine."))
    assert not [k for k, english in said.items() if placeholders(english) != placeholders(translated[k])]


@pytest.mark.parametrize("code", OTHERS)
def test_translations_fill_in_the_same_values(code):
    english, other = catalogue("en"), written(code)
    shared = [k for k in other if k in english]
    assert not [k for k in shared if placeholders(other[k]) != placeholders(english[k])]
    assert not [k for k in shared if plotly(other[k]) != plotly(english[k])]
    assert not [k for k in shared if ("**" in other[k]) != ("**" in english[k])]


@pytest.mark.parametrize("code", OTHERS)
def test_short_labels_stay_short_enough_for_their_place(code):
    english, other = catalogue("en"), written(code)
    navigation = [len(other[k]) for k in other if k.startswith("nav.")]
    assert max(navigation) <= 12 and sum(navigation) <= 60, "names of pages stand in one row"
    long = [
        f"{k}: {other[k]}" for k in other
        if k in english and 4 <= len(english[k]) <= SHORT and len(other[k]) > max(ROOM * len(english[k]), 22) + 8
    ]  # fmt: skip
    assert not long, long


def test_a_link_asks_for_a_language_and_the_side_panel_changes_it(app):
    app.query_params["lang"] = "de"
    app.run()
    assert app.title[0].value == written("de")["data.title"]
    app.segmented_control(key="language_field").set_value("en").run()
    assert app.title[0].value == catalogue("en")["data.title"]
    assert app.query_params["lang"] == "en"
    at_page(app, "learn")
    assert app.title[0].value == catalogue("en")["learn.title"], "it holds on other pages"


def test_an_unknown_language_is_english(app):
    app.query_params["lang"] = "../../xx"
    app.run()
    assert app.title[0].value == catalogue("en")["data.title"]


@pytest.mark.parametrize("page", ["data", "schema", "privacy", "synthesize", "export", "learn"])
def test_every_page_opens_in_every_language(app, page):
    app.query_params["lang"] = "de"
    at_page(app, page)
    assert not app.exception and not app.error
    assert app.title[0].value == written("de")[f"{page}.title"]
    assert written("de")["side.dataset"] in words(app)


def test_without_a_visitor_the_servers_language_holds(monkeypatch):
    assert language() == "en"
    monkeypatch.setenv("DPSYN_LANGUAGE", "de")
    assert language() == "de" and t("nav.data") == "Daten"


@pytest.mark.parametrize("code", LANGUAGES)
def test_what_is_added_to_a_sentence_keeps_the_space_before_it(code):
    said = catalogue(code)
    assert said["figure.verdict_at"].startswith(" ") and said["certificate.pure"].startswith(" ")
    assert said["figure.verdict_few_alone"].format(ones="1 %", ones_floor="2 %", at=said["figure.verdict_at"])


def test_a_download_is_made_in_the_language_of_its_page_in_a_thread_that_has_no_visitor(monkeypatch):
    monkeypatch.setattr(spoken, "language", lambda: "de")
    make = spoken.later(lambda: (spoken._OFFERED.get(), threading.current_thread().name))
    monkeypatch.undo()
    with ThreadPoolExecutor(1, "server") as server:
        assert server.submit(make).result() == ("de", "server_0")
        assert server.submit(spoken.language).result() == "en", "nothing of it stays in the thread"


def test_what_is_made_when_it_is_pressed_is_handed_over_in_one_place_alone():
    """`download` makes it in the language of its page; elsewhere a button hands over what is there already."""
    for path in [*(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        for call in (n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Call)):
            if getattr(call.func, "attr", "") != "download_button" or path.name == "downloads.py":
                continue
            given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "data")]
            assert not [d for d in given if isinstance(d, (ast.Lambda, ast.Call))], f"{path.name}:{call.lineno}"


def test_a_download_that_is_made_later_speaks_the_language_of_its_page(monkeypatch):
    handed = []
    monkeypatch.setattr(downloads.st, "download_button", lambda label, data, *_, **__: handed.append(data))
    monkeypatch.setattr(spoken, "language", lambda: "de")
    downloads.download("CSV", "a.csv", lambda: str(spoken._OFFERED.get()), key="a")
    downloads.download("CSV", "a.csv", b"there", key="b")
    assert handed[0]() == "de" and handed[1] == b"there"
