"""Missing values: the share of blank cells of each column, real beside synthetic. Reads private data."""

from __future__ import annotations

from collections.abc import Mapping

from dpsyn_core.metrics.comparison import Comparison
from dpsyn_core.metrics.profile import profiles
from dpsyn_core.report.figures.labels import axis_labels, plain_text
from dpsyn_core.report.theme import SERIES, SHARE, Figure
from dpsyn_core.report.words import ENGLISH, Words, local

MOST = 40  # columns that are drawn, those with the largest difference; more cannot be read
LABEL = 28  # characters of a name


def missing_figure(named: Mapping[str, Comparison], words: Words = ENGLISH) -> Figure | None:
    """Bars of blank cells by column; None where no table has any.

    Args:
        named: comparisons with the same real table, by what their synthetic table is called.
        words: of captions, titles and hover texts.
    """
    found = {name: profiles(c) for name, c in named.items()}
    first = next(iter(found.values()))
    columns = [p.column for p in first]
    shares = {words["real"]: [p.real.missing for p in first]}
    shares |= {name: [p.synthetic.missing for p in profile] for name, profile in found.items()}
    some = [i for i in range(len(columns)) if any(s[i] > 0 for s in shares.values())]
    if not some:
        return None
    real = shares[words["real"]]
    gaps = [max(abs(s[i] - real[i]) for s in shares.values()) for i in range(len(columns))]
    worst = max(some, key=lambda i: gaps[i])
    kept = sorted(sorted(some, key=lambda i: -gaps[i])[:MOST])
    labels = axis_labels([columns[i] for i in kept], LABEL, words=words)
    data = [
        {
            "type": "bar", "orientation": "h", "name": plain_text(name), "y": labels, "x": [values[i] for i in kept],
            "marker": {"color": "@real" if k == 0 else SERIES[(k - 1) % len(SERIES)]},
            "hovertemplate": words["missing_hover"],
        }
        for k, (name, values) in enumerate(shares.items())
    ]  # fmt: skip
    caption = words["missing_caption" if len(some) > 1 else "missing_caption_one"].format(
        count=len(some), column=columns[worst], real=local(f"{real[worst]:.1%}", words),
        synthetic=local(f"{first[worst].synthetic.missing:.1%}", words),
    )  # fmt: skip
    layout = {
        "barmode": "group", "height": 110 + 16 * (len(shares) + 1) * len(kept),
        "xaxis": {"title": {"text": words["missing_share"]}, "tickformat": SHARE, "rangemode": "tozero"},
        "yaxis": {"type": "category", "autorange": "reversed", "showgrid": False, "dtick": 1},
    }  # fmt: skip
    return Figure(data=data, layout=layout, caption=caption, alt=words["missing_alt"].format(finding=caption))
