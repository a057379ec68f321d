"""Lab 14: how the error of a system falls with epsilon, on a table with real shapes."""

from typing import Any

import streamlit as st

from dpsyn_core.report import theme
from ui.learn import race
from ui.learn.lab import Lab
from ui.learn.numbers import systems as lesson
from ui.shared.access import classroom
from ui.shared.charts import Figure, band, chart, curve, marks
from ui.shared.text import literal, local, percent, t
from ui.shared.theme import facts, hues, palette

LAB = Lab("budgets")
LIVE = {"tvd-1way": "singles", "tvd-2way": "pairs", "tvd-3way": "triples", "gap": "gap"}  # in a run of lab 9
RUNS = "budgets_live"
Run = tuple[str, float, float]  # made here: system, epsilon, error


def shown(value: float, metric: str) -> str:
    """A share as a percentage, a gap in dollars."""
    return t("learn.dollars", amount=local(value, ",.0f")) if metric == "gap" else percent(value, 2)


def figure(metric: str, chosen: tuple[str, ...], eps: float, live: tuple[Run, ...]) -> Figure:
    """Error against epsilon, a line a system with a band over repeats; runs made here are marked."""
    colours, out, floor = palette(), chart(), lesson.fresh(metric)
    for name in chosen:
        i = theme.SYSTEMS[name]
        line, hue = lesson.curve(name, metric), hues()[i]
        out.add_trace(band(line.epsilons, line.low, line.high, None, hue))
        out.add_trace(curve(line.epsilons, line.middle, name, hue, theme.DASHES[i], mode="lines+markers"))
    ends = [lesson.EPSILONS[0], lesson.EPSILONS[-1]]
    out.add_trace(LAB.curve("fresh", ends, [floor, floor], colours.real, "dot", width=1.5))
    if live:
        systems, x, y = zip(*live, strict=True)
        out.add_trace(marks(x, y, LAB.say("live"), colours.warning, "diamond", size=11, text=systems))
    out.add_vline(x=eps, line={"color": colours.line, "width": 1.5})
    ticks: dict[str, Any] = {"tickvals": lesson.EPSILONS, "ticktext": [local(e, "g") for e in lesson.EPSILONS]}
    out.update_xaxes(title=LAB.say("x"), type="log", range=[-1.05, 1.05], **ticks)
    before, after = t("learn.dollars", amount="|").split("|")
    gaps = {"range": [1, 3], "tickprefix": before, "ticksuffix": after}
    form = gaps if metric == "gap" else {"range": [-3.3, 0], "tickformat": ".2~%"}
    out.update_yaxes(title=LAB.say(f"{LIVE[metric]}_axis"), type="log", dtick=1, **form)
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns([4, 4, 3], gap="medium")
    metric = LAB.pick("metric", lesson.METRICS, "tvd-2way", words=lambda m: LAB.say(LIVE[m]), at=a)
    runners, usual = t("learn.race.runners"), ("rls", "mst", "independent")
    chosen = LAB.several("systems", lesson.SYSTEMS, usual, words=str, label=runners, at=b)
    eps = LAB.epsilon(1.0, lesson.EPSILONS, at=c)
    if not chosen:
        st.info(LAB.say("none"))
        return
    live, place = extended(chosen, eps, metric), lesson.EPSILONS.index(eps)
    best = min(chosen, key=lambda name: float(lesson.curve(name, metric).middle[place]))
    line, fresh = lesson.curve(best, metric), lesson.fresh(metric)
    error, low, high, least, most, floor = (
        shown(float(value), metric)
        for value in (line.middle[place], line.low[place], line.high[place], line.middle[0], line.middle[-1], fresh)
    )
    need = lesson.epsilon_for(best, metric, fresh)
    enough = LAB.say("never") if need is None else local(need, ".2g")
    facts(
        (error, LAB.say("best", system=best), LAB.say("band", low=low, high=high)),
        (floor, LAB.say("floor"), LAB.say("floor_note")),
        (enough, LAB.say("need", system=best), LAB.say("need_note")),
    )
    errors = {"error": error, "floor": floor, "least": least, "most": most}
    reading = LAB.say("reading", eps=local(eps, "g"), system=best, **errors)
    LAB.draw(figure, metric, chosen, eps, live, alt=LAB.say("alt", reading=reading), height=430)
    st.write(literal(reading))


def extended(chosen: tuple[str, ...], eps: float, metric: str) -> tuple[Run, ...]:
    """Runs made by a press, of the systems that are shown. A class looks on."""
    if classroom():
        return ()
    made: list[tuple[str, float, int]] = st.session_state.setdefault(RUNS, [])
    first = next(s for s in chosen if s in race.RUNNERS)
    if st.button(LAB.say("run", system=first, eps=local(eps, "g")), key="budgets_run"):
        made.append((first, eps, len(made) + 1))
    gap = race.truth()[0] if made and metric == "gap" else 0.0
    out = []
    for system, at, turn in made:
        with st.spinner(t("learn.race.now", system=system)):
            got = race.run(system, at, turn)
        out.append((system, at, abs(float(got[LIVE[metric]]) - gap)))
    return tuple(row for row in out if row[0] in chosen)
