"""Lab 5: one gradual update of five people by hand."""

import pandas as pd
import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import growing as lesson
from ui.shared.charts import Figure, bars, chart
from ui.shared.text import amount
from ui.shared.theme import hues, palette, table

LAB = Lab("growing")
WORDS = (("low", "high"), ("male", "female"), ("teen", "adult", "old"))  # entries of the catalogue
ALPHAS = (0.5, 1.0, 2.0, 3.0)
COPIES = {"replace": 0.0, "half": 0.5, "duplicate": 1.0}


def shades(people: pd.DataFrame) -> list[str]:
    """A background per record that changed: light for replaced, stronger for copied."""
    colours = palette()
    tints = {"": "", LAB.say("replaced"): f"background: {colours.line}; color: {colours.ink}"}
    strong = f"background: {colours.accent}; color: {colours.on_accent}"
    return [tints.get(how, strong) for how in people[LAB.say("how")]]


def people_table(before: lesson.Codes, after: lesson.Codes) -> pd.DataFrame:
    """The five people in words; an arrow marks what changed."""
    rows = []
    for i in range(before.shape[1]):
        old, new = ([LAB.say(f"{WORDS[j][people[j, i]]}") for j in range(3)] for people in (before, after))
        cells = [a if a == b else f"{a} → {b}" for a, b in zip(old, new, strict=True)]
        changed = sum(a != b for a, b in zip(old, new, strict=True))
        how = LAB.say("replaced") if changed == 1 else ""
        if changed > 1:  # the first record that was there before and is now here too
            twins = [k for k in range(before.shape[1]) if (before[:, k] == after[:, i]).all()]
            how = LAB.say("copied", n=twins[0] + 1) if twins else LAB.say("changed")
        rows.append([f"v{i + 1}", *cells, how])
    names = [LAB.say(f"{n}") for n in ("person", "income", "gender", "age", "how")]
    return pd.DataFrame(rows, columns=names)


def figure(women: int) -> Figure:
    """Men and women among the five: before, after one update, and in the target."""
    colours, out = palette(), chart()
    before = lesson.women(lesson.PEOPLE)
    x = [LAB.say("men"), LAB.say("women")]
    for name, count, colour in (
        ("before", before, hues()[5]),
        ("after", women, colours.accent),
        ("target", 4, colours.real),
    ):
        out.add_trace(bars(x, [5 - count, count], LAB.say(f"{name}"), colour))
    out.update_yaxes(title=LAB.say("people"), range=[0, 5.2], dtick=1)
    return out


def found(alpha: float, fill: str) -> dict[str, str]:
    """What the closing sentences say at these settings."""
    holds, women = lesson.women(lesson.PEOPLE), lesson.women(lesson.grown(alpha, COPIES[fill]))
    lacks = int(lesson.TARGET[3]) - holds
    counts = {"holds": str(holds), "lacks": str(lacks), "women": str(women), "men": str(5 - women)}
    return counts | {"alpha": amount(alpha), "most": amount(min(lacks, alpha * holds))}


def show() -> dict[str, str]:
    """Controls, the five people, and how many of them are women."""
    a, b = st.columns(2, gap="medium")
    alpha, fill = LAB.steps("alpha", ALPHAS, 1.0, at=a), LAB.pick("fill", tuple(COPIES), "half", words="fill_", at=b)
    after, values = lesson.grown(alpha, COPIES[fill]), found(alpha, fill)
    left, right = st.columns([3, 2], gap="large")
    with left:
        people, alt = people_table(lesson.PEOPLE, after), LAB.say("table_alt")
        table(list(people), people.to_numpy().tolist(), alt=alt, numbers=False, shades=shades(people))
        if (after == lesson.PEOPLE).all():
            st.write(LAB.say("reading_same"))
    with right:
        LAB.draw(figure, lesson.women(after), alt=LAB.say("alt", **values), height=300)
    return values
