"""The visitor's questions: kept with what is loaded, checked against its schema, never dropped by a change of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpsyn_core.errors import DPSynError, QuestionError
from dpsyn_core.questions import LinkedQuestion, Question, Questions, check, plain
from dpsyn_core.schema import LinkedSchema, Schema
from ui.shared.state import Workspace


@dataclass(frozen=True)
class Line:
    """One declared question. question: None where its document has a fault. problem: why it cannot be asked."""

    document: dict[str, Any]
    question: Question | LinkedQuestion | None
    problem: str = ""

    @property
    def name(self) -> str:
        """What it is called."""
        return name_of(self.document)


def name_of(document: dict[str, Any]) -> str:
    """What a question is called, as the document of one table or of linked ones says it."""
    return str((document.get("ask") or document).get("name", ""))


def _documents(space: Workspace) -> list[dict[str, Any]]:
    """The list of what is loaded; questions that came inside a schema file move here."""
    kept = space.asked.setdefault(space.serial, [])
    if space.linked is None and space.schema is not None and space.schema.questions is not None:
        try:
            found = Questions.in_schema(space.schema)
        except DPSynError:
            found = Questions.of([])
        space.schema = space.schema.model_copy(update={"questions": None})
        have = {name_of(d) for d in kept}
        kept += [plain(q) for q in found.questions if q.name not in have]
    return kept


def lines(space: Workspace) -> list[Line]:
    """All declared questions, those that do not fit the schema with the reason."""
    documents = _documents(space)
    schema = _schema(space) if documents else None
    return [_line(d, schema) for d in documents]


def _schema(space: Workspace) -> Schema | None:
    """The schema that questions name columns of; None without one that fits together."""
    return space.schema if space.linked is None else space.linked.declared()


def _line(document: dict[str, Any], schema: Schema | None) -> Line:
    question: Question | LinkedQuestion | None = None
    try:
        asked = Questions.of([document])
        every: list[Question | LinkedQuestion] = [*asked.questions, *asked.across]
        question = every[0]
        if schema is not None:
            check_fit(question, schema)
    except DPSynError as error:
        return Line(document, question, str(error))
    return Line(document, question)


def check_fit(question: Question | LinkedQuestion, schema: Schema) -> None:
    """Raises QuestionError where a question does not fit the schema of one table, or of linked ones."""
    if isinstance(question, LinkedQuestion):
        if isinstance(schema, LinkedSchema):
            from dpsyn_core.runs import AskedTable

            AskedTable(schema, question)
            return
        msg = f"question '{question.name}' is about linked tables, and one table is loaded; remove it"
    elif not schema.links:
        check(question, schema)
        return
    else:
        msg = f"question '{question.name}' names no table, and {len(schema.tables)} are loaded; say which it is about"
    raise QuestionError(msg)


def fitting(space: Workspace) -> Questions:
    """The questions that a run is told: those that fit the schema."""
    return Questions.of([n.question for n in lines(space) if n.question is not None and not n.problem])


def in_schema(space: Workspace, schema: Schema) -> Schema:
    """A schema as it is handed on: that of one table with the questions in it, so that its file holds all of a run."""
    if schema.links:
        return schema
    fit = fitting(space)
    return schema.model_copy(update={"questions": fit.document()}) if len(fit) else schema


def put(space: Workspace, document: dict[str, Any], *, instead_of: str | None = None) -> None:
    """Adds a question, or puts it in the place of another. Raises QuestionError for one that cannot be asked."""
    kept = _documents(space)
    line = _line(document, _schema(space))
    if line.problem or line.question is None:
        raise QuestionError(line.problem)
    made, names = _plain(line.question), [name_of(d) for d in kept]
    if line.name != instead_of and line.name in names:
        msg = f"another question is called '{line.name}' already; give this one a name of its own"
        raise QuestionError(msg)
    if instead_of in names:
        kept[names.index(instead_of)] = made
    else:
        kept.append(made)


def _plain(question: Question | LinkedQuestion) -> dict[str, Any]:
    """A question as JSON values."""
    asked = Questions.of([question])
    return asked.asked_across()[0] if asked.across else plain(asked.questions[0])


def add(space: Workspace, questions: Iterable[Question | LinkedQuestion]) -> int:
    """Adds those whose names are new, unchanged; returns how many."""
    kept = _documents(space)
    have = {name_of(d) for d in kept}
    fresh = [_plain(q) for q in questions if q.name not in have]
    kept += fresh
    return len(fresh)


def remove(space: Workspace, name: str) -> None:
    """Takes a question off the list."""
    kept = _documents(space)
    kept[:] = [d for d in kept if name_of(d) != name]
