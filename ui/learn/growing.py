"""Lab 5: one gradual update of five people by hand."""

import pandas as pd
import streamlit as st

from ui.learn.controls import pick, steps
from ui.learn.kept import draw
from ui.learn.numbers import growing as lesson
from ui.shared.charts import Figure, bars, chart
from ui.shared.text import amount, t
from ui.shared.theme import hues, palette, table

WORDS = (("low", "high"), ("male", "female"), ("teen", "adult", "old"))  # entries of the catalogue
ALPHAS = (0.5, 1.0, 2.0, 3.0)
COPIES = {"replace": 0.0, "half": 0.5, "duplicate": 1.0}


def shades(people: pd.DataFrame) -> list[str]:
    """A background per record that changed: light for replaced, stronger for copied."""
    colours = palette()
    tints = {"": "", t("learn.growing.replaced"): f"background: {colours.line}; color: {colours.ink}"}
    strong = f"background: {colours.accent}; color: {colours.on_accent}"
    return [tints.get(how, strong) for how in people[t("learn.growing.how")]]


def people_table(before: lesson.Codes, after: lesson.Codes) -> pd.DataFrame:
    """The five people in words; an arrow marks what changed."""
    rows = []
    for i in range(before.shape[1]):
        old, new = ([t(f"learn.growing.{WORDS[j][people[j, i]]}") for j in range(3)] for people in (before, after))
        cells = [a if a == b else f"{a} → {b}" for a, b in zip(old, new, strict=True)]
        changed = sum(a != b for a, b in zip(old, new, strict=True))
        how = t("learn.growing.replaced") if changed == 1 else ""
        if changed > 1:  # the first record that was there before and is now here too
            twins = [k for k in range(before.shape[1]) if (before[:, k] == after[:, i]).all()]
            how = t("learn.growing.copied", n=twins[0] + 1) if twins else t("learn.growing.changed")
        rows.append([f"v{i + 1}", *cells, how])
    names = [t(f"learn.growing.{n}") for n in ("person", "income", "gender", "age", "how")]
    return pd.DataFrame(rows, columns=names)


def figure(women: int) -> Figure:
    """Men and women among the five: before, after one update, and in the target."""
    colours, out = palette(), chart()
    before = lesson.women(lesson.PEOPLE)
    columns = (("before", before, hues()[5]), ("after", women, colours.accent), ("target", 4, colours.real))
    for name, count, colour in columns:
        x = [t("learn.growing.men"), t("learn.growing.women")]
        out.add_trace(bars(x, [5 - count, count], t(f"learn.growing.{name}"), colour))
    out.update_yaxes(title=t("learn.growing.people"), range=[0, 5.2], dtick=1)
    return out


def found(alpha: float, fill: str) -> dict[str, str]:
    """What the closing sentences say at these settings."""
    holds = lesson.women(lesson.PEOPLE)
    lacks = int(lesson.TARGET[3]) - holds
    after = lesson.grown(alpha, COPIES[fill])
    return {
        "alpha": amount(alpha),
        "holds": str(holds),
        "lacks": str(lacks),
        "most": amount(min(lacks, alpha * holds)),
        "women": str(lesson.women(after)),
        "men": str(5 - lesson.women(after)),
    }


def show() -> dict[str, str]:
    """Controls, the five people, and how many of them are women."""
    a, b = st.columns(2, gap="medium")
    alpha = steps(t("learn.growing.alpha"), ALPHAS, 1.0, key="growing_alpha", at=a)
    fill = pick(t("learn.growing.fill"), tuple(COPIES), default="half", key="growing_fill", words="fill_", at=b)
    after = lesson.grown(alpha, COPIES[fill])
    values = found(alpha, fill)
    left, right = st.columns([3, 2], gap="large")
    with left:
        people = people_table(lesson.PEOPLE, after)
        table(
            list(people),
            people.to_numpy().tolist(),
            alt=t("learn.growing.table_alt"),
            numbers=False,
            shades=shades(people),
        )
        if (after == lesson.PEOPLE).all():
            st.write(t("learn.growing.reading_same"))
    with right:
        draw(figure, lesson.women(after), alt=t("learn.growing.alt", **values), key="growing_plot", height=300)
    return values
