"""The one table that a linked question is about: its schema of version 1, and its codes from any forest."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import DPSynError, QuestionError
from dpsyn_core.estimate import Coarsening
from dpsyn_core.questions import (
    ChildCount,
    GapQuestion,
    GiniQuestion,
    LinkedQuestion,
    MeanQuestion,
    QuantileQuestion,
    Question,
    Questions,
    SumQuestion,
    check,
    numbers_of,
    numeric,
    plain,
    within,
)
from dpsyn_core.runs.trees.forest import Forest, shapes_of
from dpsyn_core.schema import BEFORE, Link, LinkedSchema, LinkedTable, Schema
from dpsyn_core.tables import clauses

Ints = NDArray[np.int64]
FINE_STEPS, FEW_STEPS = 10_000, 50  # of a change to either side of none, where cells cost nothing and where they do
WHOLE = 64  # that a record weighs where those of roots with many weigh less, each a whole number
FINE = 256  # times that, where a record is divided between the ends of a number, each part a whole number
MOST_RUNS = 100  # of the values of a number, of which a quantile or a Gini index is read


def in_order(ask: Question) -> TypeGuard[QuantileQuestion | GiniQuestion]:
    """Whether a figure is read off the order of its number's values."""
    return isinstance(ask, QuantileQuestion | GiniQuestion) and ask.of not in (*ask.by, *ask.bins)


def units_of(question: LinkedQuestion, most: int) -> tuple[int, int]:
    """What `most` records of one root weigh together, at most: as they stand, and divided between two ends."""
    limit = most if question.at_most is None else WHOLE * min(question.at_most, most)
    return limit, FINE * limit


def of_table(schema: LinkedSchema, table: str, question: Question) -> LinkedQuestion | None:
    """A question of one table as one about linked tables, named after it; None where it cannot be asked of them."""
    name = f"{table}: {question.name}"[:200]
    try:
        made = Questions.of([{"about": table, "ask": plain(question) | {"name": name}}]).across[0]
        AskedTable(schema, made)
    except DPSynError:  # a regression, or a column that its table computes
        return None
    return made


class AskedTable:
    """What a question may name, and what its records are. Public facts.

    whole: what a record weighs that counts fully. unit: what the records of one root weigh together, at most. ends: the
    number of a figure that depends on its mean alone. Each record is counted at its least and at its largest value, in
    the parts that keep the mean: two cells have less noise than one for each value. runs: that of a quantile or Gini
    index in runs of its values, where it has more than `MOST_RUNS`; empty where the values stay.
    """

    def __init__(self, schema: LinkedSchema, question: LinkedQuestion) -> None:
        """Raises QuestionError for a question that does not fit."""
        self.schema, self.question = schema, question
        try:
            self._link, most = self._place()
            self._held, divided = units_of(question, most)
            self._attributes = {**self._columns(), **self._declared()}
            named = [n for n in self._attributes if n in question.ask.attributes]
            lacking = next((n for n in question.ask.attributes if n not in self._attributes), None)
            if lacking is not None:
                some = ", ".join(list(self._attributes)[:30])
                msg = f"'{lacking[:80]}' is no column that it can name; those are {some}"
                raise QuestionError(msg)
            listed = tuple(self._attributes[n] for n in named)
            self.table = Schema.of({"version": 1, "name": question.about, "attributes": listed})
            check(question.ask, self.table)
            self.ends, self.runs = self._ends(), self._runs()
            self.unit = divided if self.ends else self._held
            self.whole = self.unit // self._held * (1 if question.at_most is None else WHOLE)
        except DPSynError as error:
            msg = f"question '{question.name}': {error}"
            raise QuestionError(msg) from error

    def _place(self) -> tuple[Link | None, int]:
        about, names = self.question.about, [t.name for t in self.schema.tables]
        if about not in names:
            msg = f"it is about '{about[:80]}', which is no table; those are {', '.join(names)}"
            raise QuestionError(msg)
        link = next((one for one in self.schema.links if one.child == about), None)
        below = [self.schema.links[i].child for i in self.schema.below(about)]
        other = next((c.of for c in self.question.counts.values() if c.of not in below), None)
        if other is not None:
            some = f"children of '{about}' are {', '.join(below)}" if below else f"'{about}' has none"
            msg = f"it counts '{other[:80]}'; {some}"
            raise QuestionError(msg)
        if self.question.changes and (link is None or link.order is None):
            msg = f"it asks for changes, and the records of '{about}' have no order; declare the order of its link"
            raise QuestionError(msg)
        if link is None and self.question.at_most is not None:
            msg = f"at_most is {self.question.at_most}, and a root is one record of '{about}'; leave at_most out"
            raise QuestionError(msg)
        return link, 1 if link is None else self.schema.most_of_root(link)

    def _ends(self) -> dict[str, Coarsening]:
        """The largest value of the number by itself, all others with the least; empty where that would not do."""
        ask = self.question.ask
        if not isinstance(ask, MeanQuestion | SumQuestion | GapQuestion) or ask.of in (*ask.by, *ask.bins):
            return {}
        attribute = self.table[ask.of]
        plain = attribute.size - attribute.special
        numbers = numbers_of(attribute)[:plain]
        if plain < 3 or np.isnan(numbers).any() or numbers[0] != numbers.min() or numbers[-1] != numbers.max():
            return {}
        return {
            ask.of: Coarsening.of(np.append(np.zeros(plain - 1, dtype=np.intp), np.arange(1, 2 + attribute.special)))
        }

    def _runs(self) -> dict[str, Coarsening]:
        """Runs of about equally many bins: noise grows with the number of cells, and wide cells are soon read well."""
        if not in_order(self.question.ask):
            return {}
        attribute = self.table[self.question.ask.of]
        plain = attribute.size - attribute.special
        numbers = numbers_of(attribute)[:plain]
        if plain <= MOST_RUNS or np.isnan(numbers).any() or (np.diff(numbers) < 0).any():
            return {}
        return {self.question.ask.of: Coarsening.even(attribute.coded_attribute(), MOST_RUNS)}

    def _columns(self) -> dict[str, dict[str, Any]]:
        """Attributes as documents, under the names that the question may use."""
        link = self._link
        if link is None:
            return {a.name: _plain(a) for a in self.schema.root.coded}
        out = {}
        for name, attribute in self.schema.attributes_of(link).items():
            named = name in {attribute.name, *(f"{t}.{attribute.name}" for t in (link.parent, self.schema.root.name))}
            out[name] = _plain(attribute) | {"name": name} | ({} if named else {"missing": True})
        return out

    def _declared(self) -> dict[str, dict[str, Any]]:
        columns = self._columns()
        out: dict[str, dict[str, Any]] = {}
        for name, count in self.question.counts.items():
            link = next(one for one in self.schema.links if one.child == count.of)
            most = 1 if count.any else link.max_children
            self._met(link, count)
            out[name] = {"name": name, "kind": "numeric", "dtype": "integer", "min": 0, "max": most,
                         "bins": {"count": most + 1}}  # fmt: skip
        for name, of in self.question.changes.items():
            out[name] = self._change(name, of)
        for name in out:
            if name in columns:
                msg = f"'{name}' is a column of its table already; name the declared one otherwise"
                raise QuestionError(msg)
        return out

    def _met(self, link: Link, count: ChildCount) -> list[tuple[int, NDArray[np.bool_]]]:
        """For each condition the place of its column in the child table, and which codes meet it."""
        child = self.schema[link.child]
        out = []
        for clause in () if count.where is None else clauses(count.where):
            place = _place_of(child, clause.attribute)
            share = within(child.coded[place], clause)
            if ((share > 0) & (share < 1)).any():
                msg = f"the condition on '{clause.attribute}' cuts a bin; let it end where a bin does"
                raise QuestionError(msg)
            out.append((place, share > 0))
        return out

    def _change(self, name: str, of: str) -> dict[str, Any]:
        """A number of bins that are as wide as those of the column on average; finer where cells cost nothing."""
        link = self._link
        table = self.schema[self.question.about]
        attribute = table.coded[_place_of(table, of)]
        if link is None or not numeric(attribute):
            msg = (
                f"'{name}' is a change of '{of}', which holds no numbers; ask for the table of 'before.{of}' and '{of}'"
            )
            raise QuestionError(msg)
        middles = numbers_of(attribute)
        middles = middles[~np.isnan(middles)]
        steps = np.diff(middles)
        if not len(steps) or steps.min() <= 0:
            msg = f"'{of}' has no numbers in ascending order to compare; ask for the table of 'before.{of}' and '{of}'"
            raise QuestionError(msg)
        span, fine = float(np.ptp(middles)), isinstance(self.question.ask, MeanQuestion | SumQuestion | GapQuestion)
        half = min(round(span / float(steps.min() if fine else steps.mean())), FINE_STEPS if fine else FEW_STEPS)
        bins, end = 2 * half + 1, span / half * (half + 0.5)
        return {"name": name, "kind": "numeric", "dtype": "float", "min": -end, "max": end, "bins": {"count": bins},
                "missing": True}  # fmt: skip

    # ---- the records

    def codes(self, forest: Forest) -> Ints:
        """Codes of the named columns (attributes, records), in the order of `table`; as private as the forest."""
        names = self.table.domain().names
        sizes = self.table.domain().sizes
        link = self._link
        if link is None:
            top = {a.name: forest.roots[i] for i, a in enumerate(self.schema.root.coded)}
            rows = [self._counted(forest, n) if n in self.question.counts else top[n].astype(np.int64) for n in names]
            return np.stack(rows) if rows else np.zeros((0, forest.n_roots), dtype=np.int64)
        number = self.schema.links.index(link)
        counted = {n: self._counted(forest, n) for n in names if n in self.question.counts}
        return _ChildRows(self.schema, link, forest, number).columns(names, sizes, self.question.changes, counted)

    def weights(self, forest: Forest) -> Ints:
        """What each record weighs, (records,), in whole numbers of which a root's add up to `unit` at most."""
        if self._link is None:
            return np.full(forest.n_roots, self.whole, dtype=np.int64)
        number = self.schema.links.index(self._link)
        root = forest.root_of(number)[forest.children[number].parents]
        if self.question.at_most is None:
            return np.full(len(root), self.whole, dtype=np.int64)
        weights: Ints = np.minimum(WHOLE, self._held // np.bincount(root, minlength=forest.n_roots)[root])
        return weights * (self.whole // WHOLE)

    def counted(self, forest: Forest) -> tuple[Ints, Ints]:
        """Codes and weights as they are counted: those of `codes`, each divided between both ends of the number."""
        codes, weights = self.codes(forest), self.weights(forest)
        if not self.ends:
            return codes, weights
        (name,) = self.ends
        attribute, place = self.table[name], self.table.domain().names.index(name)
        top = attribute.size - attribute.special - 1
        numbers = numbers_of(attribute)[: top + 1]
        share = np.append((numbers - numbers[0]) / (numbers[-1] - numbers[0]), np.zeros(attribute.special))
        upper = np.rint(weights * share[codes[place]]).astype(np.int64)
        low, high = codes.copy(), codes.copy()
        inside = codes[place] <= top
        low[place, inside], high[place, inside] = 0, top
        return np.concatenate([low, high], axis=1), np.concatenate([weights - upper, upper])

    def _counted(self, forest: Forest, name: str) -> Ints:
        """How many children each parent has that meet the conditions, (parents,)."""
        count = self.question.counts[name]
        number = next(i for i, one in enumerate(self.schema.links) if one.child == count.of)
        children = forest.children[number]
        out = np.zeros(len(children.counts), dtype=np.int64)
        conditions = self._met(self.schema.links[number], count)
        for there, codes in children.singles:
            met = there.copy()
            for place, fits in conditions:
                met &= fits[codes[place]]
            out += met
        met = np.ones(children.rest.shape[1], dtype=bool)
        for place, fits in conditions:
            met &= fits[children.rest[place]]
        out += np.bincount(children.of_parent[met], minlength=len(out))
        return np.minimum(out, 1) if count.any else out


class _ChildRows:
    """All children of a link, those in single roles first, with what stands beside each."""

    def __init__(self, schema: LinkedSchema, link: Link, forest: Forest, number: int) -> None:
        children, self._shape = forest.children[number], shapes_of(schema)[number]
        self._link, self._parents, self._singles = link, forest.parent_codes(number), children.singles
        self._place = {a.name: i for i, a in enumerate(schema[link.child].coded)}
        self._above = {a.name: i for i, a in enumerate(schema[link.parent].coded)}
        self._coded = schema[link.child].coded
        deep = schema.above(link) is not None
        self._root = {f"{schema.root.name}.{a.name}": i for i, a in enumerate(schema.root.coded) if deep}
        self._roots, self._root_of = forest.roots, forest.root_of(number)
        at = [np.flatnonzero(there) for there, _ in children.singles]
        self._parent, self._own = children.parents, children.codes
        self._single = np.repeat(np.arange(len(at) + 1), [*map(len, at), children.rest.shape[1]])
        first = children.first if children.rest.shape[1] else np.zeros(0, dtype=bool)
        self._first = np.concatenate([np.ones(sum(map(len, at)), dtype=bool), first])

    def columns(self, names: Any, sizes: Any, changes: Any, counted: Any) -> Ints:
        rows = [
            counted[n] if n in counted else self._column(n, size, changes) for n, size in zip(names, sizes, strict=True)
        ]
        return np.stack(rows).astype(np.int64) if rows else np.zeros((0, len(self._parent)), dtype=np.int64)

    def _column(self, name: str, size: int, changes: Any) -> Any:
        if name in changes:
            return self._change(changes[name], size)
        if name in self._place:
            return self._own[self._place[name]]
        if name in self._root:
            return self._roots[self._root[name]][self._root_of[self._parent]]
        for prefix in (self._link.parent, BEFORE, *self._shape.single):
            if not name.startswith(f"{prefix}."):
                continue
            rest = name.removeprefix(f"{prefix}.")
            if prefix == self._link.parent and rest in self._above:
                return self._parents[self._above[rest]][self._parent]
            if rest in self._place and prefix == BEFORE and self._link.order is not None:
                return self._before(self._own[self._place[rest]], size - 1)
            if rest in self._place and prefix in self._shape.single:
                single = self._shape.single.index(prefix)
                there, codes = self._singles[single]
                present = there[self._parent] & (self._single != single)  # nobody is a relative of itself
                return np.where(present, codes[self._place[rest]][self._parent], size - 1)
        msg = f"'{name[:80]}' is no column of '{self._link.child}'"
        raise QuestionError(msg)

    def _before(self, column: Any, absent: int) -> Ints:
        out = np.full(len(column), absent, dtype=np.int64)
        out[1:] = np.where(self._first[1:], absent, column[:-1])
        return out

    def _change(self, of: str, size: int) -> Ints:
        numbers = numbers_of(self._coded[self._place[of]])
        half = (size - 2) // 2  # steps to either side; the last code says that there is no change
        column = self._own[self._place[of]].astype(np.int64)
        apart = (numbers[column] - numbers[self._before(column, 0)]) / np.nanmax(numbers - np.nanmin(numbers)) * half
        filled = ~np.isnan(apart)
        out: Ints = np.full(len(column), size - 1, dtype=np.int64)
        out[filled] = np.rint(apart[filled]).astype(np.int64) + half
        out[self._first] = size - 1
        return out


def _place_of(table: LinkedTable, column: str) -> int:
    """Place of a column among those that are synthesized. Raises QuestionError."""
    try:
        return table.position(column)
    except ValueError as error:
        raise QuestionError(str(error)) from error


def _plain(attribute: Any) -> dict[str, Any]:
    out: dict[str, Any] = attribute.model_dump(mode="json", by_alias=True, exclude_none=True)
    return out
