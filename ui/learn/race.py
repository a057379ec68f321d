"""Lab 9: the same budget spent by different systems on the simulated sample."""

import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import pandas as pd
import streamlit as st

from dpsyn_core.evaluate import Score, compare_tables, compute
from dpsyn_core.report import Measure, systems_chart
from dpsyn_core.runs import synthesize
from dpsyn_core.schema import Schema, sample_schema, sample_table
from ui.learn.lab import Lab
from ui.learn.numbers import systems as lesson
from ui.learn.numbers.systems import EPSILONS, pay_gap
from ui.shared.access import classroom
from ui.shared.text import amount, language, local, percent, t
from ui.shared.theme import dark, marked, note, show_multiples, tokens

LAB = Lab("race")
RUNNERS = ("rls", "dpsyn", "privsyn", "mst", "privbayes", "field-groups", "independent")
PURE = {"privbayes", "field-groups"}
DELTA = 1e-9
BEFOREHAND = ("rls", "dpsyn", "independent")  # systems that are drawn first
ALONE = "independent"  # measures no pairs
LEDGER = "classroom sample"  # no real person is in the sample; the spend is recorded for practice
RARE = ("RACE", "Chinese")


def rare_records(table: Any) -> int:
    """Records of the rare group."""
    return int((table.column(RARE[0]).to_pandas() == RARE[1]).sum())


def schema_for(system: str, n: int) -> Schema:
    """The sample's schema; privbayes needs replace neighbours and a public number of records."""
    schema = sample_schema()
    if system != "privbayes":
        return schema
    return schema.model_copy(update={"unit": schema.unit.model_copy(update={"neighbours": "replace"}), "n_records": n})


@st.cache_data(show_spinner=False, max_entries=100)
def run(system: str, eps: float, turn: int) -> dict[str, Any]:
    """One run: distances of columns, pairs, triples; seconds; a pay gap in dollars; records of a rare group.

    `turn` tells repetitions apart. Cached for all: the sample is public.
    """
    real, delta = sample_table(), 0.0 if system in PURE else DELTA
    schema = schema_for(system, real.num_rows)
    start = time.perf_counter()
    made = synthesize(real, schema, epsilon=eps, delta=delta, rng=turn, method=system, dataset=LEDGER).arrow
    seconds = time.perf_counter() - start
    scores = compute(compare_tables(schema, made, real), ["tvd-1way", "tvd-2way", "tvd-3way"])
    shares = (s.value if isinstance(s, Score) else float("nan") for s in scores.values())
    found = dict(zip(("singles", "pairs", "triples"), shares, strict=True))
    return found | {"system": system, "seconds": seconds, "gap": pay_gap(made), "rare": rare_records(made)}


def measures(rows: list[dict[str, Any]]) -> list[Measure]:
    """What systems are compared by, each beside the real table, or what a fresh sample of people would score."""
    gap, rare, floor = truth()
    of = {what: {r["system"]: float(r[what]) for r in rows} for what in ("pairs", "triples", "gap", "rare")}
    return [
        Measure(name=LAB.say("pairs_title"), values=of["pairs"], mark=floor, format="~%"),
        Measure(name=LAB.say("triples_title"), values=of["triples"], format="~%"),
        Measure(name=LAB.say("gap_title"), values=of["gap"], mark=gap, format=",~r"),
        Measure(name=LAB.say("rare_title"), values=of["rare"], mark=rare, format=",~r"),
    ]


@st.cache_data(show_spinner=False)
def truth() -> tuple[float, int, float]:
    """The sample's own pay gap and rare group, and what a fresh sample would score on pairs."""
    real = sample_table()
    score = compute(compare_tables(sample_schema(), real, real), ["tvd-2way"])["tvd-2way"]
    return pay_gap(real), rare_records(real), float(score.floor or 0.0) if isinstance(score, Score) else 0.0


def middles(metric: str, eps: float, systems: Sequence[str] = lesson.SYSTEMS) -> dict[str, float]:
    """The error of systems in the runs made beforehand."""
    return {name: float(lesson.curve(name, metric).middle[EPSILONS.index(eps)]) for name in systems}


def small_groups(eps: float, systems: Sequence[str]) -> dict[str, float]:
    """The error of their small groups."""
    return {name: float(lesson.by_class(name, eps, "count")[1]) for name in systems}


def _shares(**values: float) -> dict[str, str]:
    return {name: local(100 * value, ".1f") for name, value in values.items()}


def _said(pairs: Mapping[str, float], floor: float) -> str:
    """Which system has the best pairs."""
    best = min(pairs, key=pairs.__getitem__)
    return LAB.say("alt", best=best, **_shares(pairs=pairs[best], floor=floor))


def _kept(eps: float, chosen: tuple[str, ...]) -> None:
    """The comparison from runs made beforehand, in which nothing is spent."""
    if not chosen:
        st.info(t("learn.composition.none"))
        return
    alt = _said(middles("tvd-2way", eps, chosen), lesson.fresh("tvd-2way"))
    show_multiples(lambda _, across: chart(eps, chosen, across, dark(), language()), key="race", alt=alt, across=(2, 1))
    note(LAB.say("beforehand"))


def found(eps: float) -> dict[str, str]:
    """What the closing sentence says: of all runs made beforehand, whichever are drawn."""
    pairs, gaps = middles("tvd-2way", eps), middles("gap", eps, [s for s in lesson.SYSTEMS if s != ALONE])
    small, fresh = small_groups(eps, lesson.SYSTEMS).values(), small_groups(eps, [lesson.FRESH])[lesson.FRESH]
    best, worst = (choose(pairs, key=pairs.__getitem__) for choose in (min, max))
    keeper, loser = (choose(gaps, key=gaps.__getitem__) for choose in (min, max))
    dollars = {"gap": truth()[0], "kept": gaps[keeper], "lost": gaps[loser]}
    shares = _shares(pairs=pairs[best], worst_pairs=pairs[worst], small=min(small), large=max(small), fresh=fresh)
    names = {"eps": amount(eps), "best": best, "worst": worst, "keeper": keeper, "loser": loser}
    return names | shares | {name: local(value, ".0f") for name, value in dollars.items()}


@lru_cache(maxsize=200)
def chart(eps: float, chosen: tuple[str, ...], across: int, is_dark: bool, words: str) -> dict[str, Any]:
    """The comparison as a document; kept, for a class looks at the same few. `words` tells languages apart."""
    shown = (("pairs_title", "tvd-2way", "~%"), ("triples_title", "tvd-3way", "~%"), ("gap_error", "gap", ",~r"))
    compared = [
        Measure(name=LAB.say(title), values=middles(metric, eps, chosen), mark=lesson.fresh(metric), format=form)
        for title, metric, form in shown
    ]
    small, fresh = small_groups(eps, chosen), small_groups(eps, [lesson.FRESH])[lesson.FRESH]
    return _drawn(
        [*compared, Measure(name=LAB.say("small_title"), values=small, mark=fresh, format="~%")], across, is_dark
    )


def _drawn(compared: list[Measure], across: int, is_dark: bool) -> dict[str, Any]:
    words = {"system": LAB.say("system"), "mark": LAB.say("mark")}
    return systems_chart(compared, across=across, palette=tokens(is_dark), **words)


def show() -> dict[str, str]:
    """Epsilon and systems; the runs made beforehand, and new ones where somebody presses for them."""
    a, b = st.columns([1, 2], gap="medium")
    eps = LAB.epsilon(1.0, EPSILONS, at=a)
    chosen = LAB.several("runners", lesson.SYSTEMS if classroom() else RUNNERS, BEFOREHAND, words=str, at=b)
    _kept(eps, tuple(name for name in chosen if name in lesson.SYSTEMS))
    if not classroom():
        turn = int(st.session_state.get("race_turn", 0))
        if st.button(LAB.say("start"), key="race_start", disabled=not chosen):
            turn += 1
            st.session_state["race_turn"] = turn
        if turn and chosen:
            _live(eps, chosen, turn)
    return found(eps)


def _live(eps: float, chosen: tuple[str, ...], turn: int) -> None:
    """New runs, each of which spends the budget once on the simulated sample."""
    rows = []
    with st.status(LAB.say("running"), expanded=False) as status:
        for system in chosen:
            status.update(label=LAB.say("now", system=system))
            rows.append(run(system, eps, turn))
        status.update(label=LAB.say("done"), state="complete")
    gap, rare, floor = truth()
    alt, compared = _said({r["system"]: r["pairs"] for r in rows}, floor), measures(rows)
    show_multiples(lambda _, across: _drawn(compared, across, dark()), key="race_live", alt=alt, across=(2, 1))
    note(LAB.say("dotted"))
    st.write(alt)
    cells = []
    for r in rows:
        shares, seconds = [percent(r[part]) for part in ("pairs", "triples")], local(r["seconds"], ".1f")
        cells.append([r["system"], *shares, seconds, local(r["gap"], ".0f"), str(r["rare"])])
    cells.append([LAB.say("real"), percent(0, 0), percent(0, 0), "", local(gap, ".0f"), str(rare)])
    names = [LAB.say(c) for c in ("system", "pairs", "triples", "seconds", "gap", "rare")]
    st.dataframe(marked(pd.DataFrame(cells, columns=names)), hide_index=True, alt=LAB.say("table"))
