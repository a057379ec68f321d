"""Stages: the order in which children are measured and synthesized, and the tables that count them. Public facts alone.

The single roles of a link come first, one stage each, then all other children; grandchildren follow their parents. A
stage sees one record a child: columns that stand (its root's, its parent's, the shapes, those of earlier single
siblings), its columns, and differences of its numbers from those of single siblings. How many grandchildren a child has
is one of its columns. Consecutive siblings among the rest make a separate view.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.runs.trees.forest import Children, ChildShape, Forest, columns_of, shapes_of
from dpsyn_core.schema import (
    AttributeSet,
    CategoricalAttribute,
    CodedAttribute,
    Domain,
    Link,
    LinkedSchema,
    LinkSpan,
    SpanAttribute,
    span_codes,
    spans_of,
)

Columns = list[NDArray[np.int64]]

EXACT_CHILDREN = 16  # children of a parent up to which 1 / number is a whole number of `unit_of`
MOST_POSITIONS = 16  # of a child among its siblings in order, that are kept apart; later ones are one
FEWEST_VALUES = 12  # of a number or an ordered category, from which on its differences between siblings are counted


def unit_of(max_children: int) -> int:
    """What all children of one root weigh together in a view, a whole number that their number divides.

    The least common multiple of 1 .. max_children; beyond 16, of 1 .. 16, and each child weighs the next smaller whole
    number, at least 16 of them.
    """
    return max(math.lcm(*range(1, min(max_children, EXACT_CHILDREN) + 1)), _least(max_children))


def _least(max_children: int) -> int:
    return EXACT_CHILDREN * max_children if max_children > EXACT_CHILDREN else 1


@dataclass(frozen=True, kw_only=True, slots=True)
class ViewColumn:
    """One column of a view.

    attribute: name, size and order. kind: 'context' stands, 'own' is a column of the child, which moves, 'before' one
    of the sibling before, 'difference' follows from two others. source: of a child column its place in the child table.
    of: of a difference, the columns that it follows from: what is subtracted, and from what. sibling: whether what
    stands is of a sibling. span: of a difference that is the time from a context date to one of the child.
    """

    attribute: CodedAttribute
    kind: str
    sibling: bool = False
    source: int = -1
    of: tuple[int, int] = (-1, -1)
    span: SpanAttribute | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """Records of which a root has several, that weigh `unit` together at most.

    columns: in the order of the records' codes. pairs: those of them that a table may count together.
    """

    columns: tuple[ViewColumn, ...]
    unit: int
    pairs: tuple[AttributeSet, ...]

    @property
    def domain(self) -> Domain:
        """Of all columns."""
        return Domain(tuple(c.attribute for c in self.columns))

    def with_differences(self, codes: Columns) -> Columns:
        """The codes of all columns, from those that are no differences."""
        out = list(codes)
        for column in self.columns[len(codes) :]:
            out.append(self.difference(column)[out[column.of[0]], out[column.of[1]]])
        return out

    def difference(self, column: ViewColumn) -> NDArray[np.int64]:
        """Code of a difference for each pair of codes of the columns that it follows from."""
        minus, of = (self.columns[c].attribute for c in column.of)
        return difference_codes(minus, of) if column.span is None else span_codes(column.span)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """Children that are measured and synthesized together. single: place of their role; None: all others of the link.

    recode: of the role column among the rest, where single roles do not occur: new codes by old ones, and back.
    siblings: the view of consecutive siblings; None where there are none. role: place of the role column in the child
    table, where it is recoded.
    """

    link: int
    single: int | None
    view: View
    siblings: View | None = None
    role: int = -1
    recode: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    @property
    def context(self) -> int:
        """How many columns of the view stand."""
        return sum(c.kind == "context" for c in self.view.columns)

    @property
    def own(self) -> list[ViewColumn]:
        """The columns of the child, which are synthesized."""
        return [c for c in self.view.columns if c.kind == "own"]


def difference_codes(minus: CodedAttribute, of: CodedAttribute) -> NDArray[np.int64]:
    """Code of the difference for each pair of codes: bins apart, from the lowest on; the last where one has none."""
    ranked = [a.size - a.special for a in (minus, of)]
    table = np.full((minus.size, of.size), sum(ranked) - 1, dtype=np.int64)
    apart = np.arange(ranked[1])[None, :] - np.arange(ranked[0])[:, None] + ranked[0] - 1
    table[: ranked[0], : ranked[1]] = apart
    return table


def _difference(minus: CodedAttribute, of: CodedAttribute, places: tuple[int, int]) -> ViewColumn:
    size = sum(a.size - a.special for a in (minus, of))  # one code less, and one for what has no difference
    name = f"{of.name} - {minus.name}"
    attribute = CodedAttribute(name=name, size=size, ordered=True, special=1, number=of.number)
    return ViewColumn(attribute=attribute, kind="difference", of=places)


def _span(columns: list[ViewColumn], one: LinkSpan, at: int) -> ViewColumn:
    minus = next(i for i, c in enumerate(columns) if c.kind == "context" and c.attribute.name == one.minus)
    attribute = replace(one.span.coded_attribute(), name=f"{columns[at].attribute.name} - {one.minus}")
    return ViewColumn(attribute=attribute, kind="difference", of=(minus, at), span=one.span)


def has_differences(a: CodedAttribute) -> bool:
    """Whether its differences between siblings are counted."""
    return a.ordered and a.size - a.special >= FEWEST_VALUES


def stages_of(schema: LinkedSchema, *, pairs: bool = True) -> list[Stage]:
    """All stages, in the order in which they are measured and synthesized. pairs: False for one-ways alone."""
    return _stages(schema) if pairs else [_alone(stage) for stage in _stages(schema)]


def _alone(stage: Stage) -> Stage:
    """The stage of a system that measures no two columns together."""
    columns = tuple(c for c in stage.view.columns if c.kind != "difference")
    return replace(stage, view=replace(stage.view, columns=columns, pairs=()), siblings=None)


def _stages(schema: LinkedSchema) -> list[Stage]:
    shapes = shapes_of(schema)
    out: list[Stage] = []
    for number in schema.downward:
        link, shape = schema.links[number], shapes[number]
        attributes = columns_of(schema, link.child)
        standing = [ViewColumn(attribute=a, kind="context") for a in _standing(schema, link)]
        above = schema.above(link)  # single siblings of several parents share one root's weight
        unit = 1 if above is None else unit_of(schema.most_of_root(schema.links[above]))
        twins: dict[int, list[int]] = {}  # places of columns of single siblings, by their place in the child table
        for single, value in enumerate(shape.single):
            sources = [i for i in range(len(attributes)) if i != shape.role]
            named = [replace(attributes[i], name=f"{link.child}[{value}].{attributes[i].name}") for i in sources]
            if sources:
                spans = spans_of(schema, link)
                out.append(_stage(number, single, standing, named, sources, twins, unit, spans))
            for i, a in zip(sources, named, strict=True):
                twins.setdefault(i, []).append(len(standing))
                absent = replace(a, size=a.size + 1, special=a.special + 1)
                standing = [*standing, ViewColumn(attribute=absent, kind="context", sibling=True)]
        out.append(_rest(schema, number, shape, standing, attributes, twins))
    return out


def _standing(schema: LinkedSchema, link: Link) -> list[CodedAttribute]:
    """What a child's record holds of its root, with the numbers of children, or of root and parent."""
    root = [replace(a, name=f"{schema.root.name}.{a.name}") for a in root_columns(schema)]
    if schema.above(link) is None:
        return root
    parent = [replace(a, name=f"{link.parent}.{a.name}") for a in columns_of(schema, link.parent)]
    return root[: len(schema.root.coded)] + parent


def root_columns(schema: LinkedSchema) -> list[CodedAttribute]:
    """The attributes of the root, and how many children it has by each link."""
    shapes = shapes_of(schema)
    return columns_of(schema, schema.root.name) + [shapes[i].attribute() for i in schema.below(schema.root.name)]


def _rest(
    schema: LinkedSchema,
    number: int,
    shape: ChildShape,
    standing: list[ViewColumn],
    attributes: list[CodedAttribute],
    twins: dict[int, list[int]],
) -> Stage:
    link = shape.link
    columns = [replace(a, name=f"{link.child}.{a.name}") for a in attributes]
    sources, recode = list(range(len(columns))), None
    if shape.role is not None:
        declared = schema[link.child].coded[shape.role]
        recode = _without(declared, shape.single)
        place = shape.role
        columns[place] = replace(columns[place], size=len(recode[1]))
    if shape.distinct and shape.order is not None:  # the shape says it: it stands
        standing = [*standing, ViewColumn(attribute=columns[shape.order], kind="context", source=shape.order)]
        sources.remove(shape.order)
    elif shape.order is not None:
        size = min(link.max_children, MOST_POSITIONS)
        attribute = CodedAttribute(name=f"{link.child}: position", size=size, ordered=True)
        standing = [*standing, ViewColumn(attribute=attribute, kind="context")]
    named = [columns[i] for i in sources]
    unit = unit_of(schema.most_of_root(link))
    stage = _stage(number, None, standing, named, sources, twins, unit, spans_of(schema, link))
    coupled = None if link.max_children - len(shape.single) < 2 or not sources else _siblings(named, sources, unit)
    role = -1 if shape.role is None else shape.role
    return replace(stage, role=role, recode=recode, siblings=coupled)


def _without(attribute: CategoricalAttribute, single: tuple[str, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Codes of a role column where single roles do not occur: new codes by old ones, and old codes by new ones."""
    alone = [attribute.keys.index(v) for v in single]
    back = np.array([code for code in range(attribute.size) if code not in alone], dtype=np.int64)
    there = np.zeros(attribute.size, dtype=np.int64)
    there[back] = np.arange(len(back))
    return there, back


def _stage(
    link: int,
    single: int | None,
    standing: list[ViewColumn],
    named: list[CodedAttribute],
    sources: list[int],
    twins: dict[int, list[int]],
    unit: int,
    spans: list[LinkSpan],
) -> Stage:
    columns = [*standing, *(ViewColumn(attribute=a, kind="own", source=i) for a, i in zip(named, sources, strict=True))]
    for at, i in enumerate(sources, len(standing)):
        a = columns[at].attribute
        if has_differences(a):
            columns += [_difference(columns[twin].attribute, a, (twin, at)) for twin in twins.get(i, ())]
        columns += [_span(columns, s, at) for s in spans if s.own == i]
    return Stage(link=link, single=single, view=View(columns=tuple(columns), unit=unit, pairs=_pairs(columns)))


def _siblings(named: list[CodedAttribute], sources: list[int], unit: int) -> View:
    before = [replace(a, name=f"{a.name} before") for a in named]
    columns = [ViewColumn(attribute=a, kind="before", source=i) for a, i in zip(before, sources, strict=True)]
    columns += [ViewColumn(attribute=a, kind="own", source=i) for a, i in zip(named, sources, strict=True)]
    for j, a in enumerate(named):
        if has_differences(a):
            columns.append(_difference(before[j], a, (j, len(named) + j)))
    return View(columns=tuple(columns), unit=unit, pairs=_pairs(columns))


def _tells(standing: ViewColumn, difference: ViewColumn, minus: bool) -> bool:
    """Whether the pair of a column that stands with a difference tells something new. minus: it is what is subtracted.

    A time between is blank where the date that it is taken from is: their pair would tell hardly more.
    """
    if difference.span is None:
        return minus  # with any other, the pair of both columns tells as much
    return not (minus and standing.attribute.special)


def _pairs(columns: list[ViewColumn]) -> tuple[AttributeSet, ...]:
    """Candidate pairs: of a child column with any, of a difference with child columns and with its minuend.

    In a view of siblings, pairs of columns of one child are left out: they were counted for all children.
    """
    out, siblings = [], any(c.kind == "before" for c in columns)
    spanned = {c.of for c in columns if c.span is not None}  # the time between tells more than the pair of both dates
    for (i, a), (j, b) in combinations(enumerate(columns), 2):
        kinds = {a.kind, b.kind}
        if "difference" in kinds:
            beside = _tells(a, b, i == b.of[0]) if a.kind == "context" else i not in b.of
            fits = a.kind != b.kind and beside
        elif "before" in kinds:
            fits = a.kind != b.kind
        else:
            fits = "own" in kinds and not siblings and (i, j) not in spanned
        if fits:
            out.append((a.attribute.name, b.attribute.name))
    return tuple(out)


# ---- the records of a view, of a real forest or of a synthetic one


def parents_in(children: Children, stage: Stage) -> NDArray[np.int64]:
    """The parent of each record of a stage."""
    return children.of_parent if stage.single is None else np.flatnonzero(children.singles[stage.single][0])


def in_root(forest: Forest, stage: Stage) -> NDArray[np.int64]:
    """How many records of a stage the root of each record has: its weight is one over this."""
    root = forest.root_of(stage.link)[parents_in(forest.children[stage.link], stage)]
    counts: NDArray[np.int64] = np.bincount(root, minlength=forest.n_roots)[root]
    return counts


def pairs_in_root(forest: Forest, stage: Stage, lags: int = 1) -> NDArray[np.int64]:
    """How many pairs of siblings, at most so far apart, the root of each of the rest has, (n,)."""
    children = forest.children[stage.link]
    root = forest.root_of(stage.link)
    pairs = sum(np.maximum(children.counts - lag, 0) for lag in range(1, lags + 1))
    pairs = np.bincount(root, weights=pairs, minlength=forest.n_roots)
    counts: NDArray[np.int64] = pairs.astype(np.int64)[root[children.of_parent]]
    return counts


def context_columns(forest: Forest, stage: Stage, schema: LinkedSchema) -> Columns:
    """Codes of the columns that stand, one record a child of the stage."""
    children = forest.children[stage.link]
    rows = parents_in(children, stage)
    if forest.above[stage.link] is None:
        shapes = [forest.shapes[i] for i in schema.below(schema.root.name)]
        out = [c.astype(np.int64)[rows] for c in forest.roots] + [s[rows] for s in shapes]
    else:
        root = forest.root_of(stage.link)[rows]
        out = [c.astype(np.int64)[root] for c in forest.roots]
        out += [c.astype(np.int64)[rows] for c in forest.parent_codes(stage.link)]
    shape = shapes_of(schema)[stage.link]
    singles = len(children.singles) if stage.single is None else stage.single
    sizes = [a.size for a in columns_of(schema, shape.link.child)]
    for there, codes in children.singles[:singles]:
        for i, column in enumerate(codes):
            if i != shape.role:
                out.append(np.where(there, column.astype(np.int64), sizes[i])[rows])
    if stage.single is None and shape.distinct:
        out.append(shape.orders(forest.shapes[stage.link]))
    elif stage.single is None and shape.order is not None:
        out.append(np.minimum(children.position, min(shape.link.max_children, MOST_POSITIONS) - 1))
    return out


def own_columns(children: Children, stage: Stage) -> Columns:
    """Codes of the child columns of real children."""
    out: Columns = []
    if stage.single is not None:
        there, codes = children.singles[stage.single]
        return [codes[c.source][there].astype(np.int64) for c in stage.own]
    for c in stage.own:
        codes = children.rest[c.source].astype(np.int64)
        out.append(stage.recode[0][codes] if stage.recode is not None and c.source == stage.role else codes)
    return out
