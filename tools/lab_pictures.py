"""Draws the thumbnails of the labs from their own figures, without axes: `python -m tools.lab_pictures [LAB ...]`."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

OUT = Path(__file__).resolve().parent.parent / "assets" / "labs"
WIDTH, HEIGHT, ROOM = 120.0, 56.0, 4.0
POINTS, TRACES = 28, 4
COLOURS = ("#2a86b8", "#808b9a", "#c2661a", "#aab3bf")  # seen on a light and on a dark page
PAGE = """
import sys
from importlib import import_module
import streamlit as st
import_module("ui.learn." + st.query_params["lab"]).show()
"""


def main(wanted: list[str]) -> int:
    """Writes one SVG per lab."""
    from ui.learn import LABS

    OUT.mkdir(exist_ok=True)
    for lab in wanted or LABS:
        body = drawn(lab)
        if not body:
            continue
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}">'
        (OUT / f"{lab}.svg").write_text(f"{head}{body}</svg>\n", "utf-8")
    return 0


def drawn(lab: str) -> str:
    """The marks of a lab's first figure; empty where that is no Plotly figure, whose picture is drawn by hand."""
    from streamlit.testing.v1 import AppTest

    page = AppTest.from_string(PAGE, default_timeout=300)
    page.query_params["lab"] = lab
    page.run()
    if page.exception:
        raise RuntimeError(page.exception[0].value)
    figures = page.get("plotly_chart")
    if not figures:
        return ""
    document = json.loads(figures[0].proto.spec)
    layout = document["layout"]
    traces = [t for t in document["data"] if t.get("xaxis", "x") == "x" and t.get("fill") != "toself"][:TRACES]
    if traces[0]["type"] == "heatmap":
        return squares(numbers(traces[0]["z"]))
    return marks(traces, layout.get("xaxis", {}), layout.get("yaxis", {}))


def numbers(values: Any) -> NDArray[np.float64]:
    """A list, or an array as Plotly packs it; words count from 0."""
    if isinstance(values, dict):
        found = np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
        return found.reshape([int(n) for n in values["shape"].split(",")] if "shape" in values else -1).astype(float)
    if values and isinstance(values[0], str):
        order = list(dict.fromkeys(values))
        return np.array([order.index(v) for v in values], dtype=float)
    return np.array(values, dtype=float)


def marks(traces: list[dict[str, Any]], xaxis: dict[str, Any], yaxis: dict[str, Any]) -> str:
    """Lines, dots and bars on axes that hold all of them."""
    found = []
    for trace in traces:
        x, y = numbers(trace["x"]), numbers(trace["y"])
        x = np.log10(np.maximum(x, 1e-12)) if xaxis.get("type") == "log" else x
        y = np.log10(np.maximum(y, 1e-12)) if yaxis.get("type") == "log" else y
        keep = np.isfinite(x) & np.isfinite(y)
        found.append((trace, x[keep], y[keep]))
    xs, ys = np.concatenate([x for _, x, _ in found]), np.concatenate([y for _, _, y in found])
    bars = any(t["type"] == "bar" for t in traces)
    left, right = xaxis.get("range") or (xs.min() - 0.5 * bars, xs.max() + 0.5 * bars)
    low, high = yaxis.get("range") or (min(0.0, ys.min()) if bars else ys.min(), ys.max())
    out = []
    for i, (trace, x, y) in enumerate(found):
        a = ROOM + (x - left) / ((right - left) or 1) * (WIDTH - 2 * ROOM)
        b = HEIGHT - ROOM - (y - low) / ((high - low) or 1) * (HEIGHT - 2 * ROOM)
        seen = (a >= 0) & (a <= WIDTH) & (b >= 0) & (b <= HEIGHT)
        a, b, colour = a[seen], b[seen], COLOURS[i]
        if not len(a):
            continue
        if trace["type"] == "bar":
            wide = (WIDTH - 2 * ROOM) / max(2, len(a)) / (len(traces) + 0.6)
            out += [
                f'<rect x="{p + (i - len(traces) / 2) * wide:.1f}" y="{q:.1f}" width="{wide * 0.86:.1f}" '
                f'height="{HEIGHT - ROOM - q:.1f}" fill="{colour}"/>'
                for p, q in zip(a, b, strict=True)
            ]
            continue
        some = np.unique(np.linspace(0, len(a) - 1, min(len(a), POINTS)).astype(int))
        a, b = a[some], b[some]
        if "lines" in trace.get("mode", "lines") and len(a) > 1:
            path = " ".join(f"{p:.1f},{q:.1f}" for p, q in zip(a, b, strict=True))
            out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        else:
            out += [f'<circle cx="{p:.1f}" cy="{q:.1f}" r="2" fill="{colour}"/>' for p, q in zip(a, b, strict=True)]
    return "".join(out)


def squares(z: NDArray[np.float64]) -> str:
    """A map of squares, darker where the number is larger."""
    rows, across = z.shape
    top, side = np.nanmax(z) or 1.0, (HEIGHT - 2 * ROOM) / rows
    left = (WIDTH - side * across) / 2
    return "".join(
        f'<rect x="{left + j * side:.1f}" y="{ROOM + i * side:.1f}" width="{side * 0.86:.1f}" '
        f'height="{side * 0.86:.1f}" fill="{COLOURS[0]}" fill-opacity="{0.12 + 0.88 * z[i, j] / top:.2f}"/>'
        for i in range(rows)
        for j in range(across)
        if np.isfinite(z[i, j])
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
