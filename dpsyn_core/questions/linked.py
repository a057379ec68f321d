"""Linked questions, version 1: what will be asked across links, declared before anything is measured. Public.

A question is about one table, whose columns it names as rules of links do: own ones, `households.income` of the
parent, `Head.age` of the sibling in a single role, `before.job` of the sibling before. Further columns can be declared:
how many children meet conditions (of a parent), and how far a number is from that of the sibling before (of a child).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, StrictBool, StrictInt, StrictStr, ValidationError
from pydantic import model_validator as validator

from dpsyn_core.errors import QuestionError
from dpsyn_core.files import unfit_text
from dpsyn_core.questions.document import describe
from dpsyn_core.questions.forms import Name, PredictQuestion, Question, QuestionPart, RegressionQuestion

MOST = 100  # questions of one document
MOST_DECLARED = 20  # columns that one question may declare


class ChildCount(QuestionPart):
    """A column of a parent: how many of its children meet conditions, or whether any does."""

    of: Name = Field(description="The child table")
    where: StrictStr | None = Field(
        None, min_length=1, max_length=10_000, description="Conditions: role = Child and age in [0, 4]; null: all"
    )
    any: StrictBool = Field(False, description="1 where at least one child meets them, else 0; a mean is then a share")


class LinkedQuestion(QuestionPart):
    """One question about the records of one table."""

    about: Name = Field(description="The table whose records it is about")
    counts: dict[Name, ChildCount] = Field(
        default_factory=dict, max_length=MOST_DECLARED, description="Columns of numbers of children, by their names"
    )
    changes: dict[Name, Name] = Field(
        default_factory=dict, max_length=MOST_DECLARED,
        description="Columns of changes since the sibling before, by their names: of which number",
    )  # fmt: skip
    at_most: StrictInt | None = Field(
        None, ge=1, description="Records of one root that count fully; those of a root with more weigh less. null: all"
    )
    ask: Question = Field(description="A question as of one table, on these columns")

    @validator(mode="after")
    def _has_an_interval(self) -> LinkedQuestion:
        if isinstance(self.ask, PredictQuestion | RegressionQuestion):
            msg = (
                f"'{self.ask.name}' is a {self.ask.kind}, which needs more than one table; linked questions are "
                "tables, means, sums, quantiles, gaps, Gini indices and ranges"
            )
            raise ValueError(msg)
        return self

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.ask.name)


class LinkedQuestions(QuestionPart):
    """A list of named questions on linked tables."""

    version: Literal[1] = Field(1, description="Version of this file format")
    questions: tuple[LinkedQuestion, ...] = Field((), max_length=MOST, description="Each by its name")

    @validator(mode="after")
    def _names_differ(self) -> LinkedQuestions:
        names = [q.name for q in self.questions]
        repeated = next((n for n in names if names.count(n) > 1), None)
        if repeated is not None:
            msg = f"two questions are called {repeated[:80]!r}; give every question its own name"
            raise ValueError(msg)
        return self

    @classmethod
    def of(cls, document: object) -> LinkedQuestions:
        """Builds from a parsed JSON document, or a list of questions. Raises QuestionError."""
        if isinstance(document, LinkedQuestions):
            return document
        if isinstance(document, Sequence) and not isinstance(document, str | bytes):
            document = {"version": 1, "questions": list(document)}
        if unfit := unfit_text(document):
            msg = f"the questions hold {unfit}"
            raise QuestionError(msg)
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            raise QuestionError(describe(error, document)) from error

    @classmethod
    def load(cls, path: str | Path) -> LinkedQuestions:
        """Reads a JSON file. Raises QuestionError."""
        try:
            raw = Path(path).read_bytes()
        except OSError as error:
            msg = f"'{path}' cannot be read ({error.strerror}); name a file of linked questions"
            raise QuestionError(msg) from error
        return cls.loads(raw, name=Path(path).name)

    @classmethod
    def loads(cls, raw: bytes, *, name: str = "the file of questions") -> LinkedQuestions:
        """From the bytes of a JSON file, called `name` in sentences. Raises QuestionError."""
        try:
            document = json.loads(raw.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            msg = f"'{name}' is not JSON; docs/linked.md shows a file of linked questions"
            raise QuestionError(msg) from error
        return cls.of(document)

    def file(self) -> dict[str, Any]:
        """The whole document, as a file holds it."""
        return {"version": self.version, "questions": self.document()}

    def document(self) -> list[dict[str, Any]]:
        """The questions as plain JSON values."""
        return [q.model_dump(mode="json", by_alias=True, exclude_none=True) for q in self.questions]
