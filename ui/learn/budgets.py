"""Lab 14: how the error of a system falls with epsilon, on a table with real shapes."""

import streamlit as st

from dpsyn_core.report import theme
from ui.learn import race
from ui.learn.controls import pick, several, steps
from ui.learn.kept import draw
from ui.learn.numbers import systems as lesson
from ui.shared.access import classroom
from ui.shared.charts import Figure, band, chart, curve, marks
from ui.shared.text import literal, local, percent, t
from ui.shared.theme import facts, hues, palette

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
LIVE = {"tvd-1way": "singles", "tvd-2way": "pairs", "tvd-3way": "triples", "gap": "gap"}  # in a run of lab 9
RUNS = "budgets_live"


def shown(value: float, metric: str) -> str:
    """A share as a percentage, a gap in dollars."""
    return t("learn.dollars", amount=local(value, ",.0f")) if metric == "gap" else percent(value, 2)


def figure(metric: str, chosen: list[str], eps: float, live: list[tuple[str, float, float]]) -> Figure:
    """Error against epsilon, a line a system with a band over repeats; runs made here are marked."""
    colours = palette()
    out = chart()
    for name in chosen:
        i = theme.SYSTEMS[name]
        line, hue = lesson.curve(name, metric), hues()[i]
        out.add_trace(band(line.epsilons, line.low, line.high, None, hue))
        out.add_trace(curve(line.epsilons, line.middle, name, hue, theme.DASHES[i], mode="lines+markers"))
    floor = lesson.fresh(metric)
    ends = [EPSILONS[0], EPSILONS[-1]]
    out.add_trace(curve(ends, [floor, floor], t("learn.budgets.fresh"), colours.real, "dot", width=1.5))
    if live:
        out.add_trace(
            marks(
                [e for _, e, _ in live],
                [v for _, _, v in live],
                t("learn.budgets.live"),
                colours.warning,
                "diamond",
                size=11,
                text=[n for n, _, _ in live],
            )
        )
    out.add_vline(x=eps, line={"color": colours.line, "width": 1.5})
    out.update_xaxes(
        title=t("learn.budgets.x"),
        type="log",
        range=[-1.05, 1.05],
        tickvals=list(EPSILONS),
        ticktext=[local(e, "g") for e in EPSILONS],
    )
    before, after = t("learn.dollars", amount="|").split("|")
    reach = [1, 3] if metric == "gap" else [-3.3, 0]
    form = {"tickprefix": before, "ticksuffix": after} if metric == "gap" else {"tickformat": ".2~%"}
    out.update_yaxes(title=t(f"learn.budgets.{LIVE[metric]}_axis"), type="log", dtick=1, range=reach, **form)
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns([4, 4, 3], gap="medium")
    metric = pick(
        t("learn.budgets.metric"),
        lesson.METRICS,
        default="tvd-2way",
        key="budgets_metric",
        words=lambda m: t(f"learn.budgets.{LIVE[m]}"),
        at=a,
    )
    chosen = several(
        t("learn.race.runners"), lesson.SYSTEMS, ("rls", "mst", "independent"), key="budgets_systems", at=b
    )
    eps = steps(t("learn.epsilon"), EPSILONS, 1.0, key="budgets_epsilon", at=c)
    if not chosen:
        st.info(t("learn.budgets.none"))
        return
    live = extended(chosen, eps, metric)
    best = min(chosen, key=lambda name: float(lesson.curve(name, metric).middle[EPSILONS.index(eps)]))
    line, place = lesson.curve(best, metric), EPSILONS.index(eps)
    floor = lesson.fresh(metric)
    need = lesson.epsilon_for(best, metric, floor)
    facts(
        (
            shown(float(line.middle[place]), metric),
            t("learn.budgets.best", system=best),
            t(
                "learn.budgets.band",
                low=shown(float(line.low[place]), metric),
                high=shown(float(line.high[place]), metric),
            ),
        ),
        (shown(floor, metric), t("learn.budgets.floor"), t("learn.budgets.floor_note")),
        (
            t("learn.budgets.never") if need is None else local(need, ".2g"),
            t("learn.budgets.need", system=best),
            t("learn.budgets.need_note"),
        ),
    )
    reading = t(
        "learn.budgets.reading",
        eps=local(eps, "g"),
        system=best,
        error=shown(float(line.middle[place]), metric),
        floor=shown(floor, metric),
        least=shown(float(line.middle[0]), metric),
        most=shown(float(line.middle[-1]), metric),
    )
    draw(
        figure, metric, chosen, eps, live, of=(metric, tuple(chosen), eps, tuple(live)),
        alt=t("learn.budgets.alt", reading=reading), key="budgets_plot", height=430,
    )  # fmt: skip
    st.write(literal(reading))


def extended(chosen: list[str], eps: float, metric: str) -> list[tuple[str, float, float]]:
    """Runs made by a press, of the systems that are shown: (system, epsilon, error). A class looks on."""
    if classroom():
        return []
    made: list[tuple[str, float, int]] = st.session_state.setdefault(RUNS, [])
    runnable = [s for s in chosen if s in race.RUNNERS]
    if st.button(t("learn.budgets.run", system=runnable[0], eps=local(eps, "g")), key="budgets_run"):
        made.append((runnable[0], eps, len(made) + 1))
    gap = race.truth()[0] if made and metric == "gap" else 0.0
    out = []
    for system, at, turn in made:
        with st.spinner(t("learn.race.now", system=system)):
            got = race.run(system, at, turn)
        out.append((system, at, abs(float(got[LIVE[metric]]) - gap)))
    return [row for row in out if row[0] in chosen]
