"""Incomes: Gini index and pay gap by group, real and synthetic, with their ranks."""

from typing import Any

import streamlit as st

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import Comparison, Score
from dpsyn_core.questions import MONEY, find
from dpsyn_core.report import build
from ui.report.look import Look
from ui.shared.text import capital, field, figure_words, literal, local, number, sentence, t
from ui.shared.theme import facts, marked, note, section, show

MOST_GROUPS = 30  # values of a column that is offered first as groups


def panel(view: Look) -> None:
    """Roles first, then the two quantities by group."""
    roles = _roles(view)
    if roles.get("income") is None:
        note(t("incomes.which"))
        return
    chosen = view.with_roles(**roles)
    if chosen is None:
        return
    left, right = st.columns(2, gap="large")
    with left:
        section(t("incomes.gini"))
        if _below_zero(chosen.first.comparison, chosen.first.comparison.resolved.income):
            note(t("incomes.below_zero"), "warning")
        _quantity(chosen, "gini", "gini")
    with right:
        section(capital(t("incomes.gap")))
        _quantity(chosen, "pay-gap", "gap")


def _roles(view: Look) -> dict[str, Any]:
    c = view.first.comparison
    guessed = c.resolved
    names = [n for n in c.domain.names if n not in c.real_dates]  # a date is no income, and has many values
    readable = [n for n in names if c.readable(n)]
    *columns, last = st.columns(4)
    out: dict[str, Any] = {}
    declared, offered = _declared(view), {"income": readable, "group": names, "split": names}
    for column, (role, options) in zip(columns, offered.items(), strict=True):
        left = [n for n in options if n not in out.values()]  # a column stands for one thing
        if not left:
            continue
        with column:
            wanted = (declared.get(role), getattr(guessed, role), *_usual(c, role))
            taken = guessed.split if role == "group" else None  # sex names two sides before it names groups
            first = next((left.index(n) for n in wanted if n in left and n != taken), None if role == "income" else 0)
            key, said = view.key(f"role_{role}"), t("questions.choose")
            out[role] = st.selectbox(t(f"incomes.{role}"), left, first, key=key, placeholder=said)
    more = {"key": "role_limit", "placeholder": t("incomes.none"), "format": "%g"} | field("incomes.limit")
    return out | {"not_applicable": last.number_input(value=guessed.not_applicable, **more)}


def _usual(c: Comparison, role: str) -> list[str]:
    """Columns to begin with where no header names the role: amounts of money, or categories of few values."""
    if role == "income":  # of a mileage or a temperature neither figure tells anything
        money = find(MONEY, [a.name for a in c.domain.attributes if a.number])
        return [] if money is None else [money]
    return [a.name for a in c.domain.attributes if not c.numeric(a.name) and 2 <= a.size - a.special <= MOST_GROUPS]


def _below_zero(c: Comparison, name: str | None) -> bool:
    """Whether numbers below 0 are possible by the schema."""
    return c.bounds.get(name or "", (0.0, 0.0))[0] < 0


def _declared(view: Look) -> dict[str, str]:
    """The columns of the first gap that the run was asked for, else of the first inequality."""
    asked = (view.first.job.spec.questions or {}).get("questions", [])
    gap: dict[str, Any] = next((q for kind in ("gap", "gini") for q in asked if q["kind"] == kind), {})
    found = {"income": [gap.get("of")], "group": gap.get("by"), "split": list(gap.get("between", ()))}
    return {role: names[0] for role, names in found.items() if names and names[0]}


def _quantity(view: Look, metric: str, what: str) -> None:
    got = view.score(view.first, metric)
    if isinstance(got, MetricError):
        st.warning(literal(sentence(got)))
        return
    if metric == "gini":
        real, made = (local(got.details["overall"][side], ".3f") for side in ("real", "synthetic"))
        facts((made, t("incomes.gini_synthetic"), t("incomes.gini_real", real=real)))
    else:
        facts((local(got.value, ".2f"), t("incomes.rank"), _beside(got)))
    scores = {view.name(s) if len(view.sides) > 1 else t("word.synthetic"): view.score(s, metric) for s in view.sides}
    known = {name: score for name, score in scores.items() if not isinstance(score, MetricError)}
    title, digits = t(f"incomes.{what}"), ".2f" if what == "gini" else ",.0f"
    figure = build.groups(known, what, title=title, tickformat=digits, words=figure_words())
    show(figure, key=f"income_{what}")
    note(_found(got, what))
    with st.expander(t("incomes.table")):
        shown = marked([_row(r, what) for r in got.details["groups"]])
        st.dataframe(shown, hide_index=True, key=f"income_table_{what}", alt=t("incomes.table"))


def _found(got: Score, what: str) -> str:
    """The finding of one of the two figures, as a sentence."""
    if what == "gap":
        return t("incomes.said_gap", group=got.details["group"], value=local(got.value, ".2f"))
    overall = {k: local(v, ".3f") for k, v in got.details["overall"].items()}
    return t("incomes.said_gini", income=got.details["income"], off=local(got.value, ".3f"), **overall)


def _beside(got: Score) -> str:
    """The two sides; how many groups of what sizes; and the agreement that fresh samples of the people would have."""
    a, b = got.details["sides"]
    said = [t("incomes.sides", a=a, b=b)]
    sizes = [r["records_real"] for r in got.details["groups"] if "records_real" in r]
    if got.details["fresh_agreement"] is not None:
        low, high = (local(x, ".2f") for x in got.details["fresh_agreement"])
        least, most = number(min(sizes)), number(max(sizes))
        said.append(t("incomes.fresh", count=len(sizes), least=least, most=most, low=low, high=high))
    return "; ".join(said)


def _row(r: dict[str, Any], what: str) -> dict[str, Any]:
    """A group: its records, the quantity in both tables, and by pay gap its ranks with those of fresh samples."""
    records = r.get("records_real", r["size_real"]) if what == "gap" else r["size_real"]
    row = {
        t("incomes.column_group"): r["group"],
        t("incomes.records"): records,
        t("word.real"): _round(r[f"{what}_real"], what),
        t("word.synthetic"): _round(r[f"{what}_synthetic"], what),
    }
    if what == "gap":
        low, high = r.get("rank_fresh", (None, None))
        row |= {
            t("incomes.rank_real"): r.get("rank_real"),
            t("incomes.rank_synthetic"): r.get("rank_synthetic"),
            t("incomes.rank_fresh"): "" if low is None else t("incomes.to", low=low, high=high),
        }
    return row


def _round(value: float | None, what: str) -> float | None:
    return None if value is None else round(value, 3 if what == "gini" else 1)
