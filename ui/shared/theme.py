"""The look of the app: the report's palettes in the visitor's theme, drawing of figures, style sheet, small tags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import streamlit as st

from dpsyn_core.report import Figure, theme
from dpsyn_core.schema import is_year
from ui.shared import figure_files
from ui.shared.text import ASSETS, DECIMAL_COMMA, escaped, language, literal, local, t

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from pandas.io.formats.style import Styler


@dataclass(frozen=True)
class Palette:
    """Colours of one mode, shared with the report; real data wear their own everywhere, synthetic ones the accent."""

    ink: str
    paper: str
    soft: str
    line: str
    accent: str
    real: str
    warning: str
    alarm: str
    on_accent: str


def _palette(tokens: Mapping[str, str]) -> Palette:
    return Palette(**{f.name: tokens[f.name] for f in fields(Palette)})


LIGHT, DARK = _palette(theme.LIGHT), _palette(theme.DARK)
VEGA_COMMA = {  # numbers of Vega's charts
    "decimal": ",",
    "thousands": ".",
    "grouping": [3],
    "currency": ["", ""],
    "percent": "\u00a0%",
}
PLAIN_FILE = "[data-testid=stElementToolbar] button[aria-label^='Download as CSV']"
PRACTICE = "practice_data"  # in the visitor's session: what is loaded is simulated
CONFIG = {"displayModeBar": False, "scrollZoom": False, "displaylogo": False}


def dark() -> bool:
    """Whether the visitor looks at the dark theme."""
    return st.context.theme.get("type") == "dark"


def tokens(is_dark: bool | None = None) -> Mapping[str, str]:
    """Every colour of a theme by the name that figures use; of the visitor's theme when none is named."""
    return theme.DARK if (dark() if is_dark is None else is_dark) else theme.LIGHT


def hues() -> list[str]:
    """The hues of curves in the visitor's theme."""
    return list(theme.paint(theme.HUES, tokens()))


def palette(is_dark: bool | None = None) -> Palette:
    """The colours of a theme; of the visitor's when none is named."""
    return DARK if (dark() if is_dark is None else is_dark) else LIGHT


@lru_cache(maxsize=2)
def _layout(is_dark: bool) -> go.layout.Template:
    import plotly.graph_objects as go

    return go.layout.Template(layout=theme.paint(theme.LAYOUT, tokens(is_dark)))


def dressed(figure: Figure | go.Figure, *, is_dark: bool, height: int | None = None) -> go.Figure:
    """A figure in the house style of one theme: the engine's are painted, others are given the template."""
    chosen: dict[str, Any] = {"height": height} if height else {}
    if language() in DECIMAL_COMMA:
        chosen["separators"] = ",."  # of decimals and of thousands
    if isinstance(figure, Figure):
        import plotly.graph_objects as go

        layout = theme.paint(figure.layout, tokens(is_dark)) | chosen
        return go.Figure(
            data=theme.paint(figure.data, tokens(is_dark)), layout={**layout, "template": _layout(is_dark)}
        )
    figure.update_layout({"template": _layout(is_dark)} | chosen)
    return figure


def show(
    figure: Figure | go.Figure,
    *,
    key: str,
    alt: str | None = None,
    height: int | None = None,
    selects: Literal["box", "points"] | None = None,
    ready: bool = False,
    with_files: bool = True,
) -> dict[str, list[dict[str, object]]]:
    """Draws a figure in the house style.

    Args:
        figure: one of the engine's, or any Plotly figure.
        key: of the widget.
        alt: what a person who cannot see it should know; a figure of the engine brings its own.
        height: in pixels; the figure's or the template's when None.
        selects: "box" or "points" to let the visitor select; the page reruns on it.
        ready: the figure wears the house style already and is shared: it is drawn as it is.
        with_files: whether buttons below it save it as a file.

    Returns:
        The selection as {"points": [...], "box": [...]}; empty lists without one.
    """
    if isinstance(figure, Figure):
        alt = alt or figure.alt
    title = (figure.caption if isinstance(figure, Figure) else "") or alt or ""
    drawn: go.Figure = figure if ready else dressed(figure, is_dark=dark(), height=height)
    if selects == "box":
        drawn.update_layout(dragmode="select")
    asked: dict[str, Any] = {} if selects is None else {"on_select": "rerun", "selection_mode": (selects,)}
    got: Any = st.plotly_chart(drawn, theme=None, alt=alt, key=key, config=CONFIG, **asked)
    if with_files:
        figure_files.buttons(key, title)
    chosen = got.get("selection", {}) if asked and got else {}
    return {"points": list(chosen.get("points", [])), "box": list(chosen.get("box", []))}


def show_chart(document: dict[str, Any], *, key: str, alt: str, selects: str | None = None) -> list[dict[str, object]]:
    """Draws a Vega-Lite document, made with Altair, that wears the palette already and has a width of its own.

    Args:
        document: the chart; kept by its page, for making one takes longer than drawing it.
        key: of the widget.
        alt: what a person who cannot see it should know.
        selects: name of the selection on which the page reruns.

    Returns:
        What is selected, one dict a mark; empty without a selection.
    """
    document = document | {"usermeta": {"embedOptions": {"renderer": "svg"}}}  # of many values Streamlit makes a canvas
    if language() in DECIMAL_COMMA:
        document = {**document, "config": {**document.get("config", {}), "locale": {"number": VEGA_COMMA}}}
    asked: dict[str, Any] = {} if selects is None else {"on_select": "rerun", "selection_mode": selects}
    got: Any = st.vega_lite_chart(spec=document, theme=None, width="content", key=key, alt=alt, **asked)
    figure_files.chart_buttons(key, alt, document)
    found = (got.get("selection") or {}).get(selects) if asked and got else None
    return list(found) if isinstance(found, list) else []


def show_multiples(
    make: Callable[[str, int], dict[str, Any]],
    *,
    key: str,
    alt: str,
    across: tuple[int, int],
    selects: str | None = None,
) -> list[dict[str, object]]:
    """Draws small multiples for wide and for narrow windows, for charts of several views do not wrap.

    The style sheet shows one of the two.

    Args:
        make: (wide or narrow, panels in a row) -> Vega-Lite document.
        key: of the widgets.
        alt: what a person who cannot see it should know.
        across: panels in a row of a wide and of a narrow window.
        selects: name of the selection on which the page reruns.

    Returns:
        What has been selected since the last run, in either of the two; empty without a new selection.
    """
    fresh: list[dict[str, object]] = []
    for width, panels in zip(("wide", "narrow"), across, strict=True):
        with st.container(key=f"{width}_{key}"):
            got = show_chart(make(width, panels), key=f"{key}_{width}", alt=alt, selects=selects)
        seen = f"{key}_{width}_seen"
        if got and got != st.session_state.get(seen):
            fresh = got
        st.session_state[seen] = got
    return fresh


def style() -> None:
    """Puts the style sheet on the page, with the colours of the visitor's theme as CSS variables."""
    chosen, light, dim = (asdict(colours) for colours in (palette(), LIGHT, DARK))
    variables = "".join(f"--dp-{name.replace('_', '-')}:{chosen[name]};" for name in chosen)
    # the browser changes the mode at once, and this sheet comes anew when the server finds time
    both = "".join(f"--dp-{name.replace('_', '-')}:light-dark({light[name]},{dim[name]});" for name in chosen)
    at_once = f"@supports (color:light-dark(red,red)){{.stApp{{{both}}}}}"
    sheet, script = ((ASSETS / name).read_text("utf-8") for name in ("style.css", "page.js"))
    sheets = f"<style>:root{{{variables}}}{at_once}{sheet}{_own_words()}</style>"
    spoken = f"document.documentElement.lang = '{language()}'; window.dpComma = {int(language() in DECIMAL_COMMA)};"
    st.html(f"{sheets}<script>{spoken}\n{script}</script>", unsafe_allow_javascript=True)


def _own_words() -> str:
    """Words of Streamlit's own field for files, which no argument of it changes, in the visitor's language."""
    if language() == "en":
        return ""
    field, limit = "[data-testid='stFileUploaderDropzone']", st.get_option("server.maxUploadSize")
    said = {
        f"{field} button p": t("upload.button"),
        f"{field} [data-testid='stFileUploaderDropzoneInstructions'] span": t("upload.limit", size=limit),
    }
    size = "[data-testid='stFileChipName'] + div{display:none}"  # with an English decimal point
    return size + "".join(
        f"{at}{{font-size:0!important;max-width:none!important}}{at}::after{{font-size:14px;white-space:nowrap;content:'{words}'}}"
        for at, words in said.items()
    )


def heading(key: str) -> None:
    """A page's question, large, and one sentence below it."""
    figure_files.from_private(False)
    st.title(t(f"{key}.title"), anchor=False)
    st.html(f"<p class='dp-lead'>{escaped(t(f'{key}.lead'))}</p>")


def lead(text: str) -> None:
    """A sentence that says what the numbers below it mean."""
    st.html(f"<p class='dp-verdict'>{escaped(text)}</p>")


class PageEnd(Exception):
    """Ends a page early. Unlike `st.stop` it lets the side panel be drawn after it."""


def end_page() -> NoReturn:
    """Nothing more belongs on this page."""
    raise PageEnd


def section(text: str) -> None:
    """A heading inside a page, shown as it is: some are names that came from files."""
    st.header(literal(text), anchor=False)


def private_tag() -> None:
    """The tag of panels that read the loaded table: of practice data, which protect nobody, or of private data.

    With private data no table of the page leaves as Streamlit's plain file.
    """
    practice = bool(st.session_state.get(PRACTICE))
    figure_files.from_private(not practice)
    said, kind = escaped(t("tag.practice" if practice else "tag.private")), "practice" if practice else "private"
    hidden = "" if practice else f"<style>{PLAIN_FILE}{{display:none}}</style>"
    st.html(f"{hidden}<span class='dp-tag dp-{kind}'>{said}</span>")


def public_tag() -> None:
    """The tag of panels made from released values alone."""
    figure_files.from_private(False)
    st.html(f"<span class='dp-tag dp-public'>{escaped(t('tag.public'))}</span>")


def not_private(reason: str) -> None:
    """The stamp of a run or schema that gives no guarantee."""
    st.html(f"<div class='dp-stamp' role='alert'><b>{escaped(t('tag.not_private'))}</b> {escaped(reason)}</div>")


def facts(*items: tuple[str, str, str]) -> None:
    """Numbers that decide something, set large: (number, what it is, what to hold it against)."""
    cells = "".join(
        f"<div class='dp-fact'><div class='dp-number'>{escaped(value)}</div>"
        f"<div class='dp-what'>{escaped(what)}</div><div class='dp-note'>{escaped(note)}</div></div>"
        for value, what, note in items
    )
    st.html(f"<div class='dp-facts'>{cells}</div>")


NAMES = 220  # pixels of a column of names in `st.dataframe`: beside it figures are in view on a phone


def table(
    head: list[str], rows: list[list[str]], *, alt: str, numbers: bool = True, shades: list[str] | None = None
) -> None:
    """A table of text as wide as the page, whose cells wrap on a phone; all columns but the first may hold numbers.

    A cell may have a second line, after a line end, in small type. shades: a CSS style per row, empty for none.
    """
    cells = ["".join(f"<th scope='col'>{escaped(h)}</th>" for h in head)]
    for row in rows:
        lines = [escaped(c).split("\n", 1) for c in row]
        texts = [a if not rest else f"{a}<small>{rest[0]}</small>" for a, *rest in lines]
        first, others = texts[0], texts[1:]
        cells.append(f"<th scope='row'>{first}</th>" + "".join(f"<td>{c}</td>" for c in others))
    shown = [f" class='dp-shade' style='{s}'" if s else "" for s in shades or [""] * len(rows)]
    body = "".join(f"<tr{shade}>{c}</tr>" for shade, c in zip(shown, cells[1:], strict=True))
    kind = "dp-table" if numbers else "dp-table dp-words"
    st.html(
        f"<div class='dp-wide'><table class='{kind}' aria-label='{escaped(alt)}'>"
        f"<thead><tr>{cells[0]}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def marked(rows: list[dict[str, Any]] | pd.DataFrame) -> list[dict[str, Any]] | pd.DataFrame | Styler:
    """Rows for `st.dataframe`, whose numbers have the marks of the visitor's language; they still sort as numbers."""
    if language() not in DECIMAL_COMMA:
        return rows
    import pandas as pd

    frame = pd.DataFrame(rows)
    numbers = frame.select_dtypes("number").columns
    years = [c for c in numbers if is_year(str(c), *frame[c].dropna().head(1))]
    shown = frame.style.format(lambda x: "" if pd.isna(x) else local(x, ",.10g"), subset=list(numbers))
    return shown.format("{:g}", na_rep="", subset=years) if years else shown


def digits(shown: Mapping[str, int]) -> dict[str, Any]:
    """How many decimals columns of `st.dataframe` have; `marked` rows bring theirs, for a format would undo them."""
    if language() in DECIMAL_COMMA:
        return {}
    return {name: st.column_config.NumberColumn(format=f"%.{n}f") for name, n in shown.items()}


def note(text: str, kind: str = "note") -> None:
    """Small explanation beside a number; kind: note, warning or alarm."""
    st.html(f"<p class='dp-small dp-{kind}'>{escaped(text)}</p>")
