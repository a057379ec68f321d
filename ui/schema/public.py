"""Exploring a table that is declared public: dependence of its columns, and a design read off it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from dpsyn_core.errors import InputError
from ui.data.loading import recognised, uploaded_table
from ui.questions import kept as questions
from ui.schema import editor
from ui.shared import dialogs, uploads
from ui.shared.faults import refusals
from ui.shared.results import kept
from ui.shared.state import Dataset, Workspace
from ui.shared.text import figure_words, number, percent, t
from ui.shared.theme import marked, note, show
from ui.synthesize import methods

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from dpsyn_core.evaluate import Exploration
    from dpsyn_core.report import Figure
    from dpsyn_core.runs import DesignProposal
    from dpsyn_core.schema import Schema

MOST_MAPPED = 40  # columns of the map; more squares cannot be read beside the table
SHOWN = 200  # pairs in the table
METHOD = "dpsyn-2018"


def panel(space: Workspace) -> None:
    """A dialog; refuses a table that nobody declares public."""
    if space.schema is not None and space.dataset is not None:
        dialogs.behind("public", t("public.title"), lambda: _explored(space))


def _explored(space: Workspace) -> None:
    schema, data = space.schema, space.dataset  # of now: another tab may have changed them
    if schema is None or data is None:
        return
    note(t("public.lead"))
    own = uploads.one(t("public.upload"), (), key="public_file", tip=t("public.upload_help"))
    declared = st.checkbox(t("public.declare"), key="public_declared")
    if own is None and not data.sample:
        note(t("public.none"))
        return
    if not st.button(t("public.look"), key="public_look", disabled=not declared) and "public" not in space.memo:
        note(t("public.needs_word") if not declared else t("public.ready"))
        return
    if not declared:
        from dpsyn_core.evaluate import REFUSED

        st.error(REFUSED)
        return
    with refusals():
        with st.spinner(t("public.looking")):
            found = _found(space, schema, own)
        space.memo["public"] = True
        _shown(space, schema, found)


def _found(space: Workspace, schema: Schema, own: Any) -> Exploration:
    """The exploration of the uploaded table, or of the bundled sample, kept while file and schema stay."""
    from dpsyn_core.evaluate import explore

    def look() -> Exploration:
        loaded = None if space.dataset is None else space.dataset.table
        table = loaded if own is None else uploaded_table(own.name, own.getvalue())
        if own is not None and _loaded(space, table):
            raise InputError(t("public.same"))
        return explore(table, schema, public=True)

    of = "sample" if own is None else own.file_id
    return kept(space, ("explored", of, schema.dumps()), look)


def _loaded(space: Workspace, table: Any) -> bool:
    """Whether this is the private table itself, by its content."""
    data = space.dataset
    if data is None or data.sample:
        return False
    return recognised(Dataset(data.name, data.ledger, table), space.owner) == data.serial


def _shown(space: Workspace, schema: Schema, found: Exploration) -> None:
    from dpsyn_core.evaluate import proposed_questions
    from dpsyn_core.runs import propose

    left, right = st.columns([6, 5], gap="large")
    with left:
        made = _map(found)
        show(made, key="public_map")
        note(made.caption)
    with right:
        cells = [(" x ".join(d.pair), percent(d.indif), percent(d.by_chance)) for d in found.pairs[:SHOWN]]
        heads = [t(f"public.{name}") for name in ("pair", "indif", "by_chance")]
        rows = [dict(zip(heads, row, strict=True)) for row in cells]
        st.dataframe(marked(rows), hide_index=True, height=420, key="public_pairs", alt=t("public.pairs_alt"))
        if len(found.pairs) > SHOWN:
            note(t("public.more", count=number(len(found.pairs) - SHOWN)))
        if found.left_out:
            note(t("public.left_out", pairs=", ".join(" x ".join(p) for p in found.left_out[:5])))
    proposal = propose(found)
    for line in _lines(proposal):
        note(line)
    alone = not space.one_of_linked  # designs and these questions are for one table
    asked = kept(space, ("proposed questions", id(found)), lambda: proposed_questions(found).questions if alone else ())
    if asked:
        note(t("public.questions", items=", ".join(q.name for q in asked)))
    first, second, third = st.columns(3)
    takes_groups = _press(first, "groups", bool(proposal.groups))
    takes_design = alone and _press(second, "design", True)
    if alone and _press(third, "questions", bool(asked)):
        st.success(t("public.questions_taken", count=number(questions.add(space, asked))))
    if takes_groups:
        editor.change(space, proposal.grouped_schema(schema))
    if takes_design:
        design = proposal.design.model_dump(mode="json", exclude_defaults=True)
        methods.take(space, METHOD, {"design": design})
        st.success(t("public.taken"))


def _press(place: DeltaGenerator, what: str, there: bool) -> bool:
    """A button that takes a part of the proposal over."""
    return place.button(t(f"public.take_{what}"), key=f"public_{what}", disabled=not there, width="stretch")


def _map(found: Exploration) -> Figure:
    """Distance from independence of every pair, in the form of the report's map of pairs."""
    from dpsyn_core.report import pair_map

    names = list(found.domain.names)
    z = np.full((len(names), len(names)), np.nan)
    for d in found.pairs:
        i, j = (found.domain.index(a) for a in d.pair)
        z[i, j] = z[j, i] = d.indif
    words = {**figure_words(), "map_bar": t("public.bar"), "map_hover": t("public.hover")}
    made = pair_map(names, z, most=MOST_MAPPED, words=words)
    caption = t("public.caption", pair=" x ".join(found.pairs[0].pair)) if found.pairs else ""
    return replace(made, caption=caption, alt=t("public.alt", count=number(len(names)), finding=caption))


def _lines(made: DesignProposal) -> list[str]:
    """The proposal in sentences."""
    design = made.design
    listed = [" x ".join(s.attributes) for m in design.marginals for s in m.sets]
    parts = (
        ("groups", [" + ".join(g.attributes) for g in design.groups]),
        ("hierarchies", [t("public.follows", one=h.general, other=h.detailed) for h in design.hierarchies]),
        ("functional", [t("public.follows", one=f.target, other=f.source) for f in design.functional]),
        ("bins", [t("public.bins_of", name=b.attribute, count=number(len(b.edges) + 1)) for b in design.bins]),
        ("listed", listed[:12] + ([t("public.and_more", count=number(len(listed) - 12))] if len(listed) > 12 else [])),
    )
    return [t(f"public.{key}", items=", ".join(items) if items else t("public.nothing")) for key, items in parts]
