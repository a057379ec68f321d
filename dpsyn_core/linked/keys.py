"""Whether the keys of linked tables hold: no orphan, no key twice, never more children than declared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsyn_core.linked.document import LinkedSchema


@dataclass(frozen=True, kw_only=True, slots=True)
class KeysOfLink:
    """What the keys of one link hold, counted in the tables.

    parents, children: records. orphans: children whose key no parent has. repeated: parents whose key another one has.
    most: children of the parent that has most. allowed: what the link declares. childless: parents without a child.
    """

    parent: str
    child: str
    parents: int
    children: int
    orphans: int
    repeated: int
    most: int
    allowed: int
    childless: int

    @property
    def hold(self) -> bool:
        """Whether every child has one parent, and no parent too many children."""
        return not self.orphans and not self.repeated and self.most <= self.allowed


def check_keys(schema: LinkedSchema, tables: Mapping[str, Any]) -> tuple[KeysOfLink, ...]:
    """Counts keys in tables, link by link; of synthetic tables that is public.

    Args:
        schema: of the tables.
        tables: pyarrow tables by name; the table of one file by the name of the schema.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    out = []
    for link in schema.links:
        parent, child = (tables[schema.name if schema.one_file else n] for n in (link.parent, link.child))
        own = parent.column(str(schema[link.parent].key)).combine_chunks()
        names = pc.unique(own) if schema.one_file else own  # in one file a key stands in each row of its person
        place = pc.index_in(child.column(link.key).combine_chunks(), value_set=pc.unique(names))
        counts = np.bincount(pc.drop_null(pa.chunked_array([place])).to_numpy(), minlength=len(pc.unique(names)))
        out.append(
            KeysOfLink(
                parent=link.parent,
                child=link.child,
                parents=len(names),
                children=child.num_rows,
                orphans=place.null_count,
                repeated=len(names) - len(pc.unique(names)),
                most=int(counts.max(initial=0)),
                allowed=link.max_children,
                childless=int((counts == 0).sum()),
            )
        )
    return tuple(out)
