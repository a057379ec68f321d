"""The HTML page under construction: sections, figures, tables, and the data that its script draws from."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from dpsyn_core.metrics.base import PRIVATE_LABEL, SAFE_LABEL, plain
from dpsyn_core.report.template import DARK, LAYOUT, LIGHT, Figure

PAIR_LISTS = (("row", "Tables of row"), ("column", "and column"))
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def escape(value: object) -> str:
    """Text as HTML."""
    return html.escape(str(value))


def percent(x: float | None) -> str:
    """A share: 3.4 %, with more digits when it is small."""
    if x is None:
        return "–"
    return f"{x:.1%}" if x == 0 or abs(x) >= 0.01 else f"{x:.2%}"


def number(x: float | None) -> str:
    """A count or an amount."""
    if x is None:
        return "–"
    return f"{x:,.0f}" if abs(x) >= 100 or float(x).is_integer() else f"{x:.3g}"


class Page:
    """Collects the parts of one report; `render` makes a file that needs no network."""

    def __init__(self, title: str) -> None:
        """Starts an empty page."""
        self.title = title
        self.body: list[str] = []
        self.contents: list[tuple[str, str]] = []
        self.data: dict[str, Any] = {}
        self.figures: dict[str, Any] = {}
        self._open = False

    def raw(self, markup: str) -> None:
        """Adds markup whose values have been escaped."""
        self.body.append(markup)

    def section(self, heading: str, *, private: bool = False, safe: bool = False) -> None:
        """Begins a section; private ones wear the tag of everything that reads the real table."""
        key = f"s{len(self.contents) + 1}"
        self.contents.append((key, heading))
        tag = f"<span class='tag private'>{PRIVATE_LABEL}</span>" if private else ""
        tag = f"<span class='tag safe'>{SAFE_LABEL}</span>" if safe else tag
        self.raw(f"{'</section>' if self._open else ''}<section id='{key}'><h2>{escape(heading)}</h2>{tag}")
        self._open = True

    def text(self, words: str) -> None:
        """A paragraph."""
        if words:
            self.raw(f"<p>{escape(words)}</p>")

    def figure(self, key: str, figure: Figure) -> None:
        """A figure with its caption, drawn when it comes into view."""
        self.figures[key] = [_spec(figure)]
        self.raw(_frame(key, figure))

    def choice(self, key: str, options: Mapping[str, Figure], label: str) -> None:
        """One figure of several, by a drop-down list."""
        self.figures[key] = [_spec(f) for f in options.values()]
        items = "".join(f"<option value='{i}'>{escape(name)}</option>" for i, name in enumerate(options))
        self.raw(f"<label class='choose'>{escape(label)} <select data-for='{escape(key)}'>{items}</select></label>")
        self.raw(_frame(key, next(iter(options.values()))))

    def pair_panel(self, series: Sequence[str], *, partial: bool, count: int) -> None:
        """Where the tables of a chosen pair are drawn; with several synthetic tables, which two are compared."""
        if len(series) > 1:
            lists = []
            for which, at, words in (("a", 0, "Above the diagonal"), ("b", 1, "Below")):
                items = "".join(
                    f"<option value='{i}'{' selected' if i == at else ''}>{escape(n)}</option>"
                    for i, n in enumerate(series)
                )
                lists.append(f"<label class='choose'>{words} <select id='map-{which}'>{items}</select></label>")
            self.raw(f"<p>{' '.join(lists)}</p>")
        names = self.data["pairs"]["names"]
        items = "".join(f"<option value='{i}'>{escape(n)}</option>" for i, n in enumerate(names))
        lists = [f"<label class='choose'>{w} <select id='pair-{k}'>{items}</select></label>" for k, w in PAIR_LISTS]
        self.raw(f"<p>{' '.join(lists)}</p>")
        note = f" Tables are kept for the {count} pairs that differ most." if partial else ""
        self.raw(
            f"<div id='pair' class='pair' aria-live='polite'><h3 id='pair-name'></h3>"
            f"<p class='note' id='pair-note'>Shares of all records; attributes of many values coarsely.{note}</p>"
            "<div class='three'><div><h4>real</h4><div id='pair-real' class='plot small'></div></div>"
            "<div><h4 id='pair-which'>synthetic</h4><div id='pair-synthetic' class='plot small'></div></div>"
            "<div><h4>synthetic minus real</h4><div id='pair-difference' class='plot small'></div></div></div></div>"
        )

    def fold(self, summary: str) -> None:
        """What follows until `unfold` is shown when the reader asks for it."""
        self.raw(f"<details><summary>{escape(summary)}</summary>")

    def unfold(self) -> None:
        """Ends what `fold` began."""
        self.raw("</details>")

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[object]], *, caption: str = "") -> None:
        """A table; numbers stand to the right."""
        right = [bool(rows) and all(_numeric(str(row[i])) for row in rows) for i in range(len(heads))]
        head = "".join(f"<th scope='col'{_side(r)}>{escape(h)}</th>" for h, r in zip(heads, right, strict=True))
        body = "".join(f"<tr>{''.join(_cell(v) for v in row)}</tr>" for row in rows)
        title = f"<caption>{escape(caption)}</caption>" if caption else ""
        table = f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        self.raw(f"<div class='scroll'>{table}</div>")

    def facts(self, items: Sequence[tuple[str, str, str]]) -> None:
        """Numbers that decide something, set large: (number, what it is, what to hold it against)."""
        cells = "".join(
            f"<div class='fact'><div class='number'>{escape(v)}</div><div class='what'>{escape(w)}</div>"
            f"<div class='note'>{escape(n)}</div></div>"
            for v, w, n in items
        )
        self.raw(f"<div class='facts'>{cells}</div>")

    def render(self) -> str:
        """The whole file: style, script, Plotly and data inlined; a policy forbids every request."""
        from plotly.offline import get_plotlyjs

        assets = resources.files("dpsyn_core.report") / "assets"
        style = (assets / "report.css").read_text("utf-8")
        script = (assets / "report.js").read_text("utf-8")
        colours = _variables(LIGHT) + "@media (prefers-color-scheme: dark){" + _variables(DARK) + "}"
        colours += "@media print{" + _variables(LIGHT) + "}"
        data = {**self.data, "figures": self.figures, "layout": LAYOUT, "light": dict(LIGHT), "dark": dict(DARK)}
        links = "".join(f"<a href='#{k}'>{escape(h)}</a>" for k, h in self.contents)
        body = "".join(self.body).replace("<!--contents-->", f"<nav aria-label='Contents'>{links}</nav>", 1)
        return (
            "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            "<meta name='viewport' content='width=device-width, initial-scale=1'>"
            "<meta name='color-scheme' content='light dark'>"
            f"<title>{escape(self.title)}</title><style>{colours}{style}</style></head>"
            f"<body><main>{body}{'</section>' if self._open else ''}</main>"
            f"<script type='application/json' id='data'>{embedded(data)}</script>"
            f"<script>{get_plotlyjs()}</script><script>{script}</script></body></html>\n"
        )


def embedded(data: Mapping[str, Any]) -> str:
    """JSON that cannot end the script element that holds it."""
    text = json.dumps(plain(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _variables(palette: Mapping[str, str]) -> str:
    return ":root{" + "".join(f"--{k}:{v};" for k, v in palette.items()) + "}"


def _spec(figure: Figure) -> dict[str, Any]:
    return {"data": figure.data, "layout": figure.layout, "caption": figure.caption, "alt": figure.alt}


def _frame(key: str, figure: Figure) -> str:
    height = int(figure.layout.get("height", LAYOUT["height"]))
    width = f";max-width:{figure.width}px" if figure.width else ""
    return (
        f"<figure><div class='plot' data-figure='{escape(key)}' role='img' aria-label='{escape(figure.alt)}' "
        f"style='min-height:{height}px{width}'></div><figcaption>{escape(figure.caption)}</figcaption>"
        f"<details class='numbers' data-numbers='{escape(key)}'><summary>The numbers</summary></details></figure>"
    )


def _cell(value: object) -> str:
    return f"<td{_side(_numeric(str(value)))}>{escape(value)}</td>"


def _numeric(text: str) -> bool:
    return bool(text) and text[0] in "+-–±0123456789" and not any(c.isalpha() for c in text)


def _side(right: bool) -> str:
    return " class='n'" if right else ""
