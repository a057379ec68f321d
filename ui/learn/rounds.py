"""Lab 30: MWEM as its theorem has it, as it is used, and the error that the theorem allows."""

import streamlit as st

from ui.learn.controls import epsilon, steps
from ui.learn.kept import tell
from ui.learn.numbers import bounds as lesson
from ui.shared.charts import Figure, chart, curve
from ui.shared.text import local, number, percent, t
from ui.shared.theme import facts, hues, palette


def figure(records: int, rounds: int, eps: float) -> Figure:
    """The largest error by the number of rounds: what the theorem allows, both variants, and plain noise."""
    out = chart()
    lines = (
        ("allowed", [lesson.allowed(records, eps, k) for k in lesson.ROUNDS], palette().warning, "dash"),
        ("basic", [lesson.largest("basic", records, eps, k) for k in lesson.ROUNDS], hues()[2], "dot"),
        ("practical", [lesson.largest("practical", records, eps, k) for k in lesson.ROUNDS], hues()[0], "solid"),
        ("plain", [lesson.plain(records, eps)] * len(lesson.ROUNDS), palette().real, "dashdot"),
    )
    for name, y, colour, dash in lines:
        mode = "lines" if name == "plain" else "lines+markers"
        out.add_trace(curve(lesson.ROUNDS, y, t(f"learn.rounds.{name}"), colour, dash, mode=mode))
    out.add_hline(y=1, line={"color": palette().line})
    out.add_vline(x=rounds, line={"color": palette().line, "dash": "dot"})
    ticks = [str(k) for k in lesson.ROUNDS]
    out.update_xaxes(title=t("learn.rounds.x"), type="log", tickvals=lesson.ROUNDS, ticktext=ticks, range=[-0.05, 1.55])
    out.update_yaxes(title=t("learn.rounds.y"), type="log", tickformat=".3~%", dtick=1, range=[-5.5, 1.4])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    records = int(steps(t("learn.rounds.records"), lesson.RECORDS, 10_000, key="rounds_records", at=a))
    rounds = int(steps(t("learn.rounds.rounds"), lesson.ROUNDS, 8, key="rounds_rounds", at=b))
    eps = epsilon("rounds_epsilon", at=c)
    allowed = lesson.allowed(records, eps, rounds)
    basic, practical = (lesson.largest(v, records, eps, rounds) for v in lesson.VARIANTS)
    plain = lesson.plain(records, eps)
    facts(
        (percent(allowed), t("learn.rounds.allowed"), t("learn.rounds.times", times=local(allowed / practical, ".2g"))),
        (percent(basic), t("learn.rounds.basic"), t("learn.rounds.basic_note")),
        (percent(practical), t("learn.rounds.practical"), t("learn.rounds.plain_is", error=percent(plain, 2))),
    )
    reading = t("learn.rounds.reading", records=number(records), rounds=rounds, allowed=percent(allowed),
        basic=percent(basic), practical=percent(practical), plain=percent(plain, 2))  # fmt: skip
    tell("rounds", reading, figure, records, rounds, eps, height=420)
    st.write(t("learn.rounds.nothing" if allowed >= 1 else "learn.rounds.something"))
