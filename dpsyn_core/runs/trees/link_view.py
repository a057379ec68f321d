"""A link as two tables side by side: how many children parents have, and a parent's column beside a child's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsyn_core.evaluate import Comparison
from dpsyn_core.runs.trees.bounding import bounded
from dpsyn_core.runs.trees.comparison import FIXED, given, sizes
from dpsyn_core.runs.trees.forest import Forest
from dpsyn_core.schema import CodedAttribute, Codes, Domain, LinkedSchema


@dataclass(frozen=True, kw_only=True)
class LinkViews:
    """Linked tables within the limits on children, real and synthetic. Private: for the owner of the real ones alone.

    Links are named as by scores: parent > child.
    """

    schema: LinkedSchema
    synthetic: Forest
    real: Forest

    @classmethod
    def of(cls, schema: LinkedSchema, synthetic: Mapping[str, Any], real: Mapping[str, Any]) -> LinkViews:
        """Encodes pyarrow tables by name; of one file, that file by each of its two names.

        Raises TableError where a table or a column is missing.
        """
        made, held = (bounded(schema, given(schema, tables), key=FIXED)[0] for tables in (synthetic, real))
        return cls(schema=schema, synthetic=made, real=held)

    def children(self, scope: str, name: str) -> Comparison:
        """Parents, with how many children each has, in one column of this name. Raises MetricError without any."""
        at = self._at(scope)
        most = self.schema.links[at].max_children
        column = CodedAttribute(name=name, size=most + 1, ordered=True)
        made, held = (sizes(forest, at)[np.newaxis].astype(np.uint32) for forest in (self.synthetic, self.real))
        labels = {name: tuple(map(str, range(most + 1)))}
        return Comparison(domain=Domain((column,)), synthetic=made, real=held, labels=labels)

    def pair(self, scope: str, columns: tuple[str, ...]) -> Comparison:
        """Children, each with a column of its parent and one of its own, named as table.column.

        Raises MetricError without any.
        """
        at = self._at(scope)
        link = self.schema.links[at]
        ends = [(link.parent, columns[0]), (link.child, columns[1])]
        places = [self.schema[table].position(column) for table, column in ends]
        made, held = (_beside(forest, at, *places) for forest in (self.synthetic, self.real))
        named = {f"{table}.{c}": self.schema[table].coded[i] for (table, c), i in zip(ends, places, strict=True)}
        return Comparison(
            domain=Domain(tuple(replace(a.coded_attribute(), name=name) for name, a in named.items())),
            synthetic=made,
            real=held,
            labels={name: tuple(a.labels()) for name, a in named.items()},
            date_units={name: a.unit_seconds for name, a in named.items() if a.dated},
        )

    def _at(self, scope: str) -> int:
        return [f"{link.parent} > {link.child}" for link in self.schema.links].index(scope)


def _beside(forest: Forest, at: int, parent: int, child: int) -> Codes:
    """Codes (2, children) of a column of the parents and one of the children."""
    children = forest.children[at]
    return np.stack([forest.parent_codes(at)[parent, children.parents], children.codes[child]]).astype(np.uint32)
