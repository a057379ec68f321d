"""Charges of linked tables against their schema: what one root may change in each of them follows from its name.

Each view of children has a unit of its own (`linked.stages.unit_of`): a charge that states the unit of another view
states another cost than its noise has.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dpsyn_core.errors import InputError
from dpsyn_core.linked.answering import KIND, asked_needs
from dpsyn_core.linked.asked import LinkedQuestions
from dpsyn_core.linked.document import LinkedSchema, LinkedSettings
from dpsyn_core.linked.real import root_domain
from dpsyn_core.linked.spans import measured_schema
from dpsyn_core.linked.stages import View, stages_of
from dpsyn_core.measurement.select import GRID
from dpsyn_core.privacy.charge_record import ChargeRecord
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.unit import Unit

_ROUNDING = 1e-6  # of noise, computed on another machine
_MARGINAL, _JOINED = "marginal ", " x "
_OF_PAIRS = ("scores of pairs", "scores of coarser pairs")  # once a part; all other scores are of the root alone


@dataclass(frozen=True, kw_only=True, slots=True)
class _ViewCharges:
    """What is measured together. unit: what one root's records weigh. own: names of one-ways that are charged.

    pairs: names of candidates. columns: of which sets of any order may be charged; those of the root alone. question:
    whether it is the table of a declared question, which is charged once and may have a name of another part.
    """

    unit: int
    own: frozenset[str]
    pairs: frozenset[str] = frozenset()
    scored: int = 0
    columns: tuple[str, ...] = ()
    question: bool = False

    def has(self, name: str) -> bool:
        """Whether the part may be charged for a marginal of this name."""
        return name in self.own or name in self.pairs or (bool(self.columns) and _joins(name, self.columns))

    def scores(self, c: ChargeRecord) -> bool:
        """Whether these may be scores of the part."""
        if c.name not in _OF_PAIRS:
            return bool(self.columns)
        return c.cells == self.scored if c.name == _OF_PAIRS[0] else c.cells <= self.scored


def of_linked_charges(found: Manifest, schema: LinkedSchema) -> list[str]:
    """Sentences, each one contradiction: charges that the schema does not have, of another unit, or missing."""
    try:
        parts = [*_parts(found, schema), *_questions(found, schema)]
    except InputError as error:
        return [f"the run could not have been made with its schema: {error}"]
    out, at = [], 0
    seen: set[tuple[int, str]] = set()
    for c in found.charges:
        place = _place(c, parts, at, seen)
        if place is None:
            out.append(f"the manifest lists '{c.name}', which linked tables of this schema do not charge there")
            continue
        at = place
        seen.add((at, c.name))
        needed = _sensitivity(c, schema.unit.counting(parts[at].unit))
        if not math.isclose(c.sensitivity, needed, rel_tol=_ROUNDING):
            out.append(
                f"the charge '{c.name}' has the sensitivity {c.sensitivity:g}, and by the schema it would be {needed:g}"
            )
    for i, part in enumerate(parts):
        lacking = sorted(n for n in part.own if (i, n) not in seen)
        out += [f"linked tables of this schema charge for '{n}', and the manifest does not" for n in lacking]
    return out


def _parts(found: Manifest, schema: LinkedSchema) -> Iterator[_ViewCharges]:
    """What a run measures, in its order."""
    schema = measured_schema(schema, LinkedSettings.model_validate(found.settings).questions)
    names = root_domain(schema).names
    own = frozenset(("total", *(_MARGINAL + n for n in names)))
    yield _ViewCharges(unit=1, own=own, columns=names, scored=len(names) * (len(names) - 1) // 2)
    for stage in stages_of(schema):
        yield _of_view(stage.view, stage.view.columns[: stage.context])
        if stage.siblings is not None:
            yield _of_view(stage.siblings, [c for c in stage.siblings.columns if c.kind != "difference"])


def _questions(found: Manifest, schema: LinkedSchema) -> Iterator[_ViewCharges]:
    """The table of each declared question, in their order, after all else."""
    settings = LinkedSettings.model_validate(found.settings)
    for table, need in asked_needs(schema, LinkedQuestions.of(list(settings.questions))):
        name = _MARGINAL + _JOINED.join(need.attributes) if need.attributes else "total"
        yield _ViewCharges(unit=table.unit, own=frozenset((name,)), question=True)


def _of_view(view: View, known: Sequence[object]) -> _ViewCharges:
    """A view; known: the columns whose one-ways follow from released values."""
    told = {id(c) for c in known}
    own = frozenset(_MARGINAL + c.attribute.name for c in view.columns if id(c) not in told)
    pairs = frozenset(_MARGINAL + _JOINED.join(pair) for pair in view.pairs)
    return _ViewCharges(unit=view.unit, own=own, pairs=pairs, scored=len(view.pairs))


def _place(c: ChargeRecord, parts: Sequence[_ViewCharges], at: int, seen: set[tuple[int, str]]) -> int | None:
    """The part that a charge belongs to, this one or a later one; None: it belongs to none.

    Scores have the same names in all parts. They follow the one-ways of their part, of which some siblings have none.
    """
    if c.mechanism not in ("gaussian", "geometric"):
        return None
    if c.kind == KIND:
        later = range(at, len(parts))
        return next((i for i in later if parts[i].question and parts[i].has(c.name) and (i, c.name) not in seen), None)
    if c.kind != "scores":
        return next((i for i in range(at, len(parts)) if parts[i].has(c.name) and not parts[i].question), None)
    for i in range(at, len(parts)):
        if i > at and parts[i].own:
            return None
        if parts[i].scores(c) and (c.name not in _OF_PAIRS or (i, c.name) not in seen):
            return i
    return None


def _sensitivity(c: ChargeRecord, unit: Unit) -> float:
    pure = c.mechanism == "geometric"
    if c.kind != "scores":
        return float(unit.l1()) if pure else unit.l2()
    return GRID * unit.l1() * (c.cells if pure else math.sqrt(c.cells))


def _joins(name: str, columns: Sequence[str]) -> bool:
    """Whether this is the name of a marginal over some of these columns, whose own names may hold an ' x '."""
    rest = name.removeprefix(_MARGINAL) if name.startswith(_MARGINAL) else ""
    return any(
        rest == n or (rest.startswith(n + _JOINED) and _joins(_MARGINAL + rest[len(n + _JOINED) :], columns))
        for n in columns
    )
