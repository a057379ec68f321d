"""What a budget means for this table: who is protected, odds, delta against n, budget split, expected error."""

from __future__ import annotations

import html

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.metrics.expected import expected_tvd
from dpsyn_core.plan import Plan, Share, plan
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.synthesizers.base import Task
from ui.budget import sentence
from ui.methods import chosen, settings_of
from ui.noise import MOST
from ui.schemas import with_unit
from ui.state import Workspace
from ui.text import number, percent, t
from ui.theme import facts, note, palette, private_tag, section

NEIGHBOURS, THETA, K, ABOUT = "neighbours", "theta", "k", "about_n"
MARGINALS = ("total", "1-way", "2-way", "3-way", "rest")
REST = "rest"  # what a system that chooses as it goes has not planned
ROUNDING = 0.02
CAP = 3e7  # cells above which no dry run is made on a page
SLOW = ("mwem", "privbayes", "aim", "mst", "field-groups")  # their dry run fits a model


def unit_fields(space: Workspace) -> Unit:
    """Neighbours and records a person; they belong to the schema, and change it."""
    declared = space.schema.unit if space.schema else None
    if declared and NEIGHBOURS not in st.session_state and NEIGHBOURS not in st.query_params:
        st.session_state[NEIGHBOURS] = declared.neighbours
    if declared and THETA not in st.session_state and THETA not in st.query_params:
        st.session_state[THETA] = declared.max_records
    left, right = st.columns([5, 4])
    with left:
        neighbours = st.radio(
            t("unit.neighbours"),
            ("add-remove", "replace"),
            format_func=lambda n: t(f"neighbours.{n}"),
            key=NEIGHBOURS,
            horizontal=True,
            help=t("unit.neighbours_help"),
            bind="query-params",
        )
    with right:
        theta = st.number_input(
            t("unit.theta"), 1, 1000, key=THETA, help=t("unit.theta_help"), bind="query-params"
        )  # fmt: skip
        if declared and declared.identifier is None and theta != 1:
            note(t("unit.theta_rows"), "warning")
    if space.schema is not None:
        space.schema = with_unit(space.schema, neighbours=neighbours, max_records=int(theta))
    return Unit(neighbours=neighbours, max_records=int(theta))


def planned(space: Workspace, budget: Budget, unit: Unit) -> Plan | None:
    """What the chosen system would charge on this schema; None without a schema or when it cannot be told here."""
    schema = space.schema
    method = chosen(space)
    if schema is None or method in SLOW:
        return None
    try:
        return _plan(
            method,
            settings_of(space, method),
            schema.dumps(),
            budget.epsilon,
            budget.delta,
            (unit.neighbours, unit.max_records),
        )
    except DPSynError as error:
        note(sentence(error), "warning")
        return None


@st.cache_data(show_spinner=False, max_entries=200)
def _plan(
    method: str, settings: dict[str, object], schema_text: str, epsilon: float, delta: float, unit: tuple[str, int]
) -> Plan | None:
    """The dry run; depends on public facts alone, hence cached for everybody."""
    from dpsyn_core.schema.document import Schema

    schema = Schema.loads(schema_text)
    domain = schema.domain()
    largest = sorted(domain.sizes, reverse=True)[:120]
    pairs = sum(a * b for i, a in enumerate(largest) for b in largest[i + 1 :])
    if pairs > CAP or len(domain) > 120:
        return None
    task = Task(
        domain=domain,
        unit=Unit(neighbours=unit[0], max_records=unit[1]),  # type: ignore[arg-type]
        budget=Budget(epsilon=epsilon, delta=delta),
        n_public=schema.n_records,
    )
    return plan(method, settings, task)


def k_field(space: Workspace, found: Plan | None) -> int:
    """The number of marginals at which the plot is read; the run's own when nothing was chosen."""
    if K not in st.session_state and K not in st.query_params:
        ks = [s.k for s in shares(space, found) if s.kind in MARGINALS]
        st.session_state[K] = max(1, min(MOST, round(max(ks)))) if ks else 91
    return int(st.number_input(t("noise.k"), 1, MOST, key=K, bind="query-params", help=t("noise.k_help")))


def shares(space: Workspace, found: Plan | None) -> list[Share]:
    """The kinds of charges, and what a system that chooses as it goes has left for pairs, as if all shared it."""
    if found is None or space.schema is None:
        return []
    out = found.shares()
    rest = 1 - sum(s.share for s in out)
    domain = space.schema.domain()
    pairs = len(domain) * (len(domain) - 1) // 2
    if rest < ROUNDING or not pairs:
        return out
    unit = Unit(neighbours=space.schema.unit.neighbours, max_records=space.schema.unit.max_records)
    cost = found.cost.scaled(rest / pairs)
    pure = found.cost.pure
    sigma = cost.scale(unit.l1()) if pure else cost.sigma(unit.l2())
    cells = sorted(domain.cells(s) for s in domain.subsets(2))
    name = "geometric" if pure else "gaussian"
    return [
        *out,
        Share(
            kind=REST, parts=pairs, share=rest, sigma=(sigma, sigma), cells=(cells[0], cells[-1]), k=pairs / rest,
            mechanism=name,
        ),
    ]  # fmt: skip


def points(found: list[Share]) -> list[tuple[str, float, float]]:
    """This run on the plot: where each kind of marginal lies on the curve that the engine spends on."""
    return [(label(s), s.k, _std(s)) for s in found if s.kind in MARGINALS and s.kind != "total"]


def _std(share: Share) -> float:
    return share.sigma[0] * (2**0.5 if share.mechanism == "geometric" else 1.0)


def label(share: Share) -> str:
    """What a kind of charge is called on the screen."""
    words = {
        "total": t("plan.total"),
        "1-way": t("plan.one"),
        "2-way": t("plan.two"),
        "3-way": t("plan.three"),
        REST: t("plan.rest"),
    }
    return words.get(share.kind, share.kind)


def odds(budget: Budget) -> None:
    """What epsilon means, in a hundred guesses."""
    from dpsyn_core.privacy.odds import anchor_sentence, odds_sentence

    section(t("odds.title"))
    st.html(f"<p class='dp-odds'>{odds_sentence(budget.epsilon, budget.delta)}</p>")
    note(anchor_sentence(budget.epsilon, budget.delta))


def delta_against_n(space: Workspace, budget: Budget) -> None:
    """Delta against 1/n, which is private and said to the owner only."""
    n = records(space)
    if n is None or budget.delta == 0:
        return
    if budget.delta * n > 1:
        note(t("delta.above", delta=f"{budget.delta:g}"), "alarm")
    else:
        note(t("delta.fine", part=number(round(1 / (budget.delta * n)))))


def records(space: Workspace) -> int | None:
    """About how many records: public when the schema says so, else the owner's (private) count outside safe mode."""
    if space.schema is not None and space.schema.n_records is not None:
        return space.schema.n_records
    if space.choices.safe or space.dataset is None or space.dataset.table is None:
        return None
    return space.dataset.table.num_rows


def split(found: list[Share]) -> None:
    """The budget as one stacked bar, and what each part buys."""
    section(t("plan.title"))
    if not found:
        note(t("plan.none"))
        return
    colours = palette()
    fills = (colours.accent, colours.real, colours.warning, "#8E6CA8", "#5E8C61")
    bar, lines = "", ""
    for i, s in enumerate(found):
        fill = fills[i % len(fills)]
        low, high = s.sigma
        sigma = number(low) if high < low * 1.005 else f"{number(low)} – {number(high)}"
        bar += f"<i style='width:{100 * s.share:.2f}%;background:{fill}'></i>"
        words = t("plan.line", share=percent(s.share, 0), parts=number(s.parts), sigma=sigma)
        lines += f"<li><i style='background:{fill}'></i><b>{html.escape(label(s))}</b> {html.escape(words)}</li>"
    alt = t("plan.alt", words=", ".join(f"{label(s)} {percent(s.share, 0)}" for s in found))
    whole = f"<div class='dp-stack' role='img' aria-label='{html.escape(alt)}'>{bar}</div>"
    st.html(f"{whole}<ul class='dp-key'>{lines}</ul>")


def expected(space: Workspace, found: list[Share]) -> None:
    """The error of marginals that noise alone would give, before a cent is spent."""
    if not found:
        return
    section(t("expected.title"))
    n = records(space)
    if n is None:
        n = int(st.number_input(t("expected.about"), 1, 10**9, 10_000, key=ABOUT, help=t("expected.about_help")))
    elif space.schema is None or space.schema.n_records is None:
        private_tag()
    items = []
    for s in found:
        if s.kind in MARGINALS and s.kind != "total":
            worst = expected_tvd(s.cells[1], _std(s), n)
            least = expected_tvd(s.cells[0], _std(s), n)
            both = t("expected.range", cells=number(s.cells[0]), most=number(s.cells[1]))
            value = percent(worst) if abs(worst - least) < 5e-4 else f"{percent(least)} – {percent(worst)}"
            items.append((value, label(s), both))
    facts(items)
    note(t("expected.note"))


def limit(space: Workspace) -> None:
    """The limit of the dataset's ledger, set by its owner."""
    from ui import ledger

    if space.dataset is not None:
        section(t("limit.title"))
        ledger.limit_field(space)
