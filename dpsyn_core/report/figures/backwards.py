"""Figure of a choice of epsilon: the expected error and what an attacker may gain, above each other, over epsilon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpsyn_core.report.theme import SHARE, Figure

TICKS = [0.01, 0.1, 1, 10, 100]


def choice_figure(
    epsilons: Sequence[float], errors: Sequence[float | None], gains: Sequence[float], *, chosen: float | None,
    error: float | None, gain: float | None, titles: Mapping[str, str], caption: str, alt: str,
) -> Figure:  # fmt: skip
    """Two curves that share the axis of epsilon, with the targets as lines across and the chosen epsilon as one down.

    Args:
        epsilons: rising.
        errors: expected error at each, as a share; None where there is none.
        gains: what an attacker may gain at each, as a share.
        chosen: epsilon that the targets lead to; None: none does.
        error: the target of the error; None: not asked for.
        gain: the target of the gain; None: not asked for.
        titles: words for `epsilon`, `error`, `gain`, `error_hover`, `gain_hover`.
        caption: the finding.
        alt: for a person who cannot see it.
    """
    line = {"type": "scatter", "mode": "lines", "showlegend": False}
    data = [
        {**line, "x": list(epsilons), "y": list(errors), "line": {"color": "@accent", "width": 2.5},
         "name": titles["error"], "hovertemplate": titles["error_hover"]},
        {**line, "x": list(epsilons), "y": list(gains), "yaxis": "y2", "name": titles["gain"],
         "line": {"color": "@warning", "width": 2.5, "dash": "dash"}, "hovertemplate": titles["gain_hover"]},
    ]  # fmt: skip
    across = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "layer": "below"}
    dotted = {"width": 1.4, "dash": "dot"}
    shapes = [
        {**across, "yref": axis, "y0": target, "y1": target, "line": {**dotted, "color": colour}}
        for axis, target, colour in (("y", error, "@accent"), ("y2", gain, "@warning"))
        if target is not None
    ]
    if chosen is not None:
        down = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": chosen, "x1": chosen, "layer": "below"}
        shapes.append({**down, "line": {**dotted, "color": "@ink"}})
    layout = {
        "height": 430,
        "xaxis": {"type": "log", "title": {"text": titles["epsilon"]}, "tickvals": TICKS, "anchor": "y2",
                  "tickformat": "~g"},
        "yaxis": {"domain": [0.55, 1], "title": {"text": titles["error"]}, "tickformat": SHARE, "rangemode": "tozero"},
        "yaxis2": {"domain": [0, 0.45], "title": {"text": titles["gain"]}, "tickformat": SHARE, "range": [0, 0.52],
                   "gridcolor": "@line", "linecolor": "@line", "zerolinecolor": "@line"},
        "shapes": shapes,
        "margin": {"t": 12, "r": 24},
    }  # fmt: skip
    return Figure(data=data, layout=layout, caption=caption, alt=alt)
