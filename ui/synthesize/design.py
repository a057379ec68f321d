"""The design of dpsyn-2018 as a form: one line a part of it, instead of the JSON document. Public; reads no data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st
from pydantic import ValidationError

from dpsyn_core.errors import DPSynError, SettingError
from ui.shared.state import Workspace
from ui.shared.text import literal, sentence, t
from ui.shared.theme import note
from ui.synthesize import methods

if TYPE_CHECKING:
    from dpsyn_core.schema.domain import Domain
    from dpsyn_core.systems.dpsyn2018.design import Design

METHOD = "dpsyn-2018"
KINDS = ("group", "pattern", "shared pattern", "bins", "nearly follows", "marginal", "part", "unmeasured")
Row = Mapping[str, Any]


def editor(space: Workspace, *, choose: bool = False) -> None:
    """The lines of the design in force, to be changed, added and removed; taken over when the system accepts them.

    choose: whether the system becomes that of the next run, as on the Schema page, where none is chosen.
    """
    from dpsyn_core.systems.dpsyn2018.design import Design

    if space.schema is None:
        return
    with st.expander(t("design.title"), key="design_expander"):
        note(t("design.lead" if not choose else "design.lead_schema"))
        given = space.choices.settings.get(METHOD, {}).get("design", {})
        try:
            design = given if isinstance(given, Design) else Design.model_validate(given or {})
        except ValidationError:
            note(t("design.broken"), "alarm")
            return
        rows = rows_of(design)
        edited = st.data_editor(
            rows or [{"part": "marginal", "columns": "", "detail": ""}],
            num_rows="dynamic",
            hide_index=True,
            key=f"design_{hash(design.model_dump_json()) & 0xFFFFFF:x}",
            alt=t("design.alt"),
            column_config={
                "part": st.column_config.SelectboxColumn(t("design.part"), options=list(KINDS), width=120),
                "columns": st.column_config.TextColumn(t("design.columns"), help=t("design.columns_help"), width=420),
                "detail": st.column_config.TextColumn(t("design.detail"), help=t("design.detail_help"), width=260),
            },
        )
        if design.hierarchies or design.budgets:
            note(t("design.kept"))
        if st.button(t("design.use"), key="design_use"):
            try:
                made = design_of(edited, design, space.schema.domain())
            except DPSynError as error:
                st.error(literal(sentence(error)))
                return
            kept = space.choices.settings.get(METHOD, {})
            settings = {**kept, "design": made.model_dump(mode="json", exclude_defaults=True)}
            if choose:
                methods.take(space, METHOD, settings)
                st.success(t("public.taken"))
                return
            space.choices.settings[METHOD] = settings
            st.rerun()


def rows_of(design: Design) -> list[dict[str, str]]:
    """One line a part. Hierarchies, ranges of epsilon and one-ways have no line; they stay in the document."""
    out = [_row("group", g.attributes, g.name) for g in design.groups]
    out += [_row("shared pattern" if p.shared else "pattern", p.attributes, p.name) for p in design.patterns]
    for b in design.bins:
        listed = ", ".join(map(str, b.edges or b.codes))
        detail = f"width {b.width}" if b.width is not None else f"{'edges' if b.edges else 'codes'} {listed}"
        out.append(_row("bins", [b.attribute], detail))
    out += [_row("nearly follows", [f.target], f.source) for f in design.functional]
    lists = design.marginals[:1]
    out += [_row("marginal", s.attributes, f"{s.weight:g}") for m in lists for s in m.sets]
    out += [_row("part", p, "") for p in design.parts]
    if design.unmeasured:
        out.append(_row("unmeasured", design.unmeasured, ""))
    return out


def _row(part: str, columns: Iterable[str], detail: str) -> dict[str, str]:
    return {"part": part, "columns": ", ".join(columns), "detail": detail}


def design_of(rows: Iterable[Row], before: Design, domain: Domain) -> Design:
    """The design that the lines describe, with what has no line kept from `before`.

    Raises:
        SettingError: a line cannot be read, or the design does not fit the columns; it names the line's columns.
    """
    from dpsyn_core.systems.dpsyn2018.design import Design, check_at_every_budget

    parts: dict[str, list[Any]] = {}
    for row in rows:
        columns = [c.strip() for c in str(row.get("columns") or "").split(",") if c.strip()]
        if columns:
            parts.setdefault(str(row.get("part")), []).append((columns, str(row.get("detail") or "").strip()))
    marginals = [{"attributes": c, "weight": _weight(c, d)} for c, d in parts.get("marginal", [])]
    later = [m.model_dump(mode="json") for m in before.marginals[1:]]
    first = before.marginals[0].epsilon if before.marginals else 0.0
    document = {
        **before.model_dump(mode="json", exclude_defaults=True),
        "groups": [{"name": d or "+".join(c), "attributes": c} for c, d in parts.get("group", [])],
        "patterns": [
            {"name": d or "+".join(c), "attributes": c, "shared": kind == "shared pattern"}
            for kind in ("pattern", "shared pattern")
            for c, d in parts.get(kind, [])
        ],
        "bins": [_bins(c, d) for c, d in parts.get("bins", [])],
        "functional": [{"target": c[0], "source": d} for c, d in parts.get("nearly follows", [])],
        "marginals": ([{"epsilon": first, "sets": marginals}] if marginals else []) + later,
        "parts": [c for c, _ in parts.get("part", [])],
        "unmeasured": [name for c, _ in parts.get("unmeasured", []) for name in c],
    }
    try:
        made = Design.model_validate(document)
    except ValidationError as error:
        found = error.errors()[0]
        msg = f"{'.'.join(str(p) for p in found['loc'])}: {found['msg']}"
        raise SettingError(msg) from error
    check_at_every_budget(made, domain)
    return made


def _weight(columns: list[str], detail: str) -> float:
    try:
        return float(detail) if detail else 1.0
    except ValueError as error:
        msg = f"the weight of the marginal {', '.join(columns)} is '{detail}'; write a number above 0, such as 2"
        raise SettingError(msg) from error


def _bins(columns: list[str], detail: str) -> dict[str, Any]:
    """`width 5`, `edges 1, 14, 27` or `codes 0, 0, 1` for one column."""
    how, _, rest = detail.partition(" ")
    try:
        numbers = [int(n) for n in rest.replace(",", " ").split()]
        if how == "width":
            (width,) = numbers
            return {"attribute": columns[0], "width": width}
        if how in ("edges", "codes") and numbers and len(columns) == 1:
            return {"attribute": columns[0], how: numbers}
    except ValueError:
        pass  # the sentence below says what is allowed
    msg = f"the bins of {', '.join(columns)} are '{detail}'; write 'width 5' or 'edges 1, 14, 27' for one column"
    raise SettingError(msg)
