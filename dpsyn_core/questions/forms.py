"""The forms of questions, as they stand in questions.json: one model a kind, all frozen and public."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, StrictBool, StrictFloat, StrictInt, StrictStr, Tag
from pydantic import model_serializer as serializer
from pydantic import model_validator as validator

from dpsyn_core.errors import QuestionError
from dpsyn_core.questions.formula import Factor, Formula

MOST_GROUPS = 2  # attributes that a mean, a sum or a quantile is broken down by
MOST_TABLE = 4  # attributes of a cross table
MOST_NAMED = 200  # attributes that a prediction or a regression may name

Name = Annotated[StrictStr, Field(min_length=1, max_length=500)]
Number = StrictInt | StrictFloat
Value = StrictBool | Number | StrictStr


class QuestionPart(BaseModel):
    """Frozen, and nothing beside the declared fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True)


class WidthBins(QuestionPart):
    """Bins of one width, which start at multiples of it: ages in tens are {'width': 10}."""

    width: Number = Field(gt=0)


class QuestionCountBins(QuestionPart):
    """So many runs of neighbouring cells, with equally many cells in each as far as that goes."""

    model_config = ConfigDict(title="CountBins")

    count: StrictInt = Field(ge=1, le=100_000)


class QuestionEdgeBins(QuestionPart):
    """Own boundaries: a number belongs to the last edge that it reaches, or to what lies below the first."""

    model_config = ConfigDict(title="EdgeBins")

    edges: tuple[Number, ...] = Field(min_length=1, max_length=1000)

    @validator(mode="after")
    def _rising(self) -> QuestionEdgeBins:
        if any(b <= a for a, b in zip(self.edges, self.edges[1:], strict=False)):
            msg = "edges must rise from each to the next"
            raise ValueError(msg)
        return self


class PeriodBins(QuestionPart):
    """Dates by the period that they begin in."""

    every: Literal["day", "month", "quarter", "year"]


class GroupBins(QuestionPart):
    """Groups of values, one list each; values in no list form one further group."""

    groups: tuple[tuple[Value, ...], ...] = Field(min_length=1, max_length=1000)


def _bins_tag(bins: Any) -> str | None:
    """Which kind of bins is meant, by its only key; None when it is no object."""
    if isinstance(bins, QuestionPart):
        bins = dict(bins)
    if not isinstance(bins, dict):
        return None
    tags = {
        "width": "WidthBins",
        "count": "CountBins",
        "edges": "EdgeBins",
        "groups": "GroupBins",
        "every": "PeriodBins",
    }
    return next((tag for key, tag in tags.items() if key in bins), "WidthBins")


Bins = Annotated[
    Annotated[WidthBins, Tag("WidthBins")]
    | Annotated[QuestionCountBins, Tag("CountBins")]
    | Annotated[QuestionEdgeBins, Tag("EdgeBins")]
    | Annotated[GroupBins, Tag("GroupBins")]
    | Annotated[PeriodBins, Tag("PeriodBins")],
    Discriminator(_bins_tag),
]


class BaseQuestion(QuestionPart, ABC):
    """What every question has."""

    scales: ClassVar[bool] = False  # whether the answer grows with the number of records

    name: StrictStr = Field(min_length=1, max_length=200, description="What the question is called in reports")
    weight: Number = Field(
        1, gt=0, le=1000, description="Importance, relative to the other questions; a larger one gets more budget"
    )

    @property
    @abstractmethod
    def attributes(self) -> tuple[str, ...]:
        """All attributes that it names, each once, in the order of the form."""


class TableQuestion(BaseQuestion):
    """A cross table of counts."""

    scales: ClassVar[bool] = True

    kind: Literal["table"] = "table"
    of: tuple[Name, ...] = Field(min_length=1, max_length=MOST_TABLE, description="The attributes, up to four")
    bins: dict[Name, Bins] = Field(
        default_factory=dict,
        description="Coarse bins of attributes: {'width': 10}, {'count': 8}, {'edges': [..]}, {'every': 'month'} for "
        "dates, or {'groups': [[..]]}",
    )

    @property
    def attributes(self) -> tuple[str, ...]:
        """Those of the table."""
        return _once(self.of)


class GroupedQuestion(BaseQuestion):
    """A figure of one number, by groups."""

    of: Name = Field(description="A numeric attribute")
    by: tuple[Name, ...] = Field((), max_length=MOST_GROUPS, description="Attributes that it is broken down by")
    bins: dict[Name, Bins] = Field(default_factory=dict, description="Coarse bins of attributes in 'by', as of a table")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The number, then the groups."""
        return _once((self.of, *self.by))


class MeanQuestion(GroupedQuestion):
    """Means of a number, by up to two attributes."""

    kind: Literal["mean"] = "mean"


class SumQuestion(GroupedQuestion):
    """Sums of a number, by up to two attributes."""

    scales: ClassVar[bool] = True

    kind: Literal["sum"] = "sum"


class QuantileQuestion(GroupedQuestion):
    """Quantiles of a number, by up to two attributes; the median unless others are asked for."""

    kind: Literal["quantile"] = "quantile"
    at: tuple[Annotated[Number, Field(gt=0, lt=1)], ...] = Field(
        (0.5,), min_length=1, max_length=20, description="Which quantiles, between 0 and 1"
    )


class GiniQuestion(GroupedQuestion):
    """Gini indices of a number that is not negative, by one attribute or over all records."""

    kind: Literal["gini"] = "gini"
    by: tuple[Name, ...] = Field((), max_length=1, description="An attribute that it is broken down by")


class GapQuestion(GroupedQuestion):
    """The mean of a number on one side less that on the other, by one attribute or over all records."""

    kind: Literal["gap"] = "gap"
    by: tuple[Name, ...] = Field((), max_length=1, description="An attribute that it is broken down by")
    between: dict[Name, tuple[Value, Value]] = Field(
        min_length=1, max_length=1, description="An attribute and two of its values: first less second"
    )

    @property
    def sides(self) -> tuple[str, tuple[Value, Value]]:
        """The attribute that is compared, and its two values."""
        return next(iter(self.between.items()))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The number, the groups, the sides."""
        return _once((self.of, *self.by, *self.between))


class RangeQuestion(BaseQuestion):
    """How many records meet all of some conditions."""

    scales: ClassVar[bool] = True

    kind: Literal["range"] = "range"
    where: StrictStr = Field(
        min_length=1, max_length=10_000, description="Conditions: AGE in [18, 30] and SEX = Male and CITY in {Ashford}"
    )

    @property
    def attributes(self) -> tuple[str, ...]:
        """Those of the conditions."""
        from dpsyn_core.tables import clauses

        return _once(tuple(c.attribute for c in clauses(self.where)))


class PredictQuestion(BaseQuestion):
    """How much of the uncertainty about one attribute each of others explains, by itself."""

    kind: Literal["predict"] = "predict"
    of: Name = Field(description="The attribute that is predicted")
    predictors: tuple[Name, ...] | None = Field(
        None, alias="from", min_length=1, max_length=MOST_NAMED, description="From which attributes; null: all others"
    )

    @property
    def attributes(self) -> tuple[str, ...]:
        """The target, then the named predictors."""
        return _once((self.of, *(self.predictors or ())))


class RegressionQuestion(BaseQuestion):
    """Coefficients of a regression of one attribute on others, or on functions and products of them."""

    kind: Literal["regression"] = "regression"
    formula: StrictStr | None = Field(
        None, min_length=1, max_length=5000, description="died ~ treated + age + log(crp) + treated*diabetes"
    )
    of: StrictStr = Field(
        "", max_length=500, description="Without a formula: the outcome, a number or one of two values"
    )
    on: tuple[Name, ...] = Field((), max_length=20, description="Without a formula: the attributes that explain it")
    model: Literal["linear", "logistic"] = Field("linear", description="Least squares, or logistic")
    value: Value | None = Field(None, description="Logistic: the value whose odds are explained; null: the last one")

    @validator(mode="before")
    @classmethod
    def _read(cls, given: Any) -> Any:
        """A formula says which attributes there are."""
        if not isinstance(given, dict) or not isinstance(given.get("formula"), str):
            return given
        if "of" in given or "on" in given:
            msg = "a formula names the outcome and what explains it; remove 'of' and 'on'"
            raise ValueError(msg)
        try:
            parsed = Formula.of(given["formula"])
        except QuestionError as error:
            raise ValueError(str(error)) from error
        return given | {"of": parsed.outcome.column, "on": parsed.columns}

    @validator(mode="after")
    def _explains(self) -> RegressionQuestion:
        if not (self.of and self.on):
            msg = "a regression needs a formula, or an outcome ('of') and what explains it ('on')"
            raise ValueError(msg)
        return self

    @serializer(mode="wrap")
    def _plain(self, dump: Any) -> dict[str, Any]:
        """Attributes that follow from a formula do not appear."""
        values: dict[str, Any] = dump(self)
        return values if self.formula is None else {k: v for k, v in values.items() if k not in ("of", "on")}

    @property
    def read(self) -> Formula:
        """Its formula, or that of the attributes as they are."""
        if self.formula is not None:
            return Formula.of(self.formula)
        return Formula(Factor(self.of), tuple((Factor(name),) for name in self.on))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The outcome, then what explains it."""
        return _once((self.of, *self.on))


Question = Annotated[
    TableQuestion
    | MeanQuestion
    | SumQuestion
    | QuantileQuestion
    | GapQuestion
    | GiniQuestion
    | RangeQuestion
    | PredictQuestion
    | RegressionQuestion,
    Field(discriminator="kind"),
]
KINDS = ("table", "mean", "sum", "quantile", "gap", "gini", "range", "predict", "regression")


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
