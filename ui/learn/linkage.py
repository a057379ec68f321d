"""Lab 21: how many people a table without names still points at, and what k-anonymity leaves open."""

import numpy as np
import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import asking as lesson
from ui.shared.charts import Figure, bars, chart
from ui.shared.text import percent
from ui.shared.theme import facts, palette

LAB = Lab("linkage")
LEAST = (2, 3, 5, 10, 20)
STARTS = (1, 2, 3, 5, 10, 20, 50)  # of the classes of group sizes


def labels() -> list[str]:
    """Classes of sizes in words: 1, 2, 3 to 4, ... 50 and more."""
    ends = [b - 1 for b in STARTS[1:]]
    return [*(str(a) if a == b else f"{a}–{b}" for a, b in zip(STARTS, ends, strict=False)), f"{STARTS[-1]}+"]


def figure(known: tuple[str, ...], band: int, k: int) -> Figure:
    """Share of the people by the size of the group that agrees with them; groups below k stand out."""
    colours, found = palette(), lesson.linked(known, band)
    at = np.searchsorted(STARTS, found.size, side="right") - 1
    share = np.bincount(at, minlength=len(STARTS)) / len(at)
    fill = [colours.warning if start < k else colours.accent for start in STARTS]
    out = chart(bars(labels(), share, None, fill, hovertemplate="%{x}: %{y:.1%}<extra></extra>"))
    out.update_xaxes(title=LAB.say("x"), type="category")
    out.update_yaxes(title=LAB.say("y"), tickformat=".0%", range=[0, 1])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    known = LAB.several("known", lesson.KNOWN, lesson.KNOWN[:3])
    a, b = st.columns(2, gap="medium")
    band, k = LAB.steps("band", lesson.BANDS, 1, at=a), LAB.steps("k", LEAST, 5, at=b)
    found = lesson.linked(known, band)
    alone, below, told = percent(found.below(2)), percent(found.below(k)), percent(found.told(k))
    facts(
        (alone, LAB.say("alone"), LAB.say("alone_note")),
        (below, LAB.say("below", k=k), LAB.say("below_note")),
        (told, LAB.say("told"), LAB.say("told_note", k=k)),
    )
    reading = LAB.say("reading", alone=alone, below=below, k=k, given=told)
    LAB.tell(reading, figure, known, band, k, height=360)
