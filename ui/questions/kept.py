"""The visitor's questions: kept with the loaded table, checked against its schema, never dropped by a change of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpsyn_core.errors import DPSynError, QuestionError
from dpsyn_core.questions import Question, Questions, check, plain
from dpsyn_core.schema import Schema
from ui.shared.state import Workspace


@dataclass(frozen=True)
class Line:
    """One declared question. question: None where its document has a fault. problem: why it cannot be asked."""

    document: dict[str, Any]
    question: Question | None
    problem: str = ""

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.document.get("name", ""))


def _documents(space: Workspace) -> list[dict[str, Any]]:
    """The list of this table; questions that came inside a schema file move here."""
    serial = space.dataset.serial if space.dataset else ""
    kept = space.asked.setdefault(serial, [])
    if space.schema is not None and space.schema.questions is not None:
        try:
            found = Questions.in_schema(space.schema)
        except DPSynError:
            found = Questions.of([])
        space.schema = space.schema.model_copy(update={"questions": None})
        have = {d.get("name") for d in kept}
        kept += [plain(q) for q in found.questions if q.name not in have]
    return kept


def lines(space: Workspace) -> list[Line]:
    """All declared questions, those that do not fit the schema with the reason."""
    return [_line(d, space.schema) for d in _documents(space)]


def _line(document: dict[str, Any], schema: Schema | None) -> Line:
    question: Question | None = None
    try:
        [question] = Questions.of([document]).questions
        if schema is not None:
            check(question, schema)
    except DPSynError as error:
        return Line(document, question, str(error))
    return Line(document, question)


def fitting(space: Workspace) -> Questions:
    """The questions that a run is told: those that fit the schema."""
    fit = [n.question for n in lines(space) if n.question is not None and not n.problem]
    return Questions(version=1, questions=tuple(fit))


def in_schema(space: Workspace, schema: Schema) -> Schema:
    """A schema as it is handed on: with the questions in it, so that its file holds all that a run needs."""
    fit = fitting(space)
    return schema.model_copy(update={"questions": fit.document()}) if len(fit) else schema


def put(space: Workspace, document: dict[str, Any], *, instead_of: str | None = None) -> None:
    """Adds a question, or puts it in the place of another. Raises QuestionError for one that cannot be asked."""
    kept = _documents(space)
    line = _line(document, space.schema)
    if line.problem or line.question is None:
        raise QuestionError(line.problem)
    made = plain(line.question)
    names = [d.get("name") for d in kept]
    if made["name"] != instead_of and made["name"] in names:
        msg = f"another question is called '{made['name']}' already; give this one a name of its own"
        raise QuestionError(msg)
    if instead_of in names:
        kept[names.index(instead_of)] = made
    else:
        kept.append(made)


def add(space: Workspace, questions: Iterable[Question]) -> int:
    """Adds those whose names are new, as they are; returns how many."""
    kept = _documents(space)
    have = {d.get("name") for d in kept}
    fresh = [plain(q) for q in questions if q.name not in have]
    kept += fresh
    return len(fresh)


def remove(space: Workspace, name: str) -> None:
    """Takes a question off the list."""
    kept = _documents(space)
    kept[:] = [d for d in kept if d.get("name") != name]
