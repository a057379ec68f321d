"""Names that came from files are text on every page: no Markdown, no HTML, no links, whatever the file calls itself."""

import ast
import re
from pathlib import Path

import pytest

from dpsyn_core.errors import TableError
from tests.app_driver import at_page, uploaded
from ui.shared import theme
from ui.shared.faults import explain
from ui.shared.text import JOINER, escaped, literal

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = (
    "**bold**", "[x](javascript:alert(1))", "$x$", ":red[x]", "<b>b</b>", "`code`", "![i](http://h/i.png)", ":smile:",
    ":material/home:", "_it_", "__strong__", "~~gone~~", "https://h.example", "www.h.example", "a@h.example",
    "&lt;i&gt;", "\\\\$y$", "<script>alert(1)</script>",
)  # fmt: skip
RAW = ("\t".join(HOSTILE) + "\n" + ("\t".join("12"[i % 2] for i in range(len(HOSTILE))) + "\n") * 3).encode()
# what Streamlit reads as Markdown, in words, headings and labels alike; `html` is looked at by itself
SHOWN = ("title", "header", "markdown", "caption", "error", "warning", "info", "success")
LABELLED = (
    "button",
    "checkbox",
    "toggle",
    "selectbox",
    "multiselect",
    "text_input",
    "number_input",
    "radio",
    "expander",
)
# functions of the app that put text on the page, with the arguments that Streamlit reads as Markdown
SINKS = {"error", "warning", "info", "success", "caption", "write", "markdown", "title", "header", "subheader"}
SINKS |= {"spinner", "progress", "toast", "popover", "expander", "button", "checkbox", "toggle"}
# variables whose text may have come from a file, and the places where it is the program's own
OUTSIDE = {"name", "names", "label", "column", "columns", "dataset", "got", "stage", "title", "path", "file", "error"}
OUTSIDE |= {"message", "problem", "others", "text", "value", "key"}
OURS = {
    ("ui/synthesize/forms.py", "label"),  # of a setting
    ("ui/data/form.py", "label"),  # of a rule of reading
    ("ui/learn/frame.py", "name"),  # of a lab
    ("ui/schema/buying.py", "name"),  # made of our own words two lines above
    ("pages/synthesize.py", "name"),
    ("ui/shared/theme.py", "key"),
}


def alive(text):
    """What of a text Streamlit would read as more than text."""
    bare = re.sub(r"\\.", "", text)
    marks = r"[*`\[\]<>~$]|:[\w+/-]+:|:\w+\[|(?i:https?://|www\.)|\w@\w|&\w+;|(?<!\w)_|_(?!\w)"
    return re.findall(marks, bare)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_and_keeps_its_letters(name):
    assert alive(name) and not alive(literal(name)), literal(name)
    assert not alive(literal(f"column '{name}' is no number: declare it"))
    shown = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", literal(name)).replace(JOINER, "")
    assert shown == name


@pytest.mark.parametrize("mark", ["\u202e", "\u2067", "\x00", "\x1b"])
def test_a_name_does_not_turn_the_text_around_it(mark):
    assert literal(f"age{mark}<x") == "age\ufffd\\<x" and escaped(f"age{mark}<x") == "age\ufffd&lt;x"
    assert literal("גיל") == escaped("גיל") == "גיל", "names of scripts from right to left stay"


@pytest.mark.parametrize("name", ["# head", "- item", "1. item", "1) item", "> said", "=", "+ item"])
def test_a_name_begins_no_list_heading_or_quotation(name):
    assert re.match(r"\d*\\", literal(name))


def test_ordinary_sentences_stay_as_they_are():
    for text in (
        "Column 'age_group' is 3; it must lie between 0 and 1: use 2.",
        "DPSYN_HOME cannot be written (full).",
    ):
        assert literal(text) == text


@pytest.mark.slow
def test_a_table_with_hostile_headers_is_shown_as_text_on_every_page(app):
    uploaded(app, "[f](javascript:alert(1)) **x**.tsv", RAW)
    assert not app.exception and not app.error
    for page in ("data", "schema", "privacy", "synthesize"):
        at_page(app, page)
        assert not app.exception
        for kind in SHOWN:
            for element in getattr(app, kind):
                assert not any(name in element.value for name in HOSTILE), (page, kind, element.value)
        for kind in LABELLED:
            for element in getattr(app, kind):
                text = f"{element.label} {getattr(element, 'help', '') or ''}"
                assert not any(name in text for name in HOSTILE), (page, kind, text)
        for element in app.get("html"):
            for name in ("<b>b</b>", "<script>alert(1)</script>"):
                assert name not in element.proto.body, page
    at_page(app, "data")
    assert any("javascript" in s.value and not alive(s.value) for s in app.header), "the name of the file is a heading"


def test_an_error_that_names_a_column_shows_it_as_text(monkeypatch):
    said = []
    monkeypatch.setattr(theme.st, "error", said.append)
    for name in HOSTILE:
        explain(TableError(f"column '{name}' has no values"))
    assert len(said) == len(HOSTILE) and not [s for s in said if alive(s)]


def variables(node):
    """Names of variables in an expression, but for those inside `literal`."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "literal":
        return
    if isinstance(node, ast.Name):
        yield node.id
    if isinstance(node, ast.Attribute):
        yield node.attr
    for part in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.Call) and part is node.func):
            yield from variables(part)


def test_nothing_from_a_file_is_put_on_a_page_as_markdown():
    loose = []
    for path in [ROOT / "app.py", *(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        here = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SINKS):
                continue
            for part in [*node.args[:1], *(k.value for k in node.keywords if k.arg in ("label", "text", "help"))]:
                found = OUTSIDE & set(variables(part)) - {name for where, name in OURS if where == here}
                loose += [f"{here}:{node.lineno} {node.func.attr} {name}" for name in sorted(found)]
    assert not loose, loose
