"""Questions across links: what will be asked of tables that hang together, declared before anything is measured.

A question is about one table, whose columns it names as rules of links do: its columns by name, `households.income` of
the parent, `Head.age` of the sibling in a single role, `before.job` of the sibling before. Further columns can be
declared: how many children meet conditions (of a parent), and how far a number is from that of the sibling before (of a
child).
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, StrictBool, StrictInt, StrictStr
from pydantic import model_validator as validator

from dpsyn_core.questions.forms import Name, PredictQuestion, Question, QuestionPart, RegressionQuestion

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
        default_factory=dict,
        max_length=MOST_DECLARED,
        description="Columns of changes since the sibling before, by their names: of which number",
    )
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


def plain(question: LinkedQuestion) -> dict[str, Any]:
    """A question as JSON values; what is not set does not appear."""
    return question.model_dump(mode="json", by_alias=True, exclude_none=True)
