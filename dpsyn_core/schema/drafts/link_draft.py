"""What a person declares of one link, field by field, until it is a schema: links of tables, waves of a panel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.linked import CHILDREN, with_keys
from dpsyn_core.schema.drafts.panel import panel_schema
from dpsyn_core.schema.linked import LinkedSchema


@dataclass
class LinkDraft:
    """One child table as a person declares it; `rest` keeps what it has no field for."""

    parent: str
    key: str = ""  # column of the child table that holds the parent's key
    max_children: int = CHILDREN
    order: str = ""
    distinct: bool = False
    role: str = ""  # column of roles
    single: tuple[str, ...] = ()
    rest: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, document: dict[str, Any]) -> LinkDraft:
        """From a link of a schema."""
        roles, shown = document.get("roles") or {}, ("parent", "key", "max_children", "order", "distinct")
        rest = {k: v for k, v in document.items() if k not in (*shown, "child", "roles")}
        same = {k: v for k, v in document.items() if k in shown and v}
        return cls(**same, role=roles.get("column", ""), single=tuple(roles.get("single", ())), rest=rest)

    def document(self, child: str) -> dict[str, Any]:
        """As the schema has it. Raises SchemaError where no key was chosen."""
        if not self.key:
            msg = f"no column of '{child}' is named that holds the key of '{self.parent}'; choose one"
            raise SchemaError(msg)
        if self.role and not self.single:
            msg = f"the roles of '{child}' name no value that one child may have; choose values, or no column of roles"
            raise SchemaError(msg)
        out = {"parent": self.parent, "child": child, "key": self.key, "max_children": self.max_children}
        out |= {"order": self.order, "distinct": self.distinct} if self.order else {}
        out |= {"roles": {"column": self.role, "single": list(self.single)}} if self.role else {}
        return self.rest | out


@dataclass
class PanelDraft:
    """One file as linked tables: persons, and their rows in the order of waves."""

    person: str = ""
    wave: str = ""
    constant: tuple[str, ...] = ()
    most: int | None = None  # rows of a person; None: the number of waves
    rest: dict[str, Any] = field(default_factory=dict)  # of the link, what has no field here

    @classmethod
    def of(cls, schema: LinkedSchema) -> tuple[PanelDraft, Schema]:
        """From the schema of a panel; and the schema of its one file."""
        link = schema.links[0]
        described = [table.columns.document() for table in schema.tables if table.columns is not None]
        attributes, rules = ([a for d in described for a in d.get(what, ())] for what in ("attributes", "rules"))
        document = {"version": 1, "name": schema.name, "attributes": attributes}
        rest = LinkDraft.of(schema.document()["links"][0]).rest
        constant = tuple(a.name for a in schema.root.coded)
        draft = cls(schema.root_key, link.order or "", constant, link.max_children, rest)
        return draft, Schema.of(document | ({"rules": rules} if rules else {}))

    def schema(self, columns: Schema | None) -> LinkedSchema:
        """The schema of the panel, from that of its file. Raises SchemaError."""
        for name, what in ((self.person, "names the person"), (self.wave, "puts a person's rows in order")):
            if not name:
                msg = f"no column is chosen that {what}; choose one"
                raise SchemaError(msg)
        known = None if columns is None else with_keys(columns, [self.person])
        if known is None:
            msg = "the file has no column but the person's that is synthesized; choose another column for the person"
            raise SchemaError(msg)
        return panel_schema(known, person=self.person, wave=self.wave, constant=self.constant, max_children=self.most)
