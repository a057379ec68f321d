"""Lab 20: a game: spend one budget on questions about the simulated sample; the score is how right the answers are."""

import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import game as lesson
from ui.shared.charts import Figure, bars, chart
from ui.shared.text import local, number, percent
from ui.shared.theme import facts, hues, note, palette
from ui.shared.theme import show as draw

LAB = Lab("spending")
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
    names, most = [LAB.say(f"short_{q.name}") for q in lesson.QUESTIONS], [q.points for q in lesson.QUESTIONS]
    won = {a.question: a.won for a in answers}
    told = {a.question: LAB.say("told", eps=local(a.epsilon, "g"), won=local(a.won, ".0f")) for a in answers}
    words = {"text": [told.get(q, "") for q in lesson.QUESTIONS], "textposition": "outside", "cliponaxis": False}
    out = chart(
        bars(most, names, LAB.say("possible"), colours.real, orientation="h", marker_opacity=0.45, **words),
        bars([won.get(q, 0.0) for q in lesson.QUESTIONS], names, LAB.say("won"), hues()[0], orientation="h"),
    )
    out.update_layout(barmode="overlay", bargap=0.35)
    out.update_yaxes(autorange="reversed", ticksuffix=" ")
    out.update_xaxes(title=LAB.say("points_axis"), range=[0, 84], dtick=20)
    return out


def show() -> None:
    """The word of the class, one question after the other, and the result as a code."""
    if PLAN not in st.session_state:
        st.session_state[PLAN] = read(st.query_params.get(PLAN, ""))
    if WORD not in st.session_state:
        st.session_state[WORD] = st.query_params.get(WORD, "dpsyn")[:30]
    plan: Plan = st.session_state[PLAN]
    a, b, c = st.columns([3, 5, 4], gap="medium")
    word = a.text_input(LAB.say("word"), key=WORD, max_chars=30, disabled=bool(plan))
    left, asked = lesson.left(plan), {n for n, _ in plan}
    open_ones = [i for i in range(len(lesson.QUESTIONS)) if i not in asked]
    amounts = [e for e in AMOUNTS if e <= left + 1e-9]
    if open_ones and amounts:
        chosen = b.selectbox(LAB.say("question_label"), open_ones, key=ASK, format_func=offered)
        usual = amounts[min(5, len(amounts) - 1)]
        amount = LAB.steps(f"e{len(plan)}", amounts, usual, label=LAB.say("amount"), at=c)
        if st.button(LAB.say("ask", eps=local(amount, "g")), key="spending_ask", type="primary"):
            plan.append((int(chosen or 0), float(amount)))
            st.rerun()
    else:
        b.info(LAB.say("over", best=local(lesson.best_expected(), ".0f")))
    if plan and st.button(LAB.say("anew"), key="spending_anew", type="tertiary"):
        st.session_state[PLAN] = []
        st.rerun()
    st.query_params[PLAN], st.query_params[WORD] = written(plan), word
    for key in [k for k in st.query_params if k.startswith("spending_e")]:
        del st.query_params[key]
    result(lesson.play(word, plan), plan, word, left)


def offered(place: int) -> str:
    """A question with the points that it can win."""
    question = lesson.QUESTIONS[place]
    return LAB.say("option", question=LAB.say(f"ask_{question.name}"), points=question.points)


def result(answers: list[lesson.GameAnswer], plan: Plan, word: str, left: float) -> None:
    """Score, what is left, the code; the figure; the last answer."""
    score, most = local(lesson.score(answers), ".0f"), sum(q.points for q in lesson.QUESTIONS)
    facts(
        (score, LAB.say("score"), LAB.say("of", most=most)),
        (local(left, "g"), LAB.say("left"), LAB.say("limit", limit=local(lesson.LIMIT, "g"))),
    )
    reading = LAB.say("start")
    if answers:
        last = answers[-1]
        counts = {"noisy": number(last.noisy), "truth": number(last.truth), "won": local(last.won, ".0f")}
        asked = {"question": LAB.say(f"ask_{last.question.name}"), "points": last.question.points}
        reading = LAB.say("reading", off=percent(abs(last.noisy - last.truth) / last.truth), **counts, **asked)
    draw(figure(answers), alt=LAB.say("alt", reading=reading), key="spending_plot", height=430)
    st.write(reading)
    if plan:
        note(f"{LAB.say('code')}: {LAB.say('code_note')}")
        st.code(lesson.code(word, plan), language=None, wrap_lines=True)
