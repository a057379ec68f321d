"""The look: one palette for light and dark, the style sheet, the Plotly template, and small tags."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import streamlit as st

from dpsyn_core.report import template
from ui.shared.text import ASSETS, t

if TYPE_CHECKING:
    import plotly.graph_objects as go


@dataclass(frozen=True)
class Palette:
    """Colours of one mode, shared with the report; real and synthetic are the same everywhere."""

    ink: str
    paper: str
    soft: str
    line: str
    accent: str
    real: str
    warning: str
    alarm: str
    on_accent: str

    @property
    def synthetic(self) -> str:
        """Synthetic data wear the accent."""
        return self.accent


def _palette(tokens: Mapping[str, str], on_accent: str) -> Palette:
    shared = [f.name for f in fields(Palette) if f.name != "on_accent"]
    return Palette(**{n: tokens[n] for n in shared}, on_accent=on_accent)


LIGHT, DARK = _palette(template.LIGHT, "#FFFFFF"), _palette(template.DARK, "#0B1519")
# Okabe-Ito hues; yellow and black are left out for want of contrast on paper
LEGEND = {"orientation": "h", "y": -0.2, "x": 0, "title": {"text": ""}}  # below, where axes leave room
HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#7F7F7F")
# the hues that are too dark for the dark page
LIGHTER = {HUES[0]: "#4FA8E0", HUES[1]: "#F07A3C", HUES[2]: "#35C79A", HUES[6]: "#A0A0A0"}


def dark() -> bool:
    """Whether the visitor looks at the dark theme."""
    return st.context.theme.get("type") == "dark"


def hues() -> tuple[str, ...]:
    """The hues of curves in the visitor's theme."""
    return tuple(LIGHTER.get(h, h) for h in HUES) if dark() else HUES


def palette(is_dark: bool | None = None) -> Palette:
    """The colours of a theme; of the visitor's when none is named."""
    return DARK if (dark() if is_dark is None else is_dark) else LIGHT


def painted(value: Any) -> Any:
    """Colour names of the report ("@accent") as colours of the visitor's theme."""
    return template.paint(value, template.DARK if dark() else template.LIGHT)


@lru_cache(maxsize=2)
def _layout(is_dark: bool) -> go.layout.Template:
    import plotly.graph_objects as go

    tokens = template.DARK if is_dark else template.LIGHT
    return go.layout.Template(layout=template.paint({**template.LAYOUT, "legend": LEGEND}, tokens))


def dressed(figure: go.Figure, *, is_dark: bool, height: int | None = None) -> go.Figure:
    """Puts a figure into the house style of one theme, and returns it."""
    figure.update_layout({"template": _layout(is_dark)} | ({"height": height} if height else {}))
    return figure


def show(
    figure: go.Figure,
    *,
    alt: str,
    key: str,
    height: int | None = None,
    selects: Literal["box", "points"] | None = None,
    ready: bool = False,
) -> dict[str, list[dict[str, object]]]:
    """Draws a figure in the house style.

    Args:
        figure: any Plotly figure.
        alt: what a person who cannot see it should know.
        key: of the widget.
        height: in pixels; the template's when None.
        selects: "box" or "points" to let the visitor select; the page reruns on it.
        ready: the figure wears the house style already and is shared: it is drawn as it is.

    Returns:
        The selection as {"points": [...], "box": [...]}; empty lists without one.
    """
    if not ready:
        dressed(figure, is_dark=dark(), height=height)
    config = {"displayModeBar": False, "scrollZoom": False, "displaylogo": False}
    if selects is None:
        st.plotly_chart(figure, theme=None, alt=alt, key=key, config=config)
        return {"points": [], "box": []}
    if selects == "box":
        figure.update_layout(dragmode="select")
    got = st.plotly_chart(
        figure, theme=None, alt=alt, key=key, config=config, on_select="rerun", selection_mode=(selects,)
    )
    chosen = got.get("selection", {}) if got else {}
    return {"points": list(chosen.get("points", [])), "box": list(chosen.get("box", []))}


def style() -> None:
    """Puts the style sheet on the page, with the colours of the visitor's theme as CSS variables."""
    colours = palette()
    names = ("ink", "paper", "soft", "line", "accent", "real", "warning", "alarm", "on_accent")
    variables = "".join(f"--dp-{n.replace('_', '-')}:{getattr(colours, n)};" for n in names)
    sheet = (ASSETS / "style.css").read_text("utf-8")
    st.html(f"<style>:root{{{variables}}}{sheet}</style>")


def heading(key: str) -> None:
    """A page's question, large, and one sentence below it."""
    st.title(t(f"{key}.title"), anchor=False)
    st.html(f"<p class='dp-lead'>{html.escape(t(f'{key}.lead'))}</p>")


class PageEnd(Exception):
    """Ends a page early. Unlike `st.stop` it lets the side panel be drawn after it."""


def end_page() -> NoReturn:
    """Nothing more belongs on this page."""
    raise PageEnd


def section(text: str) -> None:
    """A heading inside a page."""
    st.subheader(text, anchor=False)


def private_tag() -> None:
    """The tag that every panel wears that reads private data."""
    st.html(f"<span class='dp-tag dp-private'>{html.escape(t('tag.private'))}</span>")


def public_tag() -> None:
    """The tag of panels made from released values alone."""
    st.html(f"<span class='dp-tag dp-public'>{html.escape(t('tag.public'))}</span>")


def not_private(reason: str) -> None:
    """The stamp of a run or schema that gives no guarantee."""
    st.html(
        f"<div class='dp-stamp' role='alert'><b>{html.escape(t('tag.not_private'))}</b> {html.escape(reason)}</div>"
    )


def facts(items: list[tuple[str, str, str]]) -> None:
    """Numbers that decide something, set large: (number, what it is, what to hold it against)."""
    cells = "".join(
        f"<div class='dp-fact'><div class='dp-number'>{html.escape(value)}</div>"
        f"<div class='dp-what'>{html.escape(what)}</div><div class='dp-note'>{html.escape(note)}</div></div>"
        for value, what, note in items
    )
    st.html(f"<div class='dp-facts'>{cells}</div>")


def note(text: str, kind: str = "note") -> None:
    """Small explanation beside a number; kind: note, warning or alarm."""
    st.html(f"<p class='dp-small dp-{kind}'>{html.escape(text)}</p>")
