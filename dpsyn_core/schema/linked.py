"""Schema document, version 2: several tables, their keys, and how they are linked. Public knowledge alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, JsonValue, StrictBool, StrictInt, StrictStr
from pydantic import model_validator as validator

from dpsyn_core.errors import SchemaError
from dpsyn_core.platforms import unusable
from dpsyn_core.privacy import HangingTable, Unit
from dpsyn_core.schema.document import BoughtCharge, Document, LinkedTable, Schema, TableSchema, rules_from_data
from dpsyn_core.schema.domain import CodedAttribute
from dpsyn_core.schema.rules.base import Rule
from dpsyn_core.schema.rules.linked_rules import BEFORE, MOST_RULES, LinkRule, check_link_rule
from dpsyn_core.schema.rules.linked_spans import check_close

METHOD = "linked"  # as manifests name it: no system of the registry makes several tables
MOST_CHILDREN = 1000  # of one parent that a link may declare: the parent's number of children is one attribute
DEPTH = 3  # tables from the root to the last: root, children, grandchildren
MOST_ORDERS = 10  # values of an order that no two children share: the parent tells which of them it has, 2^10 ways
MOST_SINGLES = 4  # roles that one child may have: the parent tells which of them it has, 2^4 ways
Name = StrictStr


class ChildRoles(Document):
    """Who a child is to its parent: head of a household, spouse."""

    column: Name = Field(min_length=1, description="Categorical column of the child table")
    single: tuple[StrictStr, ...] = Field(
        min_length=1, max_length=MOST_SINGLES, description="Values that at most one child of a parent has, in order"
    )


class Link(Document):
    """One child table of a parent table."""

    parent: Name = Field(min_length=1, description="Name of the parent table")
    child: Name = Field(min_length=1, description="Name of the child table")
    key: Name = Field(min_length=1, description="Column of the child table that holds the parent's key")
    max_children: StrictInt = Field(
        ge=1, le=MOST_CHILDREN, description="Children of a parent that are counted, and made, at most (theta)"
    )
    order: Name | None = Field(None, description="Column of the child table by which children follow each other")
    distinct: StrictBool = Field(False, description="Whether no two children of a parent have the same order")
    roles: ChildRoles | None = Field(None, description="Roles of children that a parent has at most once")
    rules: tuple[LinkRule, ...] = Field(
        (), max_length=MOST_RULES, description="What holds between a child, its parent and its siblings"
    )


class LinkedSettings(Document):
    """What a run of linked tables was set to, as its manifest states it."""

    effort: float = Field(default=1.0, ge=0.1, le=100, description="Proposals to a cell, relative to the usual number")
    records: dict[Name, StrictInt] = Field(default_factory=dict, description="Synthetic records of each table")
    questions: tuple[dict[str, JsonValue], ...] = Field((), description="Declared questions, as LinkedQuestion")
    system: Name = Field("rls", description="The system that measures and makes the tables")
    settings: dict[Name, JsonValue] = Field(
        default_factory=dict, description="Its settings that are not the usual ones"
    )
    questions_share: float | None = Field(
        None, gt=0, lt=1, description="Part of the budget for declared questions; null: the usual one"
    )
    copies: StrictInt = Field(1, ge=1, description="Sets of tables that were made of the one release")

    @property
    def pairs(self) -> bool:
        """Whether columns were counted in pairs."""
        return self.system != "independent"

    def run(self) -> dict[str, Any]:
        """System, settings and questions as fields of a run."""
        return {
            "method": self.system,
            "settings": {"effort": self.effort, **self.settings} if self.pairs else dict(self.settings),
            "questions": {"version": 1, "questions": list(self.questions)} if self.questions else None,
            "questions_share": self.questions_share,
        }

    def stated(self) -> dict[str, Any]:
        """As JSON values; what came later than the first three fields appears where it is not the usual one."""
        later = {"system", "settings", "questions_share", "copies"}
        return self.model_dump(mode="json", exclude=later) | self.model_dump(
            mode="json", include=later, exclude_defaults=True
        )


class LinkedUnit(Document):
    """Who is protected: one root with everything that hangs on it."""

    neighbours: Literal["add-remove", "replace"] = Field(
        default="add-remove", description="add-remove: one root more or less; replace: one root exchanged"
    )
    source: Literal["public", "data"] = Field(
        default="public", description="Where keys, links and max_children come from: public, or read from the data"
    )

    def counting(self, records: int) -> Unit:
        """The unit of privacy of records of which one root holds this many at most."""
        return Unit(neighbours=self.neighbours, max_records=records)


class LinkedSchema(Schema):
    """The public description of linked tables. The first table is the root: one of its keys is one individual."""

    attributes: ClassVar[tuple[Any, ...]] = ()  # type: ignore[misc] # they stand in the schemas of its tables
    n_records: ClassVar[int | None] = None  # type: ignore[misc]
    questions: ClassVar[JsonValue] = None  # type: ignore[misc]
    bought: ClassVar[tuple[BoughtCharge, ...]] = ()  # type: ignore[misc] # nothing is bought for linked tables

    version: Literal[2] = Field(description="Version of this file format")
    name: Name = Field(min_length=1, max_length=200, description="Name of the tables together")
    dataset: StrictStr | None = Field(
        None, min_length=1, max_length=200, description="Name of the tables on the ledger; null: their name"
    )
    unit: LinkedUnit = Field(default_factory=LinkedUnit, description="Who is protected")  # type: ignore[assignment]
    one_file: StrictBool = Field(
        False, description="Whether both tables are columns of one file, such as a panel, and are written as one"
    )
    tables: tuple[LinkedTable, ...] = Field(min_length=2, max_length=20, description="The root first")
    links: tuple[Link, ...] = Field(
        min_length=1, max_length=19, description="From parents to children, and from these to theirs"
    )

    @validator(mode="after")
    def _fits(self) -> LinkedSchema:
        names = [t.name for t in self.tables]
        for name in names:
            if sum(name.casefold() == other.casefold() for other in names) > 1:
                msg = f"table '{name}' is declared twice, capitals aside; every table needs a name of its own"
                raise ValueError(msg)
        for name in [*names, self.name] if self.one_file else names:
            if set(name) & set("/\\") or name.startswith(".") or not name.isprintable():
                msg = (
                    f"table {name[:80]!r} names a file; a name must not hold a slash or a mark that is not printed, or "
                    "begin with a dot"
                )
                raise ValueError(msg)
            if unusable(name):
                msg = f"table {name[:80]!r} names a file, and Windows takes no file of this name; give it another name"
                raise ValueError(msg)
        self._check_tree(names)
        for table in self.tables:
            self._check_table(table)
        for link in self.links:
            self._check_link(link)
        check_close(self)
        if self.one_file and len(self.tables) > 2:
            msg = f"one file holds a parent and its children, and {len(self.tables)} tables are declared; declare two"
            raise ValueError(msg)
        return self

    def _check_tree(self, names: list[str]) -> None:
        """One parent a child, and every child hangs on the root."""
        for link in self.links:
            for side in (link.parent, link.child):
                if side not in names:
                    msg = f"a link names the table '{side}'; declared are {', '.join(names)}"
                    raise ValueError(msg)
        children = [link.child for link in self.links]
        repeated = next((c for c in children if children.count(c) > 1), None)
        if repeated is not None:
            msg = f"table '{repeated}' has two parents; a child has one, so remove one of its links"
            raise ValueError(msg)
        if names[0] in children:
            msg = f"the links go round in a circle: the root '{names[0]}' is a child; the root has no parent"
            raise ValueError(msg)
        for name in names[1:]:
            if name not in children:
                msg = f"table '{name}' hangs on no other; link it to a parent, or leave it out"
                raise ValueError(msg)
        above = {link.child: link.parent for link in self.links}
        for name in names[1:]:
            way = [name]
            while way[-1] != names[0]:
                way.append(above[way[-1]])
                if way[-1] in way[:-1]:
                    msg = f"the links go round in a circle: {' > '.join(reversed(way))}; link one of them to the root"
                    raise ValueError(msg)
            if len(way) > DEPTH:
                msg = (
                    f"the links {' > '.join(reversed(way))} are {len(way)} tables deep; at most {DEPTH} are: root, "
                    f"children and grandchildren. Join two of them, or synthesize without '{name}'"
                )
                raise ValueError(msg)

    def _check_table(self, table: LinkedTable) -> None:
        if table.columns is None:
            return
        s = table.columns
        if not s.unit.usual or s.unit.neighbours != "add-remove":
            msg = f"the schema of '{table.name}' has a unit of its own; the unit of linked tables is the root"
            raise ValueError(msg)
        if s.n_records is not None or s.questions is not None or s.bought:
            what = "n_records" if s.n_records is not None else "questions" if s.questions is not None else "bought"
            msg = f"the schema of '{table.name}' declares {what}, which linked tables do not take; remove it"
            raise ValueError(msg)
        together = next((r for r in s.rules if r.table_wide), None)
        if together is not None:
            msg = (
                f"the rule '{together}' of '{table.name}' is about all its records, which keys would not fit; remove it"
            )
            raise ValueError(msg)
        keys = [table.key, *(link.key for link in self.links if link.child == table.name)]
        coded = [a.name for a in s.coded]
        for key in keys:
            if key in coded:
                msg = f"column '{key}' of '{table.name}' is a key, and keys never leave; declare it identifier"
                raise ValueError(msg)

    def _check_link(self, link: Link) -> None:
        parent, child = self[link.parent], self[link.child]
        if parent.key is None:
            msg = f"'{link.parent}' has children and no key; name the column that names its records"
            raise ValueError(msg)
        if child.columns is None:
            msg = f"table '{link.child}' has no schema; only a root may consist of its key"
            raise ValueError(msg)
        if child.key == link.key:
            msg = f"'{link.key}' of '{link.child}' is its own key and that of its parent; they are two columns"
            raise ValueError(msg)
        if link.order is None and link.distinct:
            msg = f"the link to '{link.child}' is distinct and has no order; name the column of the order"
            raise ValueError(msg)
        if link.roles is not None and link.order is not None:
            msg = f"the link to '{link.child}' has roles and an order; declare one of them"
            raise ValueError(msg)
        named = [n for n in (link.order, link.roles.column if link.roles else None) if n is not None]
        for column in named:
            child.position(column)
            if any(column in rule.columns for rule in child.columns.rules):
                msg = (
                    f"a rule of '{link.child}' names '{column}', which the link needs unchanged; declare it among the "
                    "rules of the link"
                )
                raise ValueError(msg)
        if link.order is not None:
            self._check_order(link, child.coded[child.position(link.order)])
        if link.roles is not None:
            _check_roles(link, child.coded[child.position(link.roles.column)])
        attributes = self.attributes_of(link) if link.rules else {}
        movable = tuple(a.name for a in child.coded if a.name not in named)
        for number, rule in enumerate(link.rules, 1):
            check_link_rule(number, rule, attributes, movable)

    def attributes_of(self, link: Link) -> dict[str, Any]:
        """The attributes that rules and questions of a child may name: of child, parent, root and siblings.

        Raises ValueError where a name could mean two columns.
        """
        attributes_here = {a.name: a for a in self[link.child].coded}
        out = dict(attributes_here)
        above = [link.parent] + ([] if self.above(link) is None else [self.root.name])
        kin = [(table, {a.name: a for a in self[table].coded}) for table in above]
        kin += [(value, attributes_here) for value in (link.roles.single if link.roles else ())]
        kin += [(BEFORE, attributes_here)] if link.order is not None else []
        for prefix, attributes in kin:
            for name, attribute in attributes.items():
                if f"{prefix}.{name}" in out:
                    msg = f"'{prefix}.{name}' could mean two columns; rename a table, a role or a column"
                    raise ValueError(msg)
                out[f"{prefix}.{name}"] = attribute
        return out

    @staticmethod
    def _check_order(link: Link, attribute: Any) -> None:
        a: CodedAttribute = attribute.coded_attribute()
        if not a.ordered:
            msg = f"'{link.order}' is to order the records of '{link.child}' and has no order; declare it ordered"
            raise ValueError(msg)
        if link.distinct and a.size > MOST_ORDERS:
            msg = (
                f"'{link.order}' has {a.size} values, any of which a parent's children may have; at most {MOST_ORDERS} "
                "can be distinct: widen its bins, or set distinct to false"
            )
            raise ValueError(msg)
        if link.distinct and link.max_children < a.size:
            msg = (
                f"'{link.order}' has {a.size} values, each of which a parent may have once, and max_children is "
                f"{link.max_children}; set it to {a.size}"
            )
            raise ValueError(msg)

    def __getitem__(self, name: str) -> LinkedTable:
        """The table of this name. Raises SchemaError."""
        for table in self.tables:
            if table.name == name:
                return table
        msg = f"the schema has no table '{name}'; it has {', '.join(t.name for t in self.tables)}"
        raise SchemaError(msg)

    def table_alone(self, name: str) -> TableSchema:
        """The schema of one of the tables, for what looks at it alone.

        One individual is a root: all records that carry its key, of which as many count as its link allows.

        Raises:
            SchemaError: there is no such table, it has no columns, or its records do not name their root.
        """
        table = self[name]
        link = next((one for one in self.links if one.child == name), None)
        if table.columns is None:
            msg = f"table '{name}' has nothing but its key; name another table"
            raise SchemaError(msg)
        if link is not None and self.above(link) is not None:
            msg = (
                f"records of '{name}' name their '{link.parent}' and not the '{self.root.name}' that they hang on, who "
                f"is protected; give them the column '{self.root_key}' and a schema of their own, or ask for it as a "
                "question across links"
            )
            raise SchemaError(msg)
        key = self.root_key if link is None else link.key
        unit = {"identifier": key, "max_records": 1 if link is None else link.max_children}
        if table.columns.unit_from_data:
            unit["source"] = "data"
        document = table.columns.document()
        others = [a for a in document["attributes"] if a["name"] != key]
        return TableSchema.of(
            document
            | {"name": name, "dataset": self.ledger_name, "unit": self.unit.model_dump(mode="json") | unit}
            | {"attributes": [{"name": key, "kind": "identifier"}, *others]}
        )

    @property
    def root_key(self) -> str:
        """Column of the root that names individuals."""
        return str(self.root.key)

    def above(self, link: Link) -> int | None:
        """Place of the link whose children are the parents of this one; None: its parents are the roots."""
        return next((i for i, one in enumerate(self.links) if one.child == link.parent), None)

    def below(self, table: str) -> tuple[int, ...]:
        """Places of the links whose parents are the records of a table."""
        return tuple(i for i, link in enumerate(self.links) if link.parent == table)

    @property
    def downward(self) -> tuple[int, ...]:
        """Places of all links, those from the root first."""
        return tuple(sorted(range(len(self.links)), key=lambda i: self.above(self.links[i]) is not None))

    def most_of_root(self, link: Link) -> int:
        """How many children a root has at most by a link: of a grandchild the product of both limits."""
        above = self.above(link)
        return link.max_children if above is None else link.max_children * self.links[above].max_children

    @property
    def hanging(self) -> tuple[HangingTable, ...]:  # type: ignore[override]
        """What hangs on a root, as manifests state it."""
        return tuple(HangingTable(table=one.child, max_children=self.most_of_root(one)) for one in self.links)

    @property  # type: ignore[misc]
    def rules(self) -> tuple[Rule, ...]:
        """Those of the tables, then those of the links."""
        inside = [rule for table in self.tables if table.columns is not None for rule in table.columns.rules]
        return (*inside, *(rule for link in self.links for rule in link.rules))

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why a run with this schema is NOT PRIVATE; empty when it is private."""
        out = ["the keys, links or limits were read from the data"] * (self.unit.source == "data")
        for table in self.tables:
            if table.columns is not None:
                out += [f"table '{table.name}': {reason}" for reason in table.columns.reasons]
        return (*out, *rules_from_data(rule for link in self.links for rule in link.rules))

    @classmethod
    def of(cls, document: object) -> Self:
        """Builds a schema from a parsed JSON document. Raises SchemaError that names the path of the field."""
        if isinstance(document, Mapping) and document.get("version") == 1:
            msg = "the schema is of version 1, which describes one table; linked tables need one of version 2"
            raise SchemaError(msg)
        return super().of(document)

    def document(self) -> dict[str, Any]:
        """The schema as plain JSON values; what is not set does not appear."""
        out = self.model_dump(mode="json", exclude={"tables"}, exclude_none=True)
        tables = []
        for table in self.tables:
            entry: dict[str, Any] = {"name": table.name} | ({} if table.key is None else {"key": table.key})
            tables.append(entry | ({} if table.columns is None else {"schema": table.columns.document()}))
        out["tables"] = tables
        return out


def _check_roles(link: Link, attribute: Any) -> None:
    roles = link.roles
    if roles is None:
        return
    if not attribute.listed:
        msg = f"'{roles.column}' holds the roles of '{link.child}' and is no categorical column; declare it so"
        raise ValueError(msg)
    for value in roles.single:
        if value not in attribute.keys:
            msg = f"'{roles.column}' has no value '{value[:80]}'; roles name values that its schema lists"
            raise ValueError(msg)
    if len(set(roles.single)) < len(roles.single):
        msg = f"a role of '{link.child}' is listed twice; list each once"
        raise ValueError(msg)
    if len(roles.single) == attribute.size:
        msg = f"every value of '{roles.column}' is a role that one child may have; leave one for all others"
        raise ValueError(msg)
