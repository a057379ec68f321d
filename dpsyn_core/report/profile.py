"""Columns and groups in figures: each column, blank cells, means by group and small groups. Reads private data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import (
    QUANTILES,
    Comparison,
    Figures,
    GroupError,
    group_errors,
    group_variances,
    plain,
    profiles,
)
from dpsyn_core.evaluate import shifts as moved
from dpsyn_core.report import amounts, figures
from dpsyn_core.report.amounts import amount, told_apart
from dpsyn_core.report.figures.labels import axis_labels, plain_text
from dpsyn_core.report.page import number, percent
from dpsyn_core.report.theme import SERIES, SHARE, Figure
from dpsyn_core.report.wording import ENGLISH, Words, dated, local

MOST = 40  # columns that are drawn, those with the largest difference; more cannot be read
LABEL = 28  # characters of a name
BOTH = " / "  # between the real figure and the synthetic one
MOMENT = re.compile(r"[\d.-]+T\d\d:\d\d")  # a day and a time of it, and no word with a T
CELL = 4  # digits of a figure of which two stand in one cell


def missing_figure(named: Mapping[str, Comparison], words: Words = ENGLISH) -> Figure | None:
    """Bars of blank cells by column; None where no table has any.

    Args:
        named: comparisons with the same real table, by what their synthetic table is called.
        words: of captions, titles and hover texts.
    """
    rows = {name: profiles(c) for name, c in named.items()}
    first = next(iter(rows.values()))
    columns = [p.column for p in first]
    shares = {words["real"]: [p.real.missing for p in first]}
    shares |= {name: [p.synthetic.missing for p in profile] for name, profile in rows.items()}
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
            "type": "bar",
            "orientation": "h",
            "name": plain_text(name),
            "y": labels,
            "x": [values[i] for i in kept],
            "marker": {"color": "@real" if k == 0 else SERIES[(k - 1) % len(SERIES)]},
            "hovertemplate": words["missing_hover"],
        }
        for k, (name, values) in enumerate(shares.items())
    ]
    caption = words["missing_caption" if len(some) > 1 else "missing_caption_one"].format(
        count=len(some),
        column=columns[worst],
        real=local(f"{real[worst]:.1%}", words),
        synthetic=local(f"{first[worst].synthetic.missing:.1%}", words),
    )
    layout = {
        "barmode": "group",
        "height": 110 + 16 * (len(shares) + 1) * len(kept),
        "xaxis": {"title": {"text": words["missing_share"]}, "tickformat": SHARE, "rangemode": "tozero"},
        "yaxis": {"type": "category", "autorange": "reversed", "showgrid": False, "dtick": 1},
    }
    return Figure(data=data, layout=layout, caption=caption, alt=words["missing_alt"].format(finding=caption))


def columns_entry(c: Comparison) -> dict[str, Any]:
    """`columns`, `gaps` and `group_variances` as JSON types; nothing without a real table."""
    if c.real is None:
        return {}
    return {
        "columns": [p.plain() | {"quantiles_at": list(QUANTILES)} for p in profiles(c)],
        "gaps": [
            plain(
                {
                    "column": g.column,
                    "category": g.category,
                    "values": g.values,
                    "real": g.real,
                    "synthetic": g.synthetic,
                    "records": g.sizes[0],
                    "kept": g.kept,
                    "moved": g.moved,
                }
            )
            for g in moved.gaps(c)
        ],
        "group_variances": [
            {k: getattr(v, k) for k in ("column", "by", "groups", "real", "synthetic", "fresh", "moved")}
            for v in group_variances(c)
        ],
    }


def profile_rows(c: Comparison, words: Words = ENGLISH) -> list[list[str]]:
    """A row a column, each cell with the real figure and the synthetic one."""
    out = []
    for p in profiles(c):
        r, s, lang = p.real, p.synthetic, words if p.column in c.date_units else ENGLISH
        out.append(
            [
                p.column,
                local(percent(r.missing) + BOTH + percent(s.missing), words),
                local(f"{'≥ ' if r.unlisted else ''}{r.distinct:,}{BOTH}{s.distinct:,}", words),
                both(r.mean, s.mean, words, p.column),
                both(r.deviation, s.deviation, words),
                *(both(_quantile(r, q, lang), _quantile(s, q, lang), words, p.column) for q in (0.0, 0.5, 0.95, 1.0)),
                ", ".join(words[f"profile_{w}"] for w in p.wrong),
            ]
        )
    return out


def both(real: float | str | None, synthetic: float | str | None, words: Words = ENGLISH, of: str = "") -> str:
    """Two figures of a column in one cell, with the digits that tell them apart; a dash for none."""
    if isinstance(real, float) and isinstance(synthetic, float):
        pair = (amount(real, of=of),) * 2 if real == synthetic else told_apart(real, synthetic, of, CELL)
        return local(BOTH.join(pair), words)
    if real is None and synthetic is None:
        return "–"
    if all(isinstance(x, str) and MOMENT.match(x) for x in (real, synthetic)):
        (day, time), (other, later) = (str(x).split("T") for x in (real, synthetic))
        return f"{day} {time[:5]}{BOTH}{later[:5]}" if day == other else day + BOTH + other
    return BOTH.join(
        "–" if x is None else x if isinstance(x, str) else local(amount(x, of=of), words) for x in (real, synthetic)
    )


def _quantile(f: Figures, at: float, words: Words) -> float | str | None:
    value = f.quantiles[QUANTILES.index(at)] if f.quantiles else None
    return dated(value, words) if isinstance(value, str) else value


def gap_rows(c: Comparison, words: Words = ENGLISH) -> list[list[str]]:
    """A row a number, a category and a value: those off by more than chance, then the farthest, lost groups last."""
    rows = []
    for g in moved.gaps(c):
        beyond = g.moved
        for k, value in enumerate(g.values):
            n, m = (int(x) for x in g.sizes[:, k])
            if n < moved.FEWEST:
                continue
            left, right = float(g.real[k]), float(g.synthetic[k])
            real, synth = (amount(left, of=g.column), "–") if m == 0 else told_apart(left, right, g.column)
            far = -1.0 if m == 0 else abs(right - left) / (g.deviation or 1.0)
            text = local(value, words) if g.category in c.synthetic_values else value
            cells = [g.column, g.category, text, *(local(x, words) for x in (f"{n:,}", real, synth))]
            rows.append(((bool(beyond[k]), far), cells))
    return [row for _, row in sorted(rows, key=lambda x: x[0], reverse=True)]


def variance_sentences(c: Comparison, words: Words = ENGLISH) -> list[tuple[str, bool]]:
    """The share of variance between groups of many, in words, and whether it moved beyond chance."""
    out = []
    for v in group_variances(c):
        low, high, real, synth = (local(amounts.percent(x), words) for x in (*v.fresh, v.real, v.synthetic))
        said = words["variance_between"].format(
            column=v.column, by=v.by, groups=v.groups, real=real, synthetic=synth, low=low, high=high
        )
        out.append((said, v.far))
    return out


def gap_sentences(c: Comparison, words: Words = ENGLISH, most: int = 6) -> list[str]:
    """The differences between groups that are not as large as they are, in words, the largest first."""
    off = [(g, g.kept) for g in moved.gaps(c) if g.kept is not None and g.pulled and g.moved.any()]
    off.sort(key=lambda pair: -abs(pair[1] - 1))
    texts = [
        words["gaps_pulled"].format(
            column=g.column, category=g.category, kept=local(amounts.percent(max(0.0, k), 0), words)
        )
        for g, k in off[:most]
    ]
    single = len(moved.groups(c))
    if single:
        means = sum(int((g.sizes[0] >= moved.FEWEST).sum()) for g in moved.gaps(c))
        texts.append(words["gaps_moved"].format(count=local(f"{single:,}", words), all=local(f"{means:,}", words)))
    return texts


def lost_groups(c: Comparison, words: Words = ENGLISH) -> str:
    """The groups of some records that no synthetic record has, as a sentence; empty for none."""
    sizes: dict[tuple[str, str], list[int]] = {}
    for g in moved.gaps(c):
        for value, n, m in zip(g.values, *g.sizes.tolist(), strict=True):
            real, synth = sizes.setdefault((g.category, value), [0, 0])
            sizes[g.category, value] = [max(real, n), max(synth, m)]
    gone = [f"{category} {value}" for (category, value), (n, m) in sizes.items() if n >= moved.FEWEST and not m]
    return words["gaps_lost"].format(least=moved.FEWEST, groups=", ".join(gone)) if gone else ""


def grouping(c: Comparison) -> list[str]:
    """Columns by which records can be grouped: categories first, then other columns of few values."""
    out = []
    for name in sorted(c.domain.names, key=lambda n: c.domain[n].number):
        if 2 <= c.domain[name].size - c.domain[name].special <= 200:
            try:
                group_errors(c, name)
            except MetricError:
                continue
            out.append(name)
    return out


def groups_figure(tables: dict[str, Comparison], name: str, words: Words = ENGLISH) -> Any:
    """A dot a group and table: its size and its error, with the sentence on the smallest and the largest group."""
    every = {table: group_errors(c, name) for table, c in tables.items()}
    text = " ".join(
        (f"{table}: " if len(every) > 1 else "") + groups_sentence(rows, name, words) for table, rows in every.items()
    )
    return figures.group_errors(name, every, text, words)


def groups_sentence(rows: Sequence[GroupError], name: str, words: Words = ENGLISH) -> str:
    """Who pays: the smaller half of the groups against the larger one."""
    if len(rows) < 2:
        return words["groups_one"].format(
            column=name, error=local(percent(rows[0].error), words), floor=local(percent(rows[0].floor), words)
        )
    half = len(rows) // 2
    large, small = rows[: len(rows) - half], rows[len(rows) - half :]
    parts = []
    for part in (small, large):
        n = sum(r.real for r in part)
        parts += [local(percent(sum(getattr(r, k) * r.real for r in part) / n), words) for k in ("error", "floor")]
    return words["groups_two"].format(
        column=name,
        small=len(small),
        most=local(number(small[0].real), words),
        error=parts[0],
        floor=parts[1],
        other=parts[2],
        other_floor=parts[3],
        large=len(large),
    )
