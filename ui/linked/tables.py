"""LinkedTables: the tables of one visitor that hang together, what is declared of them, and the schema of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from dpsyn_core.errors import DPSynError, SchemaError
from dpsyn_core.privacy import Neighbours
from dpsyn_core.schema import LinkDraft, LinkedSchema, PanelDraft, Schema, SchemaUnit, with_keys
from ui.shared.text import t

if TYPE_CHECKING:
    import pyarrow as pa


class Loaded(Protocol):
    """A loaded table and its name on the ledger, as far as linked tables ask; a `Dataset`."""

    ledger: str
    table: pa.Table | None


class OneTable(Protocol):
    """A table with its schema; a `Workspace` of its own, which the editor of single tables works on."""

    schema: Schema | None

    @property
    def dataset(self) -> Loaded | None:
        """The private table."""


Part = TypeVar("Part", bound=OneTable)


@dataclass
class LinkedTables(Generic[Part]):
    """What is loaded: a workspace for each table, which the editor of single tables works on, and the links.

    decided: whether a person said who is one individual. source: of keys, links and limits as they were when a schema
    was taken over. looked: tables whose numbers of children are shown. seen: keys, links and limits as they were when
    exact answers about the tables were first shown; what was changed since is chosen by looking. rest: what a loaded
    schema says besides. version: changes when a schema is loaded, so that fields are drawn anew.
    """

    name: str
    ledger: str
    parts: dict[str, Part]
    root: str
    keys: dict[str, str] = field(default_factory=dict)
    links: dict[str, LinkDraft] = field(default_factory=dict)
    panel: PanelDraft | None = None
    neighbours: Neighbours = "add-remove"
    decided: bool = False
    source: str = "public"
    looked: set[str] = field(default_factory=set)
    seen: str = ""
    rest: dict[str, Any] = field(default_factory=dict)
    sample: bool = False
    serial: str = ""
    version: int = 0

    def schema(self) -> LinkedSchema:
        """The schema that the pages describe. Raises SchemaError."""
        if self.panel is not None:
            return self._of_panel(self.panel)
        children = [n for n in self.parts if n != self.root]
        made = {
            "version": 2,
            "tables": [self._table(name) for name in (self.root, *children)],
            "links": [self.links[n].document(n) for n in children],
        }
        return LinkedSchema.of(self.rest | self._named() | made)

    def structure(self) -> str:
        """Root, keys, parents, limits, orders and roles as one text; rules say themselves where they come from."""
        drafts = [*sorted(self.links.items()), ("", self.panel)]
        plain = [(n, d and replace(d, rest={k: v for k, v in d.rest.items() if k != "rules"})) for n, d in drafts]
        return repr((self.root, sorted((n, k) for n, k in self.keys.items() if k), plain))

    @property
    def unit_source(self) -> str:
        """Where keys, links and limits come from: public, or open, or chosen after a look at the tables."""
        if not self.decided or (self.seen and self.structure() != self.seen):
            return "data"
        return self.source

    def declared(self) -> LinkedSchema | None:
        """The same, or None where it does not fit together."""
        try:
            return self.schema()
        except DPSynError:
            return None

    def problem(self) -> str:
        """Why the tables do not fit together, or an empty text."""
        try:
            self.schema()
        except DPSynError as error:
            return str(error)
        return ""

    def problem_with(self, name: str, schema: Schema) -> str:
        """As `problem`, if the columns of a table were described so."""
        part = self.parts[name]
        before, part.schema = part.schema, schema
        try:
            return self.problem()
        finally:
            part.schema = before

    def name_of(self, part: Part) -> str:
        """What one of the tables is called."""
        return next(name for name, one in self.parts.items() if one is part)

    def headers(self, name: str) -> list[str]:
        """The names of a table's columns."""
        return list(self.tables()[name].column_names)

    def width(self, name: str) -> int:
        """How many columns of a table are described: all but its keys."""
        return len(set(self.headers(name)) - set(self.keys_of(name)))

    def describe(self, part: Part, schema: Schema) -> None:
        """Takes over what a file says of the columns of one table; its keys stay keys."""
        part.schema = with_keys(schema, self.keys_of(self.name_of(part)))
        self.version += 1

    def rule_documents(self, name: str) -> list[dict[str, Any]]:
        """The rules across the link of a child table, of a panel across its only one."""
        return list(self._rest(name).get("rules", ()))

    def set_rules(self, name: str, rules: Sequence[dict[str, Any]]) -> None:
        """Makes these the rules across a link. Raises SchemaError, and changes nothing, where they do not fit."""
        from dpsyn_core.runs import check_linked_rules

        rest = self._rest(name)
        before = rest.get("rules", ())
        rest["rules"] = list(rules)
        try:
            check_linked_rules(self.schema())
        except DPSynError:
            rest["rules"] = before
            raise

    def _rest(self, name: str) -> dict[str, Any]:
        return self.links[name].rest if self.panel is None else self.panel.rest

    def _table(self, name: str) -> dict[str, Any]:
        columns, own = self.parts[name].schema, self.keys.get(name, "")
        out: dict[str, Any] = {"name": name} | ({"key": own} if own else {})
        known = None if columns is None else with_keys(columns, self.keys_of(name))
        return out if known is None else out | {"schema": known.document()}

    def keys_of(self, name: str) -> list[str]:
        """The columns of a table that are keys: its own, and that of its parent."""
        if self.panel is not None:
            return [self.panel.person] if self.panel.person else []
        link = self.links.get(name)
        return [k for k in (self.keys.get(name, ""), "" if link is None else link.key) if k]

    def _of_panel(self, panel: PanelDraft) -> LinkedSchema:
        document = panel.schema(self.parts[self.root].schema).document() | self.rest | self._named()
        return LinkedSchema.of(document | {"links": [panel.rest | document["links"][0]]})

    def _named(self) -> dict[str, Any]:
        """Name and unit of the schema, and its name on the ledger; that of the sample is the visitor's own."""
        unit = {"neighbours": self.neighbours, "source": self.unit_source}
        return {"name": self.name, "unit": unit} | ({} if self.sample else {"dataset": self.ledger})

    def check(self, schema: LinkedSchema) -> None:
        """Raises SchemaError where a schema describes other tables than these."""
        if schema.one_file:
            self._check_panel(schema)
            return
        if self.panel is not None:
            msg = "the schema describes several files, and one file with a person's rows is loaded; load those files"
            raise SchemaError(msg)
        names = [table.name for table in schema.tables]
        if set(names) != set(self.parts):
            msg = (
                f"the schema describes the tables {', '.join(names)}, and {', '.join(self.parts)} are loaded; give the "
                "files those names"
            )
            raise SchemaError(msg)
        for table in schema.tables:
            self._check_columns(table.name, [a.name for a in table.coded])

    def adopt(self, schema: LinkedSchema) -> None:
        """Takes over a schema of the same tables. Raises SchemaError where they are not the same."""
        self.check(schema)
        if schema.one_file:
            self.panel, self.parts[self.root].schema = PanelDraft.of(schema)
        else:
            for table in schema.tables:
                self.parts[table.name].schema = table.columns
            self.root = schema.root.name
            self.keys = {table.name: table.key or "" for table in schema.tables}
            self.links = {link["child"]: LinkDraft.of(link) for link in schema.document()["links"]}
        known = ("version", "name", "dataset", "unit", "one_file", "tables", "links")
        self.rest = {k: v for k, v in schema.document().items() if k not in known}
        self.neighbours, self.source, self.version = schema.unit.neighbours, schema.unit.source, self.version + 1
        self.decided = True
        self.name = schema.name
        if not self.sample:
            self.book(schema.ledger_name)

    def _check_panel(self, schema: LinkedSchema) -> None:
        if self.panel is None or schema.links[0].order is None:
            msg = (
                "the schema describes one file with a person's rows and their order, and other tables are loaded; "
                "upload that file and declare it as a panel"
            )
            raise SchemaError(msg)
        self._check_columns(self.root, [a.name for table in schema.tables for a in table.coded])

    def book(self, name: str) -> None:
        """Gives all tables one name on the ledger, by which looks at any of them are found too."""
        self.ledger = name
        for part in self.parts.values():
            if part.dataset is not None:
                part.dataset.ledger = name

    def _check_columns(self, name: str, wanted: Sequence[str]) -> None:
        have = self.headers(name)
        absent = next((n for n in wanted if n not in have), None)
        if absent is not None:
            msg = f"table '{name}' has no column '{absent}'; load the tables that this schema describes"
            raise SchemaError(msg)

    def tables(self) -> dict[str, pa.Table]:
        """The private tables by name; of a panel its one file."""
        return {n: p.dataset.table for n, p in self.parts.items() if p.dataset is not None}

    def inputs(self, schema: Schema) -> dict[str, pa.Table]:
        """The same, as a run is handed them: the file of a panel by the name of its schema."""
        if schema.one_file:
            return {schema.name: self.tables()[self.root]}
        return {table.name: self.tables()[table.name] for table in schema.tables}

    @property
    def root_key(self) -> str:
        """The column whose values name individuals; empty where none is chosen."""
        return self.keys.get(self.root, "") if self.panel is None else self.panel.person

    @property
    def unit(self) -> SchemaUnit | None:
        """The unit of privacy as the ledger adds it up; None where no key is chosen."""
        return SchemaUnit(neighbours=self.neighbours, identifier=self.root_key) if self.root_key else None

    @property
    def individuals(self) -> str:
        """What the table is called whose records are individuals: the root; of a panel the persons of its file."""
        return self.root if self.panel is None else t("linked.panel_persons")

    @property
    def asks(self) -> bool:
        """Whether a person is still asked on the Data page who is one individual; of a panel that is a column."""
        return self.panel is None and not self.decided

    def who(self) -> str:
        """Who one individual is, in words."""
        if self.panel is not None:
            return t("linked.who_panel", column=self.panel.person) if self.panel.person else t("linked.who_none")
        if not self.root_key:
            return t("linked.who_none")
        return t("linked.who", root=self.root, children=self._children())

    def shortly(self) -> tuple[str, str]:
        """The same for the side panel: who, and what belongs to them."""
        if not self.root_key:
            return t("linked.side_none"), t("linked.to_schema")
        if not self.decided:
            return t("side.undecided"), ""
        if self.panel is not None:
            return t("side.identified", column=self.root_key), t("linked.side_rows")
        return t("linked.side_who", root=self.root), t("linked.side_unit", children=self._children())

    def _children(self) -> str:
        return ", ".join(n for n in self.parts if n != self.root)
