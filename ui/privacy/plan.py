"""Plan panel: where the budget of a run will go, what noise that means, and what error, before any of it is spent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.privacy import Budget, charge
from dpsyn_core.runs import (
    ASSUMED,
    BudgetStep,
    RunPlan,
    RunSpec,
    Step,
    TreeOutlook,
    TreePlan,
    lost,
    plan,
    steps_of,
    table_error,
    table_steps,
    tree_outlook,
)
from dpsyn_core.systems import DEFAULT
from ui.privacy.guarantee import records
from ui.privacy.noise import MOST
from ui.shared.faults import refusals
from ui.shared.going import bound
from ui.shared.state import Workspace
from ui.shared.text import escaped, local, number, percent, sentence, t
from ui.shared.theme import facts, lead, note, palette, private_tag, section
from ui.synthesize.methods import run_of

if TYPE_CHECKING:
    from dpsyn_core.schema import LinkedSchema, Schema

K, ABOUT = "k", "about_n"
USUAL = 91  # tables of pairs of 14 columns
HASHED: dict[str | type[Any], Callable[[Any], Any]] = {RunSpec: RunSpec.model_dump_json}  # runs as keys of caches
NAMED = charge.KINDS | {"1-way", "2-way", "3-way", "chosen", "listed"}  # kinds with a label of their own
ALONE = {"total", "1-way"}  # all that a system measures which looks at no two columns together
FAIR = 0.1  # expected error up to which a table is of use
SHOWN = 4  # columns of a part of a design that are named
FILLS = ("#8E6CA8", "#5E8C61", "#B5557A", "#3E8E9E", "#A3683C")  # of the parts after the third
PLAIN = 10  # of the table's columns: below this share of the budget a percentage gets a digit after the point


def planned(space: Workspace, budget: Budget, *, public: bool = False, quiet: bool = False) -> RunPlan | None:
    """What the chosen system would charge on one table and its unit; None without one, or when it is refused.

    public: forecasts rest on a public guess of the number of records, not on the owner's count. quiet: the page says
    elsewhere why the system refuses.
    """
    if space.schema is None or space.linked is not None:
        return None
    run = run_of(space).model_copy(update={"epsilon": budget.epsilon, "delta": budget.delta})
    schema = space.schema  # questions that stood in it stand in the run now
    try:
        return _plan(run, schema.dumps(), guessed() if public else assumed(space), _schema=schema)
    except DPSynError as error:
        if not quiet:
            note(sentence(error), "warning")
        return None


@st.cache_data(show_spinner=False, max_entries=50, scope="session", hash_funcs=HASHED)
def _plan(run: RunSpec, text: str, about: int, _schema: Schema) -> RunPlan:
    """The plan. Kept for this visitor alone: the number of records that forecasts assume may be private.

    text: of the schema. _schema: the same, not part of the key, so that its bins stay with it.
    """
    return plan(run, _schema, n_records=about)


def assumed(space: Workspace) -> int:
    """The number of records that forecasts assume: public, the owner's own, or a guess that was typed."""
    n = records(space)
    return guessed() if n is None else n


def guessed() -> int:
    """The number of records that was typed as a guess; a public constant before that."""
    return int(st.session_state.get(ABOUT, ASSUMED))


def usual_k(found: RunPlan | None) -> int:
    """How many tables of counts share the budget of a run, where most of them do; a usual number without a plan."""
    ks = [found.k(s) for s in table_steps(found)] if found else []
    return max(1, min(MOST, round(max(ks)))) if ks else USUAL


def k_field(found: RunPlan | None) -> int:
    """The number of marginals at which the plot is read; the run's own when nothing was chosen."""
    if K not in st.session_state and not (K in st.query_params and bound(K)):
        st.session_state[K] = usual_k(found)
    return int(st.number_input(t("noise.k"), 1, MOST, key=K, bind=bound(K), help=t("noise.k_help")))


def label(step: Step) -> str:
    """What a step is called on the screen, and in which part of a design its tables lie."""
    if not step.inside:
        return _words(step)
    columns, more = ", ".join(step.inside[:SHOWN]), len(step.inside) - SHOWN
    if more > 0:
        columns = t("plan.columns_more", columns=columns, count=number(more))
    return t("plan.inside", what=_words(step), columns=columns)


def _words(step: Step) -> str:
    """What a step buys."""
    if step.inside and step.kind == "chosen":
        return t("plan.small")
    if step.kind in NAMED:
        return t(f"plan.{step.kind}")
    return t("plan.many", n=step.kind.split("-")[0])


def tree_steps(space: Workspace, budget: Budget, **changed: Any) -> tuple[BudgetStep, ...]:
    """What each step of a run of linked tables may spend, from public facts. changed: of the run. Raises DPSynError."""
    if space.linked is None:
        return ()
    run = run_of(space).model_copy(update={"epsilon": budget.epsilon, "delta": budget.delta, **changed})
    made = TreePlan.of(run, space.linked.schema())
    return steps_of(made.working, made.cost, made.costs, made.needs, pairs=made.pairs)


class Part(NamedTuple):
    """A part of the budget: what it buys, its share of the bar and in words, and what it takes and gives."""

    label: str
    width: float
    share: str
    line: str


def parts_of(found: RunPlan) -> list[Part]:
    """The steps of a run of one table."""
    return [Part(label(s), s.share[1], share(s), line(found, s)) for s in found.steps]


def split(space: Workspace, budget: Budget, found: RunPlan | None) -> None:
    """The budget as one stacked bar, and what each part buys. found: the plan of one table."""
    if space.linked is not None:
        with refusals("warning"):
            bar([_part(step) for step in tree_steps(space, budget)])
            note(t("linked.step_note"))
        return
    if found is None:
        note(t("plan.none"))
        return
    if any(s.about for s in found.steps):
        assumption(space)
    bar(parts_of(found))


def _part(step: BudgetStep) -> Part:
    words = percent(step.share, 0 if step.share >= 1 / PLAIN else 1)
    said = t("linked.step_line", share=words, noise=number(float(f"{step.noise:.3g}")))
    return Part(t(f"linked.step_{step.what}", table=step.table, role=step.role), step.share, words, said)


def bar(made: Sequence[Part]) -> None:
    """The bar with its key."""
    colours = palette()
    fills = (colours.accent, colours.real, colours.warning, *FILLS)
    whole = sum(part.width for part in made)
    parts, lines = "", ""
    for i, part in enumerate(made):
        fill = fills[i % len(fills)]
        parts += f"<i style='width:{100 * part.width / whole:.2f}%;background:{fill}'></i>"
        lines += f"<li><i style='background:{fill}'></i><b>{escaped(part.label)}</b> {escaped(part.line)}</li>"
    alt = t("plan.alt", words=", ".join(f"{part.label} {part.share}" for part in made))
    st.html(
        f"<div class='dp-stack' role='img' aria-label='{escaped(alt)}'>{parts}</div><ul class='dp-key'>{lines}</ul>"
    )


def expander(space: Workspace) -> None:
    """The same on the Synthesize page, folded away, for the system that is chosen there."""
    if space.kept_schema is None or not space.choices.valid:
        return
    with st.expander(t("plan.title"), key="plan_expander"):
        budget = Budget(epsilon=space.choices.epsilon, delta=space.choices.delta)
        split(space, budget, planned(space, budget))


def warning(space: Workspace) -> None:
    """Says before a run on the Synthesize page that noise will be all that it gives, where that is foreseen."""
    if space.linked is not None or space.schema is None or not space.choices.valid:
        return
    budget, run = Budget(epsilon=space.choices.epsilon, delta=space.choices.delta), run_of(space)
    found = planned(space, budget, quiet=True)
    if found is None:
        return
    error = lost(found, run, space.schema, assumed(space))
    if error is None:
        return
    if records(space) is not None and space.schema.n_records is None:
        private_tag()
    values = {"columns": number(len(space.schema.domain())), "n": number(assumed(space)), "ones": percent(error)}
    values |= {"method": run.method, "default": DEFAULT, "epsilon": local(budget.epsilon, "g")}
    note(t("verdict.lost" if run.method == DEFAULT else "verdict.lost_other", **values), "warning")


def assumption(space: Workspace) -> None:
    """What forecasts rest on: the owner's own number of records, tagged as private, or a guess that can be typed."""
    if space.schema is not None and space.schema.n_records is not None:
        return
    if records(space) is None:
        st.number_input(t("expected.about"), 1, 10**9, ASSUMED, key=ABOUT, help=t("expected.about_help"))
    else:
        private_tag()


def line(found: RunPlan, step: Step) -> str:
    """What a step takes and gives, in one sentence."""
    parts = _parts(step)
    std = found.std(step)
    if std is None:
        return t("plan.line", share=share(step), parts=parts)
    low, high = (number(float(f"{x:.3g}")) for x in std)
    noise = low if low == high else f"{low} – {high}"
    return t("plan.noisy", share=share(step), parts=parts, noise=noise)


def share(step: Step) -> str:
    """Its share of the budget in words."""
    low, high = (percent(x, 0 if x >= 1 / PLAIN else 1) for x in step.share)
    if low == high:
        return high
    return t("plan.most", share=high) if step.share[0] == 0 else f"{low} – {high}"


def _parts(step: Step) -> str:
    low, high = (number(p) for p in step.parts)
    if step.likely is not None:
        few, many = (number(x) for x in step.likely)
        return t("plan.likely_one", count=few) if few == many else t("plan.likely", least=few, most=many)
    if low != high:
        return t("plan.between", least=low, most=high)
    return t("plan.release") if step.parts[1] == 1 else t("plan.releases", count=high)


def expected(space: Workspace, found: RunPlan | None) -> None:
    """The error of tables that noise alone would give, before any budget is spent."""
    if space.linked is not None:
        _expected_of_tree(space)
        return
    shown = table_steps(found)
    if found is None or not shown:
        return
    section(t("expected.title"))
    n = assumed(space)
    if records(space) is not None or not any(s.about for s in found.steps):
        assumption(space)  # the field for a guess stands here or with the split, the tag at both
    items: list[tuple[str, str, str]] = []
    errors: dict[str, float] = {}
    said = st.container()
    for s in shown:
        least, worst = table_error(found, s, n)
        sizes = t("expected.range", cells=number(s.cells[0]), most=number(s.cells[1]))
        if s.cells[0] == 1:
            value, sizes = t("expected.worst", error=percent(worst)), t("expected.largest", most=number(s.cells[1]))
        elif worst - least < 5e-4:
            value = percent(worst)
        else:
            value = percent((least * worst) ** 0.5)
            sizes = t("expected.middle", sizes=sizes, least=percent(least), worst=percent(worst))
        items.append((value, label(s), sizes))
        kind = "2-way" if s.kind == "chosen" else s.kind
        errors[kind] = max(errors.get(kind, 0.0), (least * worst) ** 0.5)  # of a table of middle size
    words = verdict(n, space.choices.epsilon, errors, alone={s.kind for s in found.steps} <= ALONE)
    if words:
        with said:
            lead(words)
    facts(*items)
    note(t("expected.note"))


def _expected_of_tree(space: Workspace) -> None:
    """The error that noise alone gives single columns, table by table and role by role, and pairs of the root."""
    schema = None if space.linked is None else space.linked.declared()
    if schema is None:
        return
    section(t("expected.title"))
    asked = t("linked.about_roots", root=schema.root.name)
    n = int(st.number_input(asked, 1, 10**9, ASSUMED, key=ABOUT, help=t("expected.about_help")))
    with refusals("warning"):
        facts(*map(_expected_of, _tree_outlook(run_of(space), schema.dumps(), n, _schema=schema)))
        note(t("linked.expected_note"))


def _expected_of(one: TreeOutlook) -> tuple[str, str, str]:
    """The expected error of a table, or of one of its roles."""
    pairs = t("plan.1-way") if one.pairs is None else t("linked.expected_pairs", error=percent(one.pairs))
    return "–" if one.columns is None else percent(one.columns), " · ".join(filter(None, (one.table, one.role))), pairs


@st.cache_data(show_spinner=False, max_entries=50, scope="session", hash_funcs=HASHED)
def _tree_outlook(run: RunSpec, text: str, n_roots: int, _schema: LinkedSchema) -> list[TreeOutlook]:
    """The forecast, from the schema and a typed number alone. text: of the schema."""
    return tree_outlook(run, _schema, epsilons=[run.epsilon], sizes=[n_roots])


def verdict(n: float, epsilon: float, errors: dict[str, float], *, alone: bool) -> str:
    """One sentence before a run, from the expected error of the noise alone. errors: of `1-way` and `2-way` tables.

    alone: the system measures single columns and nothing of two.
    """
    ones, pairs = errors.get("1-way"), errors.get("2-way")
    said = {"n": number(round(n)), "epsilon": local(epsilon, "g")}
    if pairs is not None and pairs <= FAIR:
        return t("verdict.enough", pairs=percent(pairs), **said)
    if ones is not None and ones <= FAIR and alone:
        return t("verdict.alone", ones=percent(ones))
    if ones is not None and ones <= FAIR:
        return t("verdict.ones", ones=percent(ones), **said)
    if ones is not None:
        return t("verdict.little", ones=percent(ones), **said)
    return ""
