"""What a run on linked tables released, as the content of a file: tables of roots, children and siblings, by view.

Values are in weights: of the records of a view, those of one root weigh as much together as the schema says. A file
of somebody else is read without trust: every table has to fit the view that the schema in the file declares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dpsyn_core.errors import DPSynError, TableError
from dpsyn_core.estimate import (
    Recodes,
    ReleasedTables,
    packed_document,
    parsed_document,
    parsed_recodes,
    parsed_tables,
    table_entries,
)
from dpsyn_core.privacy import Manifest
from dpsyn_core.questions import Questions
from dpsyn_core.runs.trees.answers import asked_needs
from dpsyn_core.runs.trees.fit import TreeRelease
from dpsyn_core.runs.trees.measurement import ViewRelease
from dpsyn_core.runs.trees.real_tables import root_domain
from dpsyn_core.runs.trees.stages import Stage, View, stages_of
from dpsyn_core.runs.verify.stated_noise import underpaid, without_noise
from dpsyn_core.schema import LinkedSchema, LinkedSettings, Schema, measured_schema

VERSION = 3  # of the file of released marginals: the first that holds views


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeFile:
    """What such a file holds. settings: of the run, with its questions. measurements: all tables of all views."""

    schema: LinkedSchema
    settings: LinkedSettings
    released: TreeRelease
    measurements: ReleasedTables


def pack_tree(released: TreeRelease, schema: Schema, settings: LinkedSettings) -> bytes:
    """The content of the file: released values and public facts alone.

    Args:
        released: by the run.
        schema: as the run declared it.
        settings: of the run.
    """
    views = [
        {"children": _entry(one), "siblings": None if pairs is None else _entry(pairs)} for one, pairs in released.views
    ]
    document = {
        "version": VERSION,
        "unit": "weights",
        **table_entries(released.root),
        "views": views,
        "questions": table_entries(ReleasedTables(released.questions))["measurements"],
        "headers": {name: list(columns) for name, columns in released.headers.items()},
        "settings": settings.stated(),
        "schema": schema.dumps(),
    }
    return packed_document(document)


def _entry(view: ViewRelease) -> dict[str, Any]:
    coarse = [{n: r.map.tolist() for n, r in recodes.items()} for recodes in view.coarse]
    return table_entries(view.tables) | {"coarse": coarse}


def read_tree(content: bytes, name: str) -> TreeFile:
    """Reads the content of such a file. name: of the file, for messages. Raises TableError, SizeError."""
    document = parsed_document(content, name)
    try:
        schema = LinkedSchema.loads(document["schema"])
        settings = LinkedSettings.model_validate(document["settings"])
        asked = Questions.of(list(settings.questions))
        working = measured_schema(schema, asked.asked_across())
        stages = stages_of(working, pairs=settings.pairs)
        listed = document["views"]
        views = tuple(_views(stage, entry, name) for stage, entry in zip(stages, listed, strict=True))
        needs = asked_needs(working, asked)
        questions = tuple(
            parsed_tables({"measurements": [entry]}, table.table.domain(), name)[0]
            for (table, _), entry in zip(needs, document["questions"], strict=True)
        )
        headers = {t.name: tuple(str(c) for c in document["headers"][t.name]) for t in schema.tables}
        root = parsed_tables(document, root_domain(working), name)
    except DPSynError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        msg = f"'{name}' does not hold what was released of linked tables; give the file that the run wrote"
        raise TableError(msg) from error
    released = TreeRelease(root=root, views=views, questions=questions, headers=headers)
    every = [root, *(v.tables for pair in views for v in pair if v is not None), questions]
    tables = ReleasedTables(m for part in every for m in part)
    return TreeFile(schema=schema, settings=settings, released=released, measurements=tables)


def _views(stage: Stage, entry: dict[str, Any], name: str) -> tuple[ViewRelease, ViewRelease | None]:
    siblings = None if stage.siblings is None else _view(stage.siblings, entry["siblings"], name)
    return _view(stage.view, entry["children"], name), siblings


def _view(view: View, entry: dict[str, Any], name: str) -> ViewRelease:
    coarse: Sequence[Recodes] = [parsed_recodes(one, view.domain) for one in entry["coarse"]]
    tables = parsed_tables(entry, view.domain, name)
    if len(coarse) not in (0, 3) or any(set(one) != set(view.domain.names) for one in coarse):
        msg = "coarse maps do not fit"
        raise ValueError(msg)
    if tables.scores is not None and tables.scores.sets and not coarse:
        msg = "scores have no coarse maps"
        raise ValueError(msg)
    return ViewRelease(tables=tables, coarse=tuple(coarse))


def unpaid(found: Manifest, tree: TreeFile) -> list[str]:
    """Sentences, one for each table that was released with less noise than the manifest says was paid for."""
    working = measured_schema(tree.schema, Questions.of(list(tree.settings.questions)).asked_across())
    out = []
    for unit, tables in _by_unit(tree, working):
        if without_noise(tables):
            out.append("it holds a table without noise")
        out += underpaid(found.charges, tree.schema.unit.counting(unit), tables)
    return out


def _by_unit(tree: TreeFile, working: LinkedSchema) -> Iterator[tuple[int, ReleasedTables]]:
    """The tables of each view, with what the records of one root weigh together in it."""
    yield 1, tree.released.root
    for stage, (kids, pairs) in zip(stages_of(working, pairs=tree.settings.pairs), tree.released.views, strict=True):
        yield stage.view.unit, kids.tables
        if pairs is not None and stage.siblings is not None:
            yield stage.siblings.unit, pairs.tables
    asked = Questions.of(list(tree.settings.questions))
    for (table, _), measured in zip(asked_needs(working, asked), tree.released.questions, strict=True):
        yield table.unit, ReleasedTables([measured])
