"""The design of dpsyn-2018 as a form: one line a part of it, instead of the JSON document. Public; reads no data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st
from pydantic import ValidationError

from dpsyn_core.data import WORKED, worked_design
from dpsyn_core.errors import SettingError
from ui.data import loading
from ui.shared import dialogs
from ui.shared.faults import refusals
from ui.shared.state import Workspace
from ui.shared.text import field, t
from ui.shared.theme import note
from ui.synthesize import methods

if TYPE_CHECKING:
    from dpsyn_core.schema import Domain
    from dpsyn_core.systems import Design, ListedSet

METHOD = "dpsyn-2018"
KINDS = (
    "group", "pattern", "shared pattern", "bins", "follows", "nearly follows", "marginal", "part", "one-ways",
    "unmeasured",
)  # fmt: skip
Row = Mapping[str, Any]


def editor(space: Workspace, *, choose: bool = False) -> None:
    """The lines of the design in force, in a dialog; taken over when the system accepts them.

    choose: whether the system becomes that of the next run, as on the Schema page, where none is chosen.
    """
    if space.schema is not None and space.linked is None:
        dialogs.behind("design", t("design.title"), lambda: _lines(space, choose=choose))


def _lines(space: Workspace, *, choose: bool) -> None:
    """A table with a line a part, to be changed, added to and removed from."""
    from dpsyn_core.systems import Design

    if space.schema is None:
        return
    note(t("design.lead" if not choose else "design.lead_schema"))
    _examples(space)
    given = space.choices.settings.get(METHOD, {}).get("design", {})
    try:
        design = given if isinstance(given, Design) else Design.model_validate(given or {})
    except ValidationError:
        note(t("design.broken"), "alarm")
        return
    column = st.column_config
    edited = st.data_editor(
        rows_of(design) or [_row("marginal", [], "", None)],
        num_rows="dynamic",
        hide_index=True,
        key=f"design_{hash(design.model_dump_json()) & 0xFFFFFF:x}",
        alt=t("design.alt"),
        placeholder="",
        column_config={
            "part": column.SelectboxColumn(t("design.part"), options=list(KINDS), width=120),
            "columns": column.TextColumn(**field("design.columns"), width=340),
            "detail": column.TextColumn(**field("design.detail"), width=220),
            "since": column.NumberColumn(**field("design.since"), min_value=0.0, width=110),
        },
    )
    if not st.button(t("design.use"), key="design_use"):
        return
    with refusals():
        made = design_of(edited, design, space.schema.domain())
        kept = space.choices.settings.get(METHOD, {})
        settings = {**kept, "design": made.model_dump(mode="json", exclude_defaults=True)}
        if choose:
            methods.take(space, METHOD, settings)
            st.success(t("public.taken"))
            return
        space.choices.settings[METHOD] = settings
        st.rerun()


def _examples(space: Workspace) -> None:
    """Bundled tables with a worked design each: one press opens the table and takes its design."""
    for example, place in zip(WORKED, st.columns(len(WORKED)), strict=True):
        if place.button(t(f"design.example_{example}"), key=f"design_example_{example}", width="stretch"):
            loading.sample(space, example)
            methods.take(space, METHOD, {"design": worked_design(example)})
            st.rerun()


def rows_of(design: Design) -> list[dict[str, Any]]:
    """One line a part; parts that hold from a larger epsilon on say from which. An empty part has no line."""
    out = _rows(dict(design), None)
    if design.marginals:
        out += [_set(s, None) for s in design.marginals[0].sets]
    out += [_set(s, m.epsilon) for m in design.marginals[1:] for s in m.sets]
    for r in design.budgets:
        out += _rows(dict(r), r.epsilon) + [_set(s, r.epsilon) for s in r.sets or ()]
    return out


def _rows(held: Mapping[str, Any], since: float | None) -> list[dict[str, Any]]:
    """The lines of a design or of a range of budgets, less those of the sets."""
    out = [_row("group", g.attributes, g.name, since) for g in held["groups"] or ()]
    for p in held["patterns"] or ():
        out.append(_row("shared pattern" if p.shared else "pattern", p.attributes, p.name, since))
    for b in held["bins"] or ():
        listed = ", ".join(map(str, b.edges or b.codes))
        detail = f"width {b.width}" if b.width is not None else f"{'edges' if b.edges else 'codes'} {listed}"
        out.append(_row("bins", [b.attribute], detail, since))
    for h in held["hierarchies"] or ():
        out.append(_row("follows", [h.general], f"{h.detailed}: {', '.join(map(str, h.codes))}", since))
    out += [_row("nearly follows", [f.target], f.source, since) for f in held["functional"] or ()]
    out += [_row("part", p, "", since) for p in held["parts"] or ()]
    out += [_row("one-ways", held["one_ways"], "", since)] if held["one_ways"] else []
    out += [_row("unmeasured", held["unmeasured"], "", since)] if held["unmeasured"] else []
    return out


def _set(found: ListedSet, since: float | None) -> dict[str, Any]:
    return _row("marginal", found.attributes, f"{found.weight:g}", since)


def _row(part: str, columns: Iterable[str], detail: str, since: float | None) -> dict[str, Any]:
    return {"part": part, "columns": ", ".join(columns), "detail": detail, "since": since}


def design_of(rows: Iterable[Row], before: Design, domain: Domain) -> Design:
    """The design that the lines describe; what no line can say, an empty part, is kept from `before`.

    Raises:
        SettingError: a line cannot be read, or the design does not fit the columns; it names the line's columns.
    """
    from dpsyn_core.systems import Design, check_at_every_budget

    found: dict[float | None, list[tuple[str, list[str], str]]] = {None: []}
    for row in rows:
        columns = [c.strip() for c in str(row.get("columns") or "").split(",") if c.strip()]
        if columns:
            since = _since(columns, row.get("since"))
            found.setdefault(since, []).append((str(row.get("part")), columns, str(row.get("detail") or "").strip()))
    document = _parts(found.pop(None), dict(before))
    first = before.marginals[0].epsilon if before.marginals else 0.0
    sets = document.pop("sets", None)
    document["marginals"] = [{"epsilon": first, "sets": sets}] if sets else []
    document["budgets"] = []
    lists, ranges = {m.epsilon for m in before.marginals[1:]}, {r.epsilon: dict(r) for r in before.budgets}
    for since in sorted({s for s in (*found, *ranges) if s is not None}):
        held = _parts(found.get(since, []), ranges.get(since, {}))
        if since in lists and since not in ranges and "sets" in held:
            document["marginals"].append({"epsilon": since, "sets": held.pop("sets")})
        if held:
            document["budgets"].append({"epsilon": since, **held})
    try:
        made = Design.model_validate(document)
    except ValidationError as error:
        problem = error.errors()[0]
        msg = f"{'.'.join(str(p) for p in problem['loc'])}: {problem['msg']}"
        raise SettingError(msg) from error
    check_at_every_budget(made, domain)
    return made


def _since(columns: list[str], since: Any) -> float | None:
    """The epsilon from which a line holds; None for a line that always does."""
    if since is None or since == "":
        return None
    try:
        number = float(since)
    except (TypeError, ValueError):
        number = -1.0
    if math.isnan(number):  # what the table makes of an emptied number
        return None
    if not 0 <= number < math.inf:
        msg = f"the line of {', '.join(columns)} has '{since}' as its epsilon; write a number of at least 0, or nothing"
        raise SettingError(msg)
    return number


def _parts(lines: list[tuple[str, list[str], str]], before: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a design that lines give, and those that were declared empty and got no line."""
    given: dict[str, list[tuple[list[str], str]]] = {}
    for kind, columns, detail in lines:
        given.setdefault(kind, []).append((columns, detail))
    patterns = [
        {"name": d or "+".join(c), "attributes": c, "shared": kind == "shared pattern"}
        for kind in ("pattern", "shared pattern")
        for c, d in given.get(kind, [])
    ]
    made: dict[str, Any] = {
        "groups": [{"name": d or "+".join(c), "attributes": c} for c, d in given.get("group", [])],
        "patterns": patterns,
        "bins": [_bins(c, d) for c, d in given.get("bins", [])],
        "hierarchies": [_follows(c, d) for c, d in given.get("follows", [])],
        "functional": [{"target": c[0], "source": d} for c, d in given.get("nearly follows", [])],
        "parts": [c for c, _ in given.get("part", [])],
        "one_ways": [name for c, _ in given.get("one-ways", []) for name in c],
        "unmeasured": [name for c, _ in given.get("unmeasured", []) for name in c],
        "sets": [{"attributes": c, "weight": _weight(c, d)} for c, d in given.get("marginal", [])],
    }
    return {name: value for name, value in made.items() if value or before.get(name) == ()}


def _follows(columns: list[str], detail: str) -> dict[str, Any]:
    """`Station: 0, 0, 1, 1`: the detailed column, and the general code of each of its codes."""
    source, _, codes = detail.rpartition(":")
    try:
        (general,) = columns
        numbers = [int(c) for c in codes.replace(",", " ").split()]
        if not source.strip() or not numbers:
            raise ValueError
    except ValueError as error:
        msg = (
            f"the line of {', '.join(columns)} says that it follows from '{detail}'; write one column, and in the "
            "detail the other column with the code that each of its codes gets, such as 'Box: 0, 0, 1, 1'"
        )
        raise SettingError(msg) from error
    return {"general": general, "detailed": source.strip(), "codes": numbers}


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
