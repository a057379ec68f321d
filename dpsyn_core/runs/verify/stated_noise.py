"""Held against the charges: whether released tables and scores tell no more than the manifest says was paid for.

What one root of linked tables may change follows from the name of a charge. Each view of children has a separate unit
(`linked.stages.unit_of`): a charge that states the unit of another view states another cost than its noise has.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dpsyn_core.errors import InputError
from dpsyn_core.estimate import LEAST, MeanTable, Measurement, ModelSum, ReleasedTables, Scores
from dpsyn_core.measure import EXCEPTIONS, GRID, MEANS, STEPS, averaged, law_of, sigma_of
from dpsyn_core.privacy import Charge, ChargeRecord, Manifest, Unit, is_table
from dpsyn_core.questions import Questions
from dpsyn_core.runs.trees.answers import KIND, asked_needs
from dpsyn_core.runs.trees.real_tables import root_domain
from dpsyn_core.runs.trees.stages import View, stages_of
from dpsyn_core.schema import LinkedSchema, LinkedSettings, measured_schema

_MARGINAL, _JOINED = "marginal ", " x "
_OF_PAIRS = ("scores of pairs", "scores of coarser pairs")  # once a part; all other scores are of the root alone
ROUNDING = 1e-6  # relative, of noise: it may have been computed on another machine
COEFFICIENTS, SCORES = "coefficients", "scores"  # kinds of charges


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
        if averaged(name) is not None:
            return bool(self.columns)
        return name in self.own or name in self.pairs or (bool(self.columns) and _joins(name, self.columns))

    def scores(self, c: ChargeRecord) -> bool:
        """Whether these may be scores of the part."""
        if c.name not in _OF_PAIRS:
            return bool(self.columns)
        return c.cells == self.scored if c.name == _OF_PAIRS[0] else c.cells <= self.scored


def of_linked_charges(found: Manifest, schema: Any) -> list[str]:
    """Sentences, each one contradiction: charges that the schema does not have, of another unit, or missing."""
    try:
        parts = [*_root_parts(found, schema), *_questions(found, schema)]
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
        needed = _root_sensitivity(c, schema.unit.counting(parts[at].unit))
        if not math.isclose(c.sensitivity, needed, rel_tol=ROUNDING):
            out.append(
                f"the charge '{c.name}' has the sensitivity {c.sensitivity:g}, and by the schema it would be {needed:g}"
            )
    for i, part in enumerate(parts):
        lacking = sorted(n for n in part.own if (i, n) not in seen)
        out += [f"linked tables of this schema charge for '{n}', and the manifest does not" for n in lacking]
    return out


def _root_parts(found: Manifest, schema: LinkedSchema) -> Iterator[_ViewCharges]:
    """What a run measures, in its order."""
    settings = LinkedSettings.model_validate(found.settings)
    pairs = settings.pairs
    schema = measured_schema(schema, settings.questions)
    names = root_domain(schema).names
    one_ways = frozenset((*(["total"] if pairs or not names else []), *(_MARGINAL + n for n in names)))
    scored = len(names) * (len(names) - 1) // 2
    yield _ViewCharges(unit=1, own=one_ways, columns=names if pairs else (), scored=scored if pairs else 0)
    for stage in stages_of(schema, pairs=pairs):
        yield _of_view(stage.view, stage.view.columns[: stage.context])
        if stage.siblings is not None:
            yield _of_view(stage.siblings, [c for c in stage.siblings.columns if c.kind != "difference"])


def _questions(found: Manifest, schema: LinkedSchema) -> Iterator[_ViewCharges]:
    """The table of each declared question, in their order, after all else."""
    settings = LinkedSettings.model_validate(found.settings)
    for table, need in asked_needs(schema, Questions.of(list(settings.questions))):
        name = _MARGINAL + _JOINED.join(need.attributes) if need.attributes else "total"
        yield _ViewCharges(unit=table.unit, own=frozenset((name,)), question=True)


def _of_view(view: View, known: Sequence[object]) -> _ViewCharges:
    """A view; known: the columns whose one-ways follow from released values."""
    skipped = {id(c) for c in known}
    one_ways = frozenset(_MARGINAL + c.attribute.name for c in view.columns if id(c) not in skipped)
    pairs = frozenset(_MARGINAL + _JOINED.join(pair) for pair in view.pairs)
    return _ViewCharges(unit=view.unit, own=one_ways, pairs=pairs, scored=len(view.pairs))


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


def _root_sensitivity(c: ChargeRecord, unit: Unit) -> float:
    pure = c.mechanism == "geometric"
    if c.kind != "scores":
        return (float(unit.l1()) if pure else unit.l2()) * (averaged(c.name) or 1)
    one = unit.max_records if c.name == EXCEPTIONS else GRID * unit.l1()
    return one * (c.cells if pure else math.sqrt(c.cells))


def _joins(name: str, columns: Sequence[str]) -> bool:
    """Whether this is the name of a marginal over some of these columns, whose names may hold an ' x '."""
    rest = name.removeprefix(_MARGINAL) if name.startswith(_MARGINAL) else ""
    return any(
        rest == n or (rest.startswith(n + _JOINED) and _joins(_MARGINAL + rest[len(n + _JOINED) :], columns))
        for n in columns
    )


def without_noise(released: ReleasedTables) -> bool:
    """Whether a table, or the scores, state no noise at all, or next to none."""
    scores = () if released.scores is None or not released.scores.sets else (released.scores,)
    return any(m.sigma < LEAST for m in (*released, *released.joint, *released.means, *scores))


def underpaid(charges: Iterable[ChargeRecord], unit: Unit, found: ReleasedTables) -> list[str]:
    """Sentences, one for each name of which more was released than its charges paid for; none where all was paid.

    Several tables of one name add up: their precisions 1 / sigma^2 together are no more than the charges of that name
    bought. Tables that were computed from one release (`Measurement.shared`) are checked against that one.

    Args:
        charges: of the manifest.
        unit: whom they protect.
        found: released tables, joint tables and scores.
    """
    noisy = [c.charge() for c in charges]
    noisy = [c for c in noisy if law_of(c) is not None]
    shared = dict[str, list[Measurement]]()
    bought, used = dict[tuple[str, ...], float](), dict[tuple[str, ...], float]()
    for c in noisy:
        key = _attributes(c.name)
        if key is not None and _is_of_counts(c, unit):
            bought[key] = bought.get(key, 0.0) + sigma_of(c) ** -2
    tables = [(m.attributes, m.sigma) for m in found if not m.shared]
    tables += [(tuple(n for a in m.axes for n in a.attributes), m.sigma) for m in found.joint]
    for names, sigma in tables:
        key = _parts(" x ".join(names))
        used[key] = used.get(key, 0.0) + (sigma**-2 if sigma > 0 else math.inf)
    for m in found:
        if m.shared:
            shared.setdefault(m.shared, []).append(m)
    out = []
    for key, precision in used.items():
        if key not in bought:
            out.append(f"the released marginals hold '{_name(key)}', and the manifest lists no charge for it")
        elif precision > bought[key] * (1 + ROUNDING):
            out.append(f"'{_name(key)}' was released with less noise, or more often, than the manifest's charges say")
    for name, views in shared.items():
        if not any(_pays_views(c, unit, views) for c in noisy if c.name == name):
            out.append(f"the released marginals hold more of '{name}' than the manifest's charge pays for")
    return out + _unpaid(noisy, unit, found)


def _unpaid(noisy: Sequence[Charge], unit: Unit, found: ReleasedTables) -> list[str]:
    """Sentences on sums, means of tables and scores of which each needs one charge."""
    out = [
        f"the manifest lists no charge for the sum of the model '{s.design.name}', or one of more noise"
        for s in found.sums
        if not any(_pays_sum(c, unit, s) for c in noisy)
    ]
    out += [
        f"the manifest lists no charge for a mean of {len(m.pairs)} marginals, or one of more noise"
        for m in found.means
        if not any(_pays_mean(c, unit, m) for c in noisy)
    ]
    scores = found.scores
    if scores is not None and scores.sets and not any(_pays_scores(c, unit, scores) for c in noisy):
        out.append("the manifest lists no charge for the scores of pairs that were released, or one of more noise")
    return out


def _attributes(name: str) -> tuple[str, ...] | None:
    """The key of the table that a charge names; None where it names none."""
    if name == "total":
        return ()
    for prefix in ("marginal ", "group "):
        if name.startswith(prefix):
            return _parts(name.removeprefix(prefix))
    return None


def _parts(over: str) -> tuple[str, ...]:
    """Names of the attributes of a charge, sorted: a system may name them in another order than the schema does."""
    return tuple(sorted(over.split(" x "))) if over else ()


def _name(key: tuple[str, ...]) -> str:
    return f"marginal {' x '.join(key)}" if key else "total"


def _sensitivity(c: Charge, unit: Unit) -> float:
    """Of one table of counts, in the norm of the charge's noise."""
    return unit.l2() if c.mechanism == "gaussian" else float(unit.l1())


def _is_of_counts(c: Charge, unit: Unit) -> bool:
    """Whether the noise of a charge is that of a table of counts, so that its precision may be used for one."""
    return (c.kind is None or is_table(c.kind)) and c.sensitivity >= _sensitivity(c, unit) * (1 - ROUNDING)


def _each(c: Charge) -> float:
    """The sensitivity of one of the `cells` numbers of a charge, all of which an individual moves alike."""
    return c.sensitivity / (math.sqrt(c.cells) if c.mechanism == "gaussian" else c.cells) if c.cells else 0.0


def _pays_views(c: Charge, unit: Unit, views: Sequence[Measurement]) -> bool:
    """Whether Fourier coefficients give these tables: a cell is the sum of 2^k signed coefficients over 2^k.

    A table over k attributes needs the coefficients of all its subsets, and the charge is of so many.
    """
    if c.kind not in (None, COEFFICIENTS) or _each(c) < unit.l1() * (1 - ROUNDING):
        return False
    needed: set[frozenset[str]] = set()
    sets = [frozenset(m.attributes) for m in views]
    if len(set(sets)) < len(sets):
        return False
    for m in views:
        k = len(m.attributes)
        if m.cells != 2**k or m.cells > c.cells or m.sigma < sigma_of(c) / 2 ** (k / 2) * (1 - ROUNDING):
            return False
        names = m.attributes
        needed.update(frozenset(n for i, n in enumerate(names) if at >> i & 1) for at in range(2**k))
        if len(needed) > c.cells:
            return False
    return True


def _pays_sum(c: Charge, unit: Unit, s: ModelSum) -> bool:
    """Whether a charge bought a sum of vectors of this norm with so little noise."""
    if c.kind != "sum" or c.name != f"model {s.design.name}" or c.cells != len(s.values):
        return False
    moved = STEPS * unit.max_records * (2 if unit.neighbours == "replace" else 1)
    return c.sensitivity >= moved * (1 - ROUNDING) and sigma_of(c) * s.clip / STEPS * (1 - ROUNDING) <= s.sigma


def _pays_mean(c: Charge, unit: Unit, mean: MeanTable) -> bool:
    """Whether a charge bought the sum of so many marginals with so little noise."""
    m, first = averaged(c.name), " x ".join(mean.pairs[0])
    if c.kind != MEANS or m != len(mean.pairs) or c.cells != mean.values.size or not c.name.endswith(f": {first}"):
        return False
    moved = m * _sensitivity(c, unit)
    return c.sensitivity >= moved * (1 - ROUNDING) and sigma_of(c) / m * (1 - ROUNDING) <= mean.sigma


def _pays_scores(c: Charge, unit: Unit, scores: Scores) -> bool:
    """Whether a charge bought scores of so many pairs with so little noise.

    An individual moves each score, which is a number of records, by all its records or more. Scores that are released
    on the grid of `score_sets` move by so many of its steps, and are divided by them.
    """
    each, least = _each(c), unit.l1()
    if c.kind not in (None, SCORES) or not c.name.endswith(" pairs") or each < least * (1 - ROUNDING):
        return False
    steps = GRID if math.isclose(each, GRID * least, rel_tol=ROUNDING) else 1
    once = len(set(scores.sets)) == len(scores.sets) <= c.cells
    return once and 0 < sigma_of(c) / steps * (1 - ROUNDING) <= scores.sigma
