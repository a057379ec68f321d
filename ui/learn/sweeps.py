"""Lab 34: records fitted to one table of counts after another: error sweep by sweep, and rates that fall."""

import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import growing as lesson
from ui.shared.charts import Figure, chart
from ui.shared.text import local, number
from ui.shared.theme import hues

LAB = Lab("sweeps")
DRAWN = ("errors", "rates")
RECORDS = 4_000  # of the sample, in the runs made beforehand
WAYS = ("mcf", "replace", "duplicate", "s5", "polish")
FALLS = ("step", "exponential", "linear", "square-root")
DASHES = ("dot", "dash", "longdash", "dashdot", "solid")
ENDS = {"errors": 21, "rates": lesson.RATED}  # of the axis of sweeps
TOPS = {"errors": 0.2, "rates": 1.05}


def figure(drawn: str, chosen: tuple[str, ...]) -> Figure:
    """Errors or rates against sweeps; a line keeps its colour whichever others are drawn."""
    out, errors = chart(), drawn == "errors"
    lines = lesson.errors() if errors else lesson.rates()
    for i, name in enumerate(WAYS if errors else FALLS):
        if errors and name not in chosen:
            continue
        first = len(lines["s5"]) if name == "polish" else 1
        x = list(range(first, first + len(lines[name])))
        out.add_trace(LAB.curve(name.replace("-", "_"), x, lines[name], hues()[i], DASHES[i]))
    out.update_xaxes(title=LAB.say("sweeps"), range=[0, ENDS[drawn]])
    out.update_yaxes(title=LAB.say(f"{drawn}_axis"), range=[0, TOPS[drawn]], tickformat=".0%" if errors else ".1f")
    return out


def found() -> dict[str, str]:
    """What the closing sentences say: errors after the last sweep in percent, rates after a hundred."""
    last = {name: local(100 * values[-1], ".1f") for name, values in lesson.errors().items()}
    return last | {name.replace("-", "_"): local(values[-1], ".2f") for name, values in lesson.rates().items()}


def show() -> dict[str, str]:
    """Controls and figure."""
    a, b = st.columns([2, 3], gap="medium")
    drawn, chosen = LAB.pick("draw", DRAWN, "errors", words="draw_", at=a), LAB.several("ways", WAYS, WAYS, at=b)
    values = found()
    alt = LAB.say(f"{drawn}_alt", records=number(RECORDS), **values)
    LAB.draw(figure, drawn, chosen, alt=alt, height=400)
    return values
