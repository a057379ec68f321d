"""Lab 30: MWEM as its theorem has it, as it is used, and the error that the theorem allows."""

import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import bounds as lesson
from ui.shared.charts import Figure
from ui.shared.text import local, number, percent
from ui.shared.theme import facts, hues, palette

LAB = Lab("rounds")


def figure(records: int, rounds: int, eps: float) -> Figure:
    """The largest error by the number of rounds: what the theorem allows, both variants, and plain noise."""
    colours = palette()
    allowed = [lesson.allowed(records, eps, k) for k in lesson.ROUNDS]
    basic, practical = ([lesson.largest(v, records, eps, k) for k in lesson.ROUNDS] for v in lesson.VARIANTS)
    plain = [lesson.plain(records, eps)] * len(lesson.ROUNDS)
    lines = ("allowed", allowed, colours.warning, "dash"), ("basic", basic, hues()[2], "dot")
    out = LAB.curves(lesson.ROUNDS, *lines, ("practical", practical, hues()[0], "solid"), mode="lines+markers")
    out.add_trace(LAB.curve("plain", lesson.ROUNDS, plain, colours.real, "dashdot"))
    out.add_hline(y=1, line={"color": colours.line})
    out.add_vline(x=rounds, line={"color": colours.line, "dash": "dot"})
    ticks = [str(k) for k in lesson.ROUNDS]
    out.update_xaxes(title=LAB.say("x"), type="log", tickvals=lesson.ROUNDS, ticktext=ticks, range=[-0.05, 1.55])
    out.update_yaxes(title=LAB.say("y"), type="log", tickformat=".3~%", dtick=1, range=[-5.5, 1.4])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    records, rounds = LAB.steps("records", lesson.RECORDS, 10_000, at=a), LAB.steps("rounds", lesson.ROUNDS, 8, at=b)
    eps = LAB.epsilon(at=c)
    most = lesson.allowed(records, eps, rounds)
    worst, used = (lesson.largest(v, records, eps, rounds) for v in lesson.VARIANTS)
    allowed, basic, practical = percent(most), percent(worst), percent(used)
    plain = percent(lesson.plain(records, eps), 2)
    facts(
        (allowed, LAB.say("allowed"), LAB.say("times", times=local(most / used, ".2g"))),
        (basic, LAB.say("basic"), LAB.say("basic_note")),
        (practical, LAB.say("practical"), LAB.say("plain_is", error=plain)),
    )
    said = {"allowed": allowed, "basic": basic, "practical": practical, "plain": plain}
    reading = LAB.say("reading", records=number(records), rounds=rounds, **said)
    LAB.tell(reading, figure, records, rounds, eps, height=420)
    st.write(LAB.say("nothing" if most >= 1 else "something"))
