"""Lab 25: what differential privacy does not hide: a conclusion about everybody."""

from textwrap import wrap

import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import bounds as lesson
from ui.shared.charts import Figure, chart, marks
from ui.shared.text import percent
from ui.shared.theme import facts, palette

LAB = Lab("hidden")
PEOPLE = (20, 50, 100, 500, 2_000, 10_000)
SHARES = (10, 20, 40, 60, 80)
BEFORE = 0.05  # what somebody believes of Ann before: the share of the ill in the whole country
DEVIATIONS = 2


def figure(people: int, ill: float, eps: float) -> Figure:
    """What somebody believes of Ann's illness before, after a release with her, and after one without her."""
    colours = palette()
    with_ann, without, spread = lesson.conclusion(people, ill, eps)
    names = ["<br>".join(wrap(LAB.say(k), 14)) for k in ("before", "with", "without")]  # level on a phone
    error = {"type": "data", "array": [0, DEVIATIONS * spread, DEVIATIONS * spread], "color": colours.ink}
    heights, symbols = [BEFORE, with_ann, without], ["circle", "diamond", "square"]
    hue = [colours.real, colours.accent, colours.accent]
    out = chart(marks(names, heights, None, hue, symbols, size=14, error_y=error))
    out.update_yaxes(title=LAB.say("y"), tickformat=".0%", range=[0, 1.05])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    people, ill = LAB.steps("people", PEOPLE, 500, at=a), LAB.steps("ill", SHARES, 40, at=b) / 100
    eps = LAB.epsilon(at=c)
    with_ann, without, spread = lesson.conclusion(people, ill, eps)
    gap = percent(with_ann - without, 2)
    facts(
        (percent(with_ann), LAB.say("with"), LAB.say("noise", spread=percent(spread, 2))),
        (percent(without), LAB.say("without"), LAB.say("difference", gap=gap)),
        (percent(BEFORE), LAB.say("before"), LAB.say("country")),
    )
    reading = LAB.say("reading", before=percent(BEFORE), after=percent(without), gap=gap)
    LAB.tell(reading, figure, people, ill, eps, height=380)
