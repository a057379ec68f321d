"""Lab 20: a game: spend one budget on questions about the simulated sample; the score is how right the answers are."""

import streamlit as st

from ui.learn.controls import steps
from ui.learn.numbers import game as lesson
from ui.shared.charts import Figure, bars, chart
from ui.shared.text import local, number, percent, t
from ui.shared.theme import facts, hues, note, palette
from ui.shared.theme import show as draw

PLAN, WORD, ASK = "spending_plan", "spending_word", "spending_question"
AMOUNTS = (0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)
Plan = list[tuple[int, float]]


def written(plan: Plan) -> str:
    """A plan as it stands in the link: question x hundredths of epsilon."""
    return "-".join(f"{n}x{round(e / lesson.STEP)}" for n, e in plan)


def read(text: str) -> Plan:
    """The plan of a link; none when it breaks the rules."""
    try:
        plan = [(int(n), round(int(e) * lesson.STEP, 10)) for n, e in (part.split("x") for part in text.split("-"))]
        lesson.play("", plan)
    except ValueError:
        return []
    return plan


def figure(answers: list[lesson.GameAnswer]) -> Figure:
    """Points of every question: those that could be won, and those that were."""
    colours = palette()
    names = [t(f"learn.spending.short_{q.name}") for q in lesson.QUESTIONS]
    won = {a.question.name: a for a in answers}
    got = [won[q.name].won if q.name in won else 0.0 for q in lesson.QUESTIONS]
    told = [
        t("learn.spending.told", eps=local(won[q.name].epsilon, "g"), won=local(won[q.name].won, ".0f"))
        if q.name in won
        else ""
        for q in lesson.QUESTIONS
    ]
    most, words = [q.points for q in lesson.QUESTIONS], {"text": told, "textposition": "outside", "cliponaxis": False}
    possible = t("learn.spending.possible")
    out = chart(
        bars(most, names, possible, colours.real, orientation="h", marker_opacity=0.45, **words),
        bars(got, names, t("learn.spending.won"), hues()[0], orientation="h"),
    )
    out.update_layout(barmode="overlay", bargap=0.35)
    out.update_yaxes(autorange="reversed", ticksuffix=" ")
    out.update_xaxes(title=t("learn.spending.points_axis"), range=[0, 84], dtick=20)
    return out


def show() -> None:
    """The word of the class, one question after the other, and the result as a code."""
    if PLAN not in st.session_state:
        st.session_state[PLAN] = read(st.query_params.get(PLAN, ""))
    if WORD not in st.session_state:
        st.session_state[WORD] = st.query_params.get(WORD, "dpsyn")[:30]
    plan: Plan = st.session_state[PLAN]
    a, b, c = st.columns([3, 5, 4], gap="medium")
    word = a.text_input(t("learn.spending.word"), key=WORD, max_chars=30, disabled=bool(plan))
    left = lesson.left(plan)
    asked = {n for n, _ in plan}
    open_ones = [i for i in range(len(lesson.QUESTIONS)) if i not in asked]
    amounts = [e for e in AMOUNTS if e <= left + 1e-9]
    if open_ones and amounts:
        number_of = b.selectbox(
            t("learn.spending.question_label"),
            open_ones,
            key=ASK,
            format_func=lambda i: t(
                "learn.spending.option",
                question=t(f"learn.spending.ask_{lesson.QUESTIONS[i].name}"),
                points=lesson.QUESTIONS[i].points,
            ),
        )
        amount = steps(
            t("learn.spending.amount"), amounts, amounts[min(5, len(amounts) - 1)], key=f"spending_e{len(plan)}", at=c
        )
        if st.button(t("learn.spending.ask", eps=local(amount, "g")), key="spending_ask", type="primary"):
            plan.append((int(number_of or 0), float(amount)))
            st.rerun()
    else:
        b.info(t("learn.spending.over", best=local(lesson.best_expected(), ".0f")))
    if plan and st.button(t("learn.spending.anew"), key="spending_anew", type="tertiary"):
        st.session_state[PLAN] = []
        st.rerun()
    st.query_params[PLAN], st.query_params[WORD] = written(plan), word
    for key in [k for k in st.query_params if k.startswith("spending_e")]:
        del st.query_params[key]
    answers = lesson.play(word, plan)
    result(answers, plan, word, left)


def result(answers: list[lesson.GameAnswer], plan: Plan, word: str, left: float) -> None:
    """Score, what is left, the code; the figure; the last answer."""
    points = lesson.score(answers)
    facts(
        (
            local(points, ".0f"),
            t("learn.spending.score"),
            t("learn.spending.of", most=sum(q.points for q in lesson.QUESTIONS)),
        ),
        (local(left, "g"), t("learn.spending.left"), t("learn.spending.limit", limit=local(lesson.LIMIT, "g"))),
    )
    reading = t("learn.spending.start")
    if answers:
        last = answers[-1]
        reading = t(
            "learn.spending.reading",
            question=t(f"learn.spending.ask_{last.question.name}"),
            noisy=number(last.noisy),
            truth=number(last.truth),
            off=percent(abs(last.noisy - last.truth) / last.truth),
            won=local(last.won, ".0f"),
            points=last.question.points,
        )
    draw(figure(answers), alt=t("learn.spending.alt", reading=reading), key="spending_plot", height=430)
    st.write(reading)
    if plan:
        note(f"{t('learn.spending.code')}: {t('learn.spending.code_note')}")
        st.code(lesson.code(word, plan), language=None, wrap_lines=True)
