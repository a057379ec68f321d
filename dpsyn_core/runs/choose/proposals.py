"""What a public table suggests: groups, bins, hierarchies, near-functions, and the marginals worth listing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate import Exploration
from dpsyn_core.schema import AttributeSet, Schema
from dpsyn_core.systems import Bins, Design, Functional, Group, Hierarchy, ListedSet, MarginalList

GROUPED = 0.25  # excess distance from independence from which on two columns are counted as one
MOST_GROUP_CELLS = 500  # of a group: a one-way that still has records in most cells
BINNED = 24  # codes of a column in order from which on bins are proposed
BIN_COUNT = 12  # bins that are proposed, of about equally many records
LISTED = 0.02  # excess distance from which on a pair is worth a table of its own
PAIRS_A_COLUMN = 3.0  # pairs that are listed at most, for each column
FOLLOWS = 0.97  # share of the records in which one column must be the usual one given another, to be left to it
GAINS = 0.2  # by which that share must be above that of the most frequent value alone


@dataclass(frozen=True, kw_only=True, slots=True)
class DesignProposal:
    """A design for dpsyn-2018, and the groups that a schema can take over. Public, as the table was."""

    design: Design
    groups: dict[str, str]  # attribute -> name of its group

    def grouped_schema(self, schema: Schema) -> Schema:
        """The schema with the proposed groups on its attributes; other groups stay."""
        attributes = []
        for entry in schema.document()["attributes"]:
            name = self.groups.get(entry["name"])
            attributes.append({**entry, "group": name} if name is not None else entry)
        return Schema.of({**schema.document(), "attributes": attributes})


def propose(found: Exploration) -> DesignProposal:
    """Reads a proposal off an exploration; every part of it can be changed by hand."""
    hierarchies = _hierarchies(found)
    taken = {h.general for h in hierarchies}
    functional = _functional(found, taken | {h.detailed for h in hierarchies})
    taken |= {f.target for f in functional}
    groups = _groups(found, taken)
    inside = {a: g.name for g in groups for a in g.attributes}
    bins = tuple(_bins(found, taken | set(inside)))
    sets = _sets(found, taken, inside)
    lists = (MarginalList(epsilon=0, sets=sets),) if sets else ()
    design = Design(
        groups=tuple(groups), bins=bins, hierarchies=tuple(hierarchies), functional=tuple(functional), marginals=lists
    )
    return DesignProposal(design=design, groups=inside)


def _table(found: Exploration, pair: AttributeSet) -> NDArray[np.int64]:
    return found.counter().marginal(pair)


def _hierarchies(found: Exploration) -> list[Hierarchy]:
    """Columns that follow from a more detailed one without exception."""
    out: list[Hierarchy] = []
    used: set[str] = set()
    sizes = dict(zip(found.domain.names, found.domain.sizes, strict=True))
    for d in found.pairs:
        if d.excess < GROUPED or used & set(d.pair):
            continue
        general, detailed = sorted(d.pair, key=lambda a: sizes[a])
        if sizes[general] == sizes[detailed] or sizes[general] < 2:
            continue
        counts = _table(found, (detailed, general))
        if (np.count_nonzero(counts, axis=1) <= 1).all():
            codes = tuple(int(c) for c in counts.argmax(axis=1))
            out.append(Hierarchy(general=general, detailed=detailed, codes=codes))
            used |= {general, detailed}
    return out


def _functional(found: Exploration, used: set[str]) -> list[Functional]:
    """Columns whose value is nearly always the usual one given another column."""
    out: list[Functional] = []
    used = set(used)
    for d in found.pairs:
        if used & set(d.pair):
            continue
        for target, source in (d.pair, d.pair[::-1]):
            counts = _table(found, (source, target))
            share = counts.max(axis=1).sum() / found.n_records
            alone = counts.sum(axis=0).max() / found.n_records
            if share >= FOLLOWS and share - alone >= GAINS:
                out.append(Functional(target=target, source=source))
                used |= {target, source}
                break
    return out


def _groups(found: Exploration, taken: set[str]) -> list[Group]:
    """Columns that depend strongly and have few values together, joined pair by pair."""
    sizes = dict(zip(found.domain.names, found.domain.sizes, strict=True))
    members: dict[str, list[str]] = {n: [n] for n in found.domain.names}
    for d in found.pairs:
        a, b = d.pair
        if d.excess < GROUPED or a in taken or b in taken or members[a] is members[b]:
            continue
        joined = sorted({*members[a], *members[b]}, key=found.domain.index)
        if np.prod([float(sizes[n]) for n in joined]) <= MOST_GROUP_CELLS:
            for n in joined:
                members[n] = joined
    distinct = {id(m): m for m in members.values() if len(m) > 1}
    return [Group(name="+".join(m), attributes=tuple(m)) for m in distinct.values()]


def _bins(found: Exploration, taken: set[str]) -> list[Bins]:
    """Bins of about equally many records for columns in order with many codes."""
    out = []
    for a in found.domain.attributes:
        ranked = a.size - a.special
        if not a.ordered or ranked < BINNED or a.name in taken:
            continue
        share = np.cumsum(found.one_ways[a.name][:ranked]) / max(int(found.one_ways[a.name][:ranked].sum()), 1)
        at = np.searchsorted(share, np.arange(1, BIN_COUNT) / BIN_COUNT) + 1
        edges = tuple(int(e) for e in np.unique(at) if 0 < e < ranked)
        if edges:
            out.append(Bins(attribute=a.name, width=None, edges=edges))
    return out


def _sets(found: Exploration, taken: set[str], inside: dict[str, str]) -> tuple[ListedSet, ...]:
    """The pairs that depend most; a member of a group stands for its group."""
    most = int(PAIRS_A_COLUMN * len(found.domain))
    out: dict[tuple[str, ...], None] = {}
    for d in found.pairs:
        if d.excess < LISTED or len(out) >= most:
            break
        if taken & set(d.pair):
            continue
        names = tuple(dict.fromkeys(inside.get(a, a) for a in d.pair))
        if len(names) == 2 and names[::-1] not in out:
            out[names] = None
    return tuple(ListedSet(attributes=n, weight=1.0) for n in out)
