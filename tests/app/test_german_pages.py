"""The German app after a run: no English sentence and no English number on any page, in any view, in any lab."""

import re

import pytest

from tests.app.test_report import finished
from tests.app_driver import at_page, explored
from tests.app_driver import words as written_words
from ui.learn import LABS

# words that no German sentence has; a name of a column or a citation may, and is taken out before
ENGLISH = re.compile(r"\b(the|of|and|is|are|with|which|from|by|that|this|every|each|one)\b")
# a number with a point before one or two digits or before more than three, which German writes with a comma
NUMBER = re.compile(r"(?<![\w.,/:-])\d+\.(?:\d{1,2}|\d{4,})(?![\w.:])")
LEFT = re.compile(r"<(script|style)>.*?</(script|style)>|<[^>]*>|`[^`]*`|DDI-Codebook 2.5|Quelle: [^\n]*", re.DOTALL)
VIEWS = ("columns", "pairs", "groups", "queries", "incomes", "learning")


def said(app):
    """All words of a page: written ones, labels, help texts, options, code."""
    out = [written_words(app)]
    for kind in ("caption", "success", "selectbox", "radio", "slider", "number_input", "text_input", "toggle",
                 "checkbox", "multiselect", "expander", "button"):  # fmt: skip
        for e in app.get(kind):
            out += [
                str(getattr(e, "label", "")),
                str(getattr(e, "help", "") or ""),
                *map(str, getattr(e, "options", ())),
            ]
    return out


def english(app):
    """Lines with English words or numbers."""
    lines = [line.strip() for part in said(app) for line in LEFT.sub(" ", part).splitlines()]
    return sorted({line[:160] for line in lines if len(set(ENGLISH.findall(line))) > 1 or NUMBER.search(line)})


@pytest.fixture
def german(app, monkeypatch):
    monkeypatch.setenv("DPSYN_LANGUAGE", "de")  # AppTest formats options outside of any visit
    app.run()
    return app


@pytest.mark.slow
def test_no_page_says_anything_in_english_after_a_run(german):
    job = finished(german)
    assert job.state == "done", job.failure()
    found = {}
    for page in ("data", "schema", "privacy", "questions", "synthesize", "export", "plan", "grid", "release"):
        at_page(german, page)
        found[page] = english(german)
    at_page(german, "report")
    for view in ("overview", "attack", "released", *VIEWS):
        if view in VIEWS:
            explored(german, view)
        else:
            german.segmented_control(key="report_view").set_value(view).run()
        assert not german.exception
        found[f"report {view}"] = english(german)
    left = [f"{page}: {line}" for page, lines in found.items() for line in lines]
    assert not left, "\n".join(left)


@pytest.mark.slow
@pytest.mark.parametrize("lab", LABS)
def test_no_lab_says_anything_in_english(german, lab):
    german.query_params.update({"lab": lab, "open": "1"})
    at_page(german, "learn")
    assert not german.exception and not german.error
    assert english(german) == []
