"""Buying knowledge: ranges, bins and categories learnt from the data at a price, on the ledger."""

import hashlib

import streamlit as st

from dpsyn_core.errors import DPSynError, SchemaError
from dpsyn_core.measure import Discovery, Kind, Wanted
from dpsyn_core.privacy import Budget, Unit
from dpsyn_core.runs import buy_schema
from dpsyn_core.schema import READ, Schema
from dpsyn_core.schema import date_formats as written_dates
from ui.privacy.budget import read
from ui.schema import editor
from ui.schema.rows import Row, kind_words
from ui.shared.faults import refusals
from ui.shared.state import Workspace, check_shown
from ui.shared.text import amount, field, literal, local, number, plain, sentence, t
from ui.shared.theme import note, private_tag

KINDS: dict[str, Kind] = {"whole number": "integer", "number": "float", "date": "date"}
KINDS |= {"category": "categorical", "ordered category": "categorical"}
SAID = "bought_said"  # what the last purchase found and did not find
DOUBTFUL = 0.1  # share of the records that may lie outside a range before it is a poor one


def panel(space: Workspace) -> None:
    """Columns, price, and one button that spends."""
    if space.dataset is None or space.dataset.table is None or space.schema is None:
        return
    rows = {r.name: r for r in space.rows if r.cells()["kind"] in KINDS}
    with st.expander(t("buying.title"), expanded=bool(space.memo.get("guide_buys"))):
        note(t("buying.lead"))
        if space.dataset.whole is None:
            note(t("buying.large"), "warning")
            return
        first, second, third = st.columns([5, 2, 2], vertical_alignment="bottom")
        drafted, key = [n for n in space.schema.from_data if n in rows], f"buying_{space.dataset.serial}"
        none = t("buying.none")
        wanted = first.multiselect(t("buying.columns"), list(rows), drafted, key=key, placeholder=none)
        chosen = [rows[n] for n in wanted]
        price = second.text_input(value=amount(0.1), key="buying_price", **field("buying.price"))
        known = confirmation(space, chosen)
        got = read(price or "", plain(space.choices.delta))
        name = t("buying.spend", epsilon=literal(price or "") if got.budget is None else amount(got.budget.epsilon))
        pressed = third.button(name, key="buy", disabled=not chosen or got.budget is None, width="stretch")
        if got.budget is None:
            note(got.epsilon_problem or got.delta_problem, "alarm")
        elif chosen:
            forecast(space, chosen, got.budget)
        if pressed and got.budget is not None:
            with refusals():
                with st.spinner(t("buying.running")):
                    space.schema = bought(space, chosen, got.budget.epsilon, got.budget.delta, known=known)
                editor.sync(space)
                editor.redraw()
                st.rerun()
        for line, kind in space.memo.get(SAID, []):
            note(line, kind)


def forecast(space: Workspace, rows: list[Row], budget: Budget) -> None:
    """What the price can find, from public numbers: a price proposed for the private number of records tells of it."""
    from dpsyn_core.measure import least_epsilon, people_needed

    if space.schema is None:
        return
    unit = Unit.of(space.schema.unit)
    wanted = [Wanted(name=r.name, kind=KINDS[r.cells()["kind"]]) for r in rows]
    try:
        needs = people_needed(wanted, unit, budget)
    except DPSynError as error:
        note(sentence(error), "alarm")
        return
    worst = max(needs, key=lambda n: needs[n])
    note(t("buying.needs", people=number(needs[worst]), column=worst))
    n = space.schema.n_records
    if n is None:
        return
    least = least_epsilon(wanted, unit, budget.delta, n)
    if least is None:
        note(t("buying.too_few", records=number(n)), "warning")
    else:
        words = t("buying.least", epsilon=local(least, ".2g"), records=number(n))
        note(words, "warning" if least > budget.epsilon else "note")


def confirmation(space: Workspace, rows: list[Row]) -> bool:
    """Asks whether the kinds and forms that a draft read from the data are known without it; they are not bought.

    All that a purchase takes over from the draft is shown here: what is confirmed is what was read.
    """
    listed = "; ".join(described(r) for r in rows if r.document["source"] in READ)
    if not listed or space.dataset is None:
        return False
    mark = hashlib.sha256(listed.encode()).hexdigest()[:12]  # another list is asked for anew
    private_tag()
    note(t("buying.kinds", kinds=listed))
    return st.checkbox(key=f"buying_known_{space.dataset.serial}_{mark}", **field("buying.known"))


def described(row: Row) -> str:
    """A column with all that a purchase takes over of it: its kind, and how its cells are written."""
    wanted = _wanted(row)
    example = wanted.written or written_dates.example_of(wanted.formats)
    kind = kind_words(row.cells()["kind"])
    words = t("buying.form", kind=kind, example=example) if example else kind
    return f"{row.name} ({words})"


def bought(space: Workspace, rows: list[Row], epsilon: float, delta: float, *, known: bool) -> Schema:
    """The schema with what was found of these columns at a price; the rest stays as it was. Raises DPSynError.

    Args:
        space: with table and schema.
        rows: columns; what is bought for a kind and a form that were read from the data stays marked unless `known`.
        epsilon: price.
        delta: price.
        known: whether the person knows kinds and forms, as `described` shows them, from outside the data.
    """
    check_shown(space)
    if space.dataset is None or space.schema is None:
        msg = "no table is loaded; load one on the Data page"
        raise SchemaError(msg)
    if space.dataset.query_vouched:
        msg = "what is bought has no manifest that could state your word for a query; load a table"
        raise SchemaError(msg)
    schema, data = space.schema, space.dataset
    unit = schema.unit.model_copy(update={"source": "data"}) if schema.unit_from_data else schema.unit
    wanted = [_wanted(r, known=known) for r in rows]
    found = buy_schema(
        data.table, wanted, name=schema.name, epsilon=epsilon, delta=delta, unit=unit, dataset=data.ledger
    )
    space.memo[SAID] = _said(found)
    learnt = {a.name: a for a in found.schema.attributes if a.coded}
    rest = any(a.source.startswith("bought") and a.name not in learnt for a in schema.attributes)
    # charges for another unit of protection are dropped with the last column that came from them
    before = [b for b in schema.bought if rest or schema.protected_by(b.unit)]
    attributes = tuple(learnt.get(a.name, a) for a in schema.attributes)
    update = {"attributes": attributes, "bought": (*before, *found.schema.bought)}
    return Schema.of(schema.model_copy(update=update).document())


def _wanted(row: Row, *, known: bool = False) -> Wanted:
    """What is bought of a column; how its cells are written goes along, for otherwise none could be read."""
    return Wanted.of(row.document, kind=KINDS[row.cells()["kind"]], known=known)


def _said(found: Discovery) -> list[tuple[str, str]]:
    """What was not found, and how sure the ranges are; decided on noisy counts, so anybody may read it."""
    failed = {name: sentence(ValueError(why)) for name, why in found.failed.items()}
    out = [(t("buying.not_found", column=name, reason=why), "warning") for name, why in failed.items()]
    for name, (about, most) in found.outside.items():
        many = most > DOUBTFUL * max(found.total, 1)
        counts = {"about": number(round(about)), "most": number(round(most)), "total": number(found.total)}
        words = t("buying.outside", column=name, **counts)
        out.append((words + (" " + t("buying.doubtful") if many else ""), "warning" if many else "note"))
    return out
