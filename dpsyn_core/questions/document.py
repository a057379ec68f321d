"""The questions document and its explanation in words.

Turns a pydantic complaint about a document of questions into one sentence that names the question and the field.

questions.json, version 1: what a user will ask of a table, declared before anything is measured. Public.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError
from pydantic import model_validator as validator
from pydantic.json_schema import GenerateJsonSchema

from dpsyn_core.errors import DPSynError, QuestionError
from dpsyn_core.files import RepeatedFieldError, fields_once, unfit_text, write_text
from dpsyn_core.questions import across as across_links
from dpsyn_core.questions.forms import KINDS, Question, QuestionPart
from dpsyn_core.questions.validity import check
from dpsyn_core.schema import Schema

TAGS = {*KINDS, "WidthBins", "CountBins", "EdgeBins", "GroupBins", "PeriodBins"}  # pydantic's, of unions
PLAIN = {
    "missing": "is required",
    "extra_forbidden": "is no field of this kind of question; remove it, or check its spelling (docs/questions.md)",
    "union_tag_invalid": f"has an unknown kind; known are {', '.join(KINDS)}",
    "union_tag_not_found": f"needs a kind; known are {', '.join(KINDS)}",
    "finite_number": "must be finite",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
    "string_type": "must be text",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "recursion_loop": "refers to itself",
}


def describe(error: ValidationError, document: object) -> str:
    """One sentence: the question, the path of its first wrong field, what was got, what is allowed."""
    first = error.errors(include_url=False)[0]
    kind, got, location = first["type"], first.get("input"), first["loc"]
    path, name = _path(location, document)
    if kind == "value_error":
        return f"{name}{path}: {str(first['msg']).removeprefix('Value error, ')}".lstrip(": ")
    text = PLAIN.get(kind, "")
    if kind == "too_long":
        text = f"has {first['ctx']['actual_length']} entries, and at most {first['ctx']['max_length']} are allowed"
    if path.startswith("bins") and kind.startswith(("union_tag", "model")):
        text = "must be an object: {'width': 10}, {'count': 8}, {'edges': [0, 18, 65]} or {'groups': [['a', 'b']]}"
    if not text:
        said = str(first["msg"])
        text = "must be" + said.removeprefix("Input should be") if said.startswith("Input should be") else said
    shown = (
        ""
        if kind in ("missing", "extra_forbidden") or isinstance(got, dict | list | tuple)
        else f" is {_short(got)} and"
    )
    return f"{name}{path or 'the document of questions'}{shown} {text}"


def _path(location: tuple[int | str, ...], document: object) -> tuple[str, str]:
    """The path inside the question as bins.AGE.width, and the name or number of the question."""
    parts = [p for p in location if p not in TAGS and not str(p).startswith(("constrained-", "function-"))]
    parts = [p for p in parts if p not in ("int", "float", "str", "bool")]
    if len(parts) >= 2 and parts[0] in ("questions", "across") and isinstance(parts[1], int):
        number = parts[1]
        title: Any = None
        try:
            asked: Any = document[parts[0]][number]  # type: ignore[index]
            title = asked["ask"]["name"] if parts[0] == "across" else asked["name"]
        except (LookupError, TypeError):
            title = None
        name = f"question '{title[:80]}': " if isinstance(title, str) and title else f"question {number + 1}: "
        rest = ".".join(str(p)[:80] for p in parts[2:])
        return rest or "it", name
    return ".".join(str(p)[:80] for p in parts), ""


def _short(got: object) -> str:
    try:
        return repr(got)[:80]
    except ValueError:  # an integer of more digits than Python writes
        return "a number"


MOST = 500  # questions of one document
MOST_ACROSS = 100  # of them across links: each is measured by a table of its own
LARGEST = 4_000_000  # bytes of a file


class _Version1(GenerateJsonSchema):
    """The JSON Schema of version 1 names the bins of questions by the keys that a table's schema uses."""

    def normalize_name(self, name: str) -> str:
        """The name of a definition."""
        return super().normalize_name(name).removeprefix("Question")


class Questions(QuestionPart):
    """A list of named questions; frozen, and the same for everybody who reads the file."""

    version: Literal[1] = Field(1, description="Version of this file format")
    questions: tuple[Question, ...] = Field((), max_length=MOST, description="What will be asked, each by its name")
    across: tuple[across_links.LinkedQuestion, ...] = Field(
        default=(), max_length=MOST_ACROSS, description="What will be asked of linked tables, each about one of them"
    )

    @validator(mode="after")
    def _names_differ(self) -> Questions:
        names = [q.name for q in (*self.questions, *self.across)]
        if len(set(names)) != len(names):
            repeated = next(n for n in names if names.count(n) > 1)
            msg = f"two questions are called {repeated[:80]!r}; give every question its own name"
            raise ValueError(msg)
        return self

    def __len__(self) -> int:
        """Number of questions."""
        return len(self.questions) + len(self.across)

    def checked(self, schema: Schema) -> Questions:
        """The same, once each fits the schema of one table. Raises QuestionError for the first that does not."""
        if self.across:
            msg = f"question '{self.across[0].name}' is about linked tables, and the schema describes one"
            raise QuestionError(msg)
        for question in self.questions:
            try:
                check(question, schema)
            except DPSynError as error:
                msg = f"question '{question.name}': {error}"
                raise QuestionError(msg) from error
        return self

    # ---- JSON in and out

    @classmethod
    def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
        """As pydantic's, with the names of definitions that version 1 has."""
        return super().model_json_schema(*args, **{"schema_generator": _Version1, **options})

    @classmethod
    def of(cls, document: object) -> Questions:
        """Builds from a parsed JSON document, or from the list of questions alone. Raises QuestionError."""
        if isinstance(document, Questions):
            return document
        if isinstance(document, list | tuple):
            document = {"version": 1, "questions": list(document)}
        document = _sorted(document)
        if isinstance(document, dict) and "version" not in document:
            msg = 'the questions have no version; begin the document with {"version": 1, "questions": [...]}'
            raise QuestionError(msg)
        if unfit := unfit_text(document):
            msg = f"the questions hold {unfit}"
            raise QuestionError(msg)
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            raise QuestionError(describe(error, document)) from error
        except RecursionError as error:
            msg = "the questions are nested too deeply; a question holds lists and objects of at most two levels"
            raise QuestionError(msg) from error

    @classmethod
    def loads(cls, text: str | bytes) -> Questions:
        """Reads JSON text. Raises QuestionError."""
        if len(text) > LARGEST:
            msg = f"the questions have {len(text)} bytes, above the cap of {LARGEST}; declare fewer questions"
            raise QuestionError(msg)
        try:
            document = json.loads(text, object_pairs_hook=fields_once)
        except (ValueError, RecursionError) as error:
            where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            why = (
                f"name {error} twice in one object" if isinstance(error, RepeatedFieldError) else f"are not JSON{where}"
            )
            msg = f"the questions {why}; docs/questions.md shows the format"
            raise QuestionError(msg) from error
        return cls.of(document)

    @classmethod
    def load(cls, path: str | Path) -> Questions:
        """Reads a file of questions. Raises QuestionError."""
        try:
            text = Path(path).read_bytes()
        except OSError as error:
            msg = f"the file of questions '{path}' cannot be read ({error.strerror}); check the path"
            raise QuestionError(msg) from error
        try:
            return cls.loads(text)
        except DPSynError as error:
            msg = f"{path}: {error}"
            raise QuestionError(msg) from error

    @classmethod
    def in_schema(cls, schema: Schema) -> Questions:
        """Those that stand in the schema file itself; none where it has none. Raises QuestionError."""
        return cls.of([] if schema.questions is None else schema.questions)

    def document(self) -> dict[str, Any]:
        """Plain JSON values; what is not set does not appear."""
        out = {"version": self.version, "questions": [plain(q) for q in self.questions]}
        return out | ({"across": self.asked_across()} if self.across else {})

    def asked_across(self) -> list[dict[str, Any]]:
        """The questions across links, as plain JSON values."""
        return [across_links.plain(q) for q in self.across]

    def dumps(self) -> str:
        """JSON text that `loads` reads back to equal questions."""
        return json.dumps(self.document(), indent=2, ensure_ascii=False) + "\n"

    def dump(self, path: str | Path) -> None:
        """Writes the file atomically. Raises OutputError."""
        write_text(Path(path), self.dumps())

    @property
    def digest(self) -> str:
        """SHA-256, as hex, of the document with sorted keys, without spaces, in UTF-8."""
        text = json.dumps(self.document(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _sorted(document: object) -> object:
    """The document with questions about a named table among those across links; earlier files have no such part."""
    asked = document.get("questions") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(asked, list | tuple):
        return document
    named = [q for q in asked if isinstance(q, across_links.LinkedQuestion) or (isinstance(q, dict) and "about" in q)]
    if not named or not isinstance(document.get("across", []), list | tuple):
        return document
    others = [q for q in asked if q not in named]
    return document | {"questions": others, "across": [*named, *document.get("across", [])]}


def plain(question: Question) -> dict[str, Any]:
    """A question as JSON values: name and kind first, then what differs from the default."""
    values = question.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return {"name": question.name, "kind": question.kind} | {
        k: v for k, v in values.items() if k not in ("name", "kind")
    }


Given = Questions | Iterable[object] | dict[str, Any] | str | Path
"""Questions however a caller has them: a document, its parsed JSON, a list, or the path of a file."""


def given(questions: Given) -> Questions:
    """The document. Raises QuestionError."""
    if isinstance(questions, Questions):
        return questions
    if isinstance(questions, str | Path):
        return Questions.load(questions)
    return Questions.of(questions if isinstance(questions, dict) else list(questions))


def declared(questions: Given | None, schema: Schema) -> Questions:
    """The document, checked against a schema; None takes the questions of the schema file. Raises QuestionError."""
    asked = Questions.in_schema(schema) if questions is None else given(questions)
    return asked.checked(schema)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the document, as exported to docs/questions.v1.json."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Questions.model_json_schema()}


def export(path: str | Path) -> None:
    """Writes the JSON Schema to a file."""
    write_text(Path(path), json.dumps(json_schema(), indent=2) + "\n")
