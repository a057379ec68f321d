"""Lab 9: the same budget spent by different systems on the simulated sample."""

import time
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import pandas as pd
import streamlit as st

from dpsyn_core.evaluate import Score, compare_tables, compute
from dpsyn_core.report import Measure, systems_chart
from dpsyn_core.runs import synthesize
from dpsyn_core.schema import Schema, sample_schema, sample_table
from ui.learn.controls import several, steps
from ui.learn.numbers import systems as lesson
from ui.learn.numbers.systems import pay_gap
from ui.shared.access import classroom
from ui.shared.text import amount, language, local, percent, t
from ui.shared.theme import dark, marked, note, show_multiples, tokens

RUNNERS = ("rls", "dpsyn", "privsyn", "mst", "privbayes", "field-groups", "independent")
PURE = {"privbayes", "field-groups"}
DELTA = 1e-9
BEFOREHAND = ("rls", "dpsyn", "independent")  # systems that are drawn first
ALONE = "independent"  # measures no pairs
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of the runs made beforehand
LEDGER = "classroom sample"  # no real person is in the sample; the spend is recorded for practice
RARE = ("RACE", "Chinese")


@dataclass(frozen=True)
class Result:
    """One runner: distances of columns, pairs and triples, seconds, a pay gap in dollars, records of a rare group."""

    system: str
    singles: float
    pairs: float
    triples: float
    seconds: float
    gap: float
    rare: int


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
    """One run and its scores; `turn` tells repetitions apart. Cached for all: the sample is public."""
    real = sample_table()
    schema = schema_for(system, real.num_rows)
    start = time.perf_counter()
    delta = 0.0 if system in PURE else DELTA
    made = synthesize(real, schema, epsilon=eps, delta=delta, rng=turn, method=system, dataset=LEDGER).arrow
    seconds = time.perf_counter() - start
    scores = compute(compare_tables(schema, made, real), ["tvd-1way", "tvd-2way", "tvd-3way"])
    singles, pairs, triples = (s.value if isinstance(s, Score) else float("nan") for s in scores.values())
    return asdict(Result(system, singles, pairs, triples, seconds, pay_gap(made), rare_records(made)))


def measures(rows: list[dict[str, Any]]) -> list[Measure]:
    """What systems are compared by, each beside the real table, or what a fresh sample of people would score."""
    gap, rare, floor = truth()
    of = {what: {r["system"]: float(r[what]) for r in rows} for what in ("pairs", "triples", "gap", "rare")}
    return [
        Measure(name=t("learn.race.pairs_title"), values=of["pairs"], mark=floor, format="~%"),
        Measure(name=t("learn.race.triples_title"), values=of["triples"], format="~%"),
        Measure(name=t("learn.race.gap_title"), values=of["gap"], mark=gap, format=",~r"),
        Measure(name=t("learn.race.rare_title"), values=of["rare"], mark=rare, format=",~r"),
    ]


@st.cache_data(show_spinner=False)
def truth() -> tuple[float, int, float]:
    """The sample's own pay gap and rare group, and what a fresh sample would score on pairs."""
    real = sample_table()
    score = compute(compare_tables(sample_schema(), real, real), ["tvd-2way"])["tvd-2way"]
    return pay_gap(real), rare_records(real), float(score.floor or 0.0) if isinstance(score, Score) else 0.0


def _kept(eps: float, chosen: tuple[str, ...]) -> None:
    """The comparison from runs made beforehand, in which nothing is spent."""
    if not chosen:
        st.info(t("learn.composition.none"))
        return
    pairs = {name: float(lesson.curve(name, "tvd-2way").middle[EPSILONS.index(eps)]) for name in chosen}
    best = min(pairs, key=lambda name: pairs[name])
    floor = lesson.fresh("tvd-2way")
    alt = t("learn.race.alt", best=best, pairs=local(100 * pairs[best], ".1f"), floor=local(100 * floor, ".1f"))
    show_multiples(lambda _, across: chart(eps, chosen, across, dark(), language()), key="race", alt=alt, across=(2, 1))
    note(t("learn.race.beforehand"))


def found(eps: float) -> dict[str, str]:
    """What the closing sentence says: of all runs made beforehand, whichever are drawn."""
    place = EPSILONS.index(eps)
    pairs = {name: float(lesson.curve(name, "tvd-2way").middle[place]) for name in lesson.SYSTEMS}
    gaps = {name: float(lesson.curve(name, "gap").middle[place]) for name in lesson.SYSTEMS if name != ALONE}
    small = [float(lesson.by_class(name, eps, "count")[1]) for name in lesson.SYSTEMS]
    best, worst = min(pairs, key=pairs.__getitem__), max(pairs, key=pairs.__getitem__)
    keeper, loser = min(gaps, key=gaps.__getitem__), max(gaps, key=gaps.__getitem__)
    return {
        "eps": amount(eps), "best": best, "pairs": local(100 * pairs[best], ".1f"), "worst": worst,
        "worst_pairs": local(100 * pairs[worst], ".1f"), "gap": local(truth()[0], ".0f"), "keeper": keeper,
        "kept": local(gaps[keeper], ".0f"), "loser": loser, "lost": local(gaps[loser], ".0f"),
        "small": local(100 * min(small), ".1f"), "large": local(100 * max(small), ".1f"),
        "fresh": local(100 * float(lesson.by_class(lesson.FRESH, eps, "count")[1]), ".1f"),
    }  # fmt: skip


@lru_cache(maxsize=200)
def chart(eps: float, chosen: tuple[str, ...], across: int, is_dark: bool, words: str) -> dict[str, Any]:
    """The comparison as a document; kept, for a class looks at the same few. `words` tells languages apart."""
    place = EPSILONS.index(eps)

    def measure(title: str, metric: str, form: str) -> Measure:
        values = {name: float(lesson.curve(name, metric).middle[place]) for name in chosen}
        return Measure(name=title, values=values, mark=lesson.fresh(metric), format=form)

    small = {name: float(lesson.by_class(name, eps, "count")[1]) for name in chosen}
    fresh = float(lesson.by_class(lesson.FRESH, eps, "count")[1])
    compared = [
        measure(t("learn.race.pairs_title"), "tvd-2way", "~%"),
        measure(t("learn.race.triples_title"), "tvd-3way", "~%"),
        measure(t("learn.race.gap_error"), "gap", ",~r"),
        Measure(name=t("learn.race.small_title"), values=small, mark=fresh, format="~%"),
    ]
    return systems_chart(
        compared, across=across, palette=tokens(is_dark), system=t("learn.race.system"), mark=t("learn.race.mark")
    )


def show() -> dict[str, str]:
    """Epsilon and systems; the runs made beforehand, and new ones where somebody presses for them."""
    a, b = st.columns([1, 2], gap="medium")
    eps = steps(t("learn.epsilon"), EPSILONS, 1.0, key="race_epsilon", at=a)
    with b:
        offered = lesson.SYSTEMS if classroom() else RUNNERS
        chosen = several(t("learn.race.runners"), offered, BEFOREHAND, key="race_runners")
    _kept(eps, tuple(name for name in chosen if name in lesson.SYSTEMS))
    if not classroom():
        turn = int(st.session_state.get("race_turn", 0))
        if st.button(t("learn.race.start"), key="race_start", disabled=not chosen):
            turn += 1
            st.session_state["race_turn"] = turn
        if turn and chosen:
            _live(eps, chosen, turn)
    return found(eps)


def _live(eps: float, chosen: list[str], turn: int) -> None:
    """New runs, each of which spends the budget once on the simulated sample."""
    rows = []
    with st.status(t("learn.race.running"), expanded=False) as status:
        for system in chosen:
            status.update(label=t("learn.race.now", system=system))
            rows.append(run(system, eps, turn))
        status.update(label=t("learn.race.done"), state="complete")
    gap, rare, floor = truth()
    best = min(rows, key=lambda r: r["pairs"])
    alt = t(
        "learn.race.alt", best=best["system"], pairs=local(100 * best["pairs"], ".1f"), floor=local(100 * floor, ".1f")
    )
    compared = measures(rows)
    show_multiples(
        lambda _, across: systems_chart(
            compared, across=across, palette=tokens(), system=t("learn.race.system"), mark=t("learn.race.mark")
        ),
        key="race_live",
        alt=alt,
        across=(2, 1),
    )
    note(t("learn.race.dotted"))
    st.write(alt)
    names = [t(f"learn.race.{c}") for c in ("system", "pairs", "triples", "seconds", "gap", "rare")]
    cells = [
        [r["system"], percent(r["pairs"]), percent(r["triples"]),
         local(r["seconds"], ".1f"), local(r["gap"], ".0f"), str(r["rare"])]
        for r in rows
    ]  # fmt: skip
    cells.append([t("learn.race.real"), percent(0, 0), percent(0, 0), "", local(gap, ".0f"), str(rare)])
    st.dataframe(marked(pd.DataFrame(cells, columns=names)), hide_index=True, alt=t("learn.race.table"))
