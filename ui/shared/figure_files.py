"""Files of a figure: every figure leaves as SVG, PNG and CSV, with its title and a source line, made in the browser."""

import csv
import html
import io
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from importlib import resources
from typing import Any

import streamlit as st

from ui.shared.downloads import download
from ui.shared.text import t

KINDS = ("svg", "png", "csv")
FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # first marks of cells that a spreadsheet would compute
READS_PRIVATE = "figures_read_private"  # in the visitor's session: a tag of private data stands above


@lru_cache(maxsize=1)
def _script() -> str:
    return (resources.files("dpsyn_core.report") / "assets" / "figure_files.js").read_text("utf-8")


def from_private(private: bool) -> None:
    """Remembers what the figures that follow are made from; their files say so."""
    st.session_state[READS_PRIVATE] = private


def _source() -> str:
    """The line below a figure: whether it is made from private data."""
    private = st.session_state.get(READS_PRIVATE, False)
    return t("figure_file.source_private" if private else "figure_file.source")


def chart_buttons(key: str, title: str, document: Mapping[str, Any]) -> None:
    """SVG, PNG and CSV of small multiples. document: of Vega-Lite, whose datasets are the table."""
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        buttons(key, title, KINDS[:2])
        _csv_button(key, title, document)


def table_button(key: str, title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """The rows of a table as a CSV that says what it is made from; Streamlit's own file of a table does not."""
    _csv_button(key, title, {"datasets": {"rows": rows}})


def _csv_button(key: str, title: str, document: Mapping[str, Any]) -> None:
    name, content = f"figure-{_plain(key)}.csv", partial(chart_csv, document, title, _source())
    download("CSV", name, content, key=f"{key}_csv", tip=t("figure_file.as", kind="CSV"), kind="tertiary")


def chart_csv(document: Mapping[str, Any], title: str, source: str) -> str:
    """The records of all datasets of a chart, with its title and source above them."""
    records = [record for rows in document.get("datasets", {}).values() for record in rows]
    heads = list(dict.fromkeys(name for record in records for name in record))
    out = io.StringIO()
    out.write("\ufeff")
    lines = csv.writer(out)
    lines.writerows([[f"# {title}"], [f"# {source}"], heads])
    lines.writerows([[_cell(record.get(name, "")) for name in heads] for record in records])
    return out.getvalue()


def _cell(value: object) -> object:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in FORMULAS else value


def buttons(key: str, title: str, kinds: Sequence[str] = KINDS) -> None:
    """Small buttons below a figure. key: of its widget; title: what the file says above it."""
    shared = {
        "data-figure-key": re.sub(r"[^a-zA-Z0-9_-]", "-", key.strip()),
        "data-figure-name": f"figure-{_plain(key)}",
        "data-title": title,
        "data-source": _source(),
    }
    values = " ".join(f"{name}='{html.escape(value, quote=True)}'" for name, value in shared.items())
    row = "".join(
        f"<button type='button' data-figure-file='{kind}' {values} "
        f"aria-label='{html.escape(t('figure_file.as', kind=kind.upper()), quote=True)}'>{kind.upper()}</button>"
        for kind in kinds
    )
    st.html(
        f"<div class='dp-files'>{row}</div><script>{_script()}</script>", unsafe_allow_javascript=True, width="content"
    )


def _plain(key: str) -> str:
    return re.sub(r"[^a-zA-Z0-9]+", "-", key).strip("-").lower() or "1"
