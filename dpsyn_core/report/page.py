"""The HTML page under construction: sections, figures, tables, and the data that its script draws from.

A page holds values only; `templates/` turns them into markup, and escapes every one of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from dpsyn_core.errors import UNSEEN
from dpsyn_core.evaluate import PRIVATE_LABEL, SAFE_LABEL, plain
from dpsyn_core.report.theme import DARK, LAYOUT, LIGHT, Figure
from dpsyn_core.report.translation import sentence
from dpsyn_core.report.wording import ENGLISH, Words, local

if TYPE_CHECKING:
    from jinja2 import Environment

# what the report's script says, and the entries of its words
SCRIPT = {
    "column": "page.numbers_column",
    "row": "page.numbers_row",
    "value": "page.numbers_value",
    "series": "page.numbers_series",
    "first": "page.numbers_first",
    "gone": "page.pair_gone",
    "real": "real",
    "decimal_mark": "decimal_mark",
}
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def percent(x: float | None) -> str:
    """A share: 3.4%, with more digits when it is small."""
    if x is None:
        return "–"
    return f"{x:.1%}" if x == 0 or abs(x) >= 0.01 else f"{x:.2%}"


def number(x: float | None) -> str:
    """A count or an amount."""
    if x is None:
        return "–"
    return f"{x:,.0f}" if abs(x) >= 100 or float(x).is_integer() else f"{x:.3g}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A part of the page under one heading. blocks: (kind, values), each drawn by the macro of that name."""

    key: str
    heading: str
    tag: str = ""
    safe: bool = False
    blocks: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


class Page:
    """Collects the parts of one report; `render` makes a file that needs no network."""

    def __init__(self, title: str, *, heading: str, label: str, note: str, words: Words = ENGLISH) -> None:
        """Starts an empty page: its title, what stands large above it, its label, and who and when in small type."""
        self.words = words
        self.head = {
            "title": title,
            "heading": heading,
            "label": sentence(label, words),
            "safe": label.startswith(SAFE_LABEL),
            "note": note,
        }
        self.lead: list[tuple[str, dict[str, Any]]] = []
        self.sections: list[Section] = []
        self.data: dict[str, Any] = {}
        self.figures: dict[str, Any] = {}
        self._blocks = self.lead  # where the next part goes

    def say(self, key: str, **values: object) -> str:
        """The sentence "page.key" in the language of the page, with its {placeholders} filled."""
        return self.words[f"page.{key}"].format(**values)

    def sentence(self, text: str) -> str:
        """A sentence of a score or a receipt in the language of the page."""
        return sentence(text, self.words)

    def local(self, text: str) -> str:
        """A number in the marks of the language of the page."""
        return local(text, self.words)

    def percent(self, x: float | None) -> str:
        """A share, as the page writes it."""
        return self.local(percent(x))

    def number(self, x: float | None) -> str:
        """A count or an amount, as the page writes it."""
        return self.local(number(x))

    def section(self, heading: str, *, private: bool = False, safe: bool = False) -> None:
        """Begins a section; private ones wear the tag of everything that reads the real table."""
        tag = self.sentence(SAFE_LABEL if safe else PRIVATE_LABEL) if safe or private else ""
        self.sections.append(Section(key=f"s{len(self.sections) + 1}", heading=heading, tag=tag, safe=safe))
        self._blocks = self.sections[-1].blocks

    def text(self, words: str) -> None:
        """A paragraph."""
        if words:
            self._add("text", words=words)

    def note(self, words: str) -> None:
        """A paragraph in small type."""
        self._add("note", words=words)

    def heading(self, words: str) -> None:
        """A heading inside a section."""
        self._add("heading", words=words)

    def stamp(self, words: str) -> None:
        """The stamp of a run that gives no guarantee."""
        self._add("stamp", words=words)

    def alarm(self, words: str) -> None:
        """What nobody may overlook: a table that is too near to the real one."""
        self._add("alarm", words=words)

    def certificate(self, summary: str, text: str) -> None:
        """A text of fixed width, shown when the reader asks for it."""
        self._add("certificate", summary=summary, text=text)

    def figure(self, key: str, figure: Figure) -> None:
        """A figure with its caption, drawn when it comes into view."""
        self.figures[key] = [_spec(figure)]
        self._add("figure", **self._frame(key, figure))

    def choice(self, key: str, options: Mapping[str, Figure], label: str) -> None:
        """One figure of several, by a drop-down list."""
        self.figures[key] = [_spec(f) for f in options.values()]
        first = next(iter(options.values()))
        self._add("choice", label=label, options=list(options), frame=self._frame(key, first))

    def _frame(self, key: str, figure: Figure) -> dict[str, Any]:
        """Where a figure is drawn; its files carry the label of the whole report in their source line."""
        height = int(figure.layout.get("height", LAYOUT["height"]))
        return {
            "key": key,
            "height": height,
            "width": figure.width,
            "alt": figure.alt,
            "caption": figure.caption,
            "source": self.say("source", title=self.head["title"], label=self.head["label"]),
        }

    def pair_panel(self, series: Sequence[str], *, partial: bool, count: int) -> None:
        """Where the tables of a chosen pair are drawn; with several synthetic tables, which two are compared."""
        names = self.data["pairs"]["names"]
        self._add("pair_panel", series=list(series), names=names, partial=partial, count=count)

    @contextmanager
    def fold(self, summary: str) -> Iterator[None]:
        """What is added inside is shown when the reader asks for it."""
        outer, inner = self._blocks, []  # type: ignore[var-annotated]
        self._add("fold", summary=summary, blocks=inner)
        self._blocks = inner
        yield
        self._blocks = outer

    def table(
        self, heads: Sequence[str], rows: Sequence[Sequence[object]], *, caption: str = "", red: Sequence[int] = ()
    ) -> None:
        """A table; numbers stand to the right. red: positions of rows that are alarming."""
        cells = [[(str(v), _numeric(str(v))) for v in row] for row in rows]
        right = [bool(cells) and all(row[i][1] for row in cells) for i in range(len(heads))]
        self._add("table", heads=list(zip(heads, right, strict=True)), rows=cells, caption=caption, red=list(red))

    def facts(self, items: Sequence[tuple[str, str, str]]) -> None:
        """Numbers that decide something, set large: (number, what it is, what to hold it against)."""
        self._add("facts", items=list(items))

    def _add(self, kind: str, **values: Any) -> None:
        self._blocks.append((kind, values))

    def render(self) -> str:
        """The whole file: style, script, Plotly and data inlined; a policy forbids every request."""
        from markupsafe import Markup
        from plotly.offline import get_plotlyjs

        assets = resources.files("dpsyn_core.report") / "assets"
        # our own files and JSON that cannot end its element: the only values that are not escaped
        files = {n: Markup((assets / f"report.{n}").read_text("utf-8")) for n in ("css", "js")}  # noqa: S704
        files["files"] = Markup((assets / "figure_files.js").read_text("utf-8"))  # noqa: S704
        layout = LAYOUT if self.words["decimal_mark"] == "." else LAYOUT | {"separators": ",."}
        data = {**self.data, "figures": self.figures, "layout": layout, "light": dict(LIGHT), "dark": dict(DARK)}
        data["words"] = {name: self.words[key] for name, key in SCRIPT.items()}
        files["data"], files["plotly"] = Markup(embedded(data)), Markup(get_plotlyjs())  # noqa: S704
        template = _environment().get_template("report.html.jinja")
        parts = {"head": self.head, "lead": self.lead, "sections": self.sections, "words": self.words}
        return template.render(**parts, light=LIGHT, dark=DARK, policy=POLICY, **files)


def _plain(value: Any) -> Any:
    """A value of a template; a name from a file turns no letters beside it round."""
    return value.translate(UNSEEN) if type(value) is str else value


@cache
def _environment() -> Environment:
    """Templates from this package alone, every value escaped, and an error for a value that is not there."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("dpsyn_core.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_plain,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def unmarked(words: str) -> str:
    """Words without the marks around commands, which terminals and the app show and a page does not."""
    return words.replace("`", "")


def embedded(data: Mapping[str, Any]) -> str:
    """JSON that cannot end the script element that holds it."""
    text = json.dumps(plain(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(UNSEEN).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def rounded(value: Any) -> Any:
    """Arrays of a figure with the digits that a reader can see: five after the point, five in all of a small share."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        with np.errstate(divide="ignore", invalid="ignore"):
            tiny = np.where(np.abs(value) < 1, 4 - np.floor(np.log10(np.abs(value))), 2)
        whole = np.where(np.isfinite(tiny), tiny, 2)
        scale = np.power(10.0, whole)
        return np.where(np.abs(value) < 1e-4, np.rint(value * scale) / scale, np.round(value, 5)).tolist()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {k: rounded(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(v) for v in value]
    return value


def _spec(figure: Figure) -> dict[str, Any]:
    return {"data": rounded(figure.data), "layout": figure.layout, "caption": figure.caption, "alt": figure.alt}


def _numeric(text: str) -> bool:
    """Whether a cell is set as a number: figures, signs, and 7.5e-05."""
    plain = re.sub(r"(?<=\d)e(?=[+-]?\d)", "", text)
    return bool(text) and text[0] in "+-–±0123456789" and not any(c.isalpha() for c in plain)
