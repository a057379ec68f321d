"""Questions in plain words: what each asks, what it is called, and what its expected error means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpsyn_core.questions import (
    GapQuestion,
    GiniQuestion,
    GroupedQuestion,
    MeanQuestion,
    PeriodBins,
    PredictQuestion,
    QuantileQuestion,
    Question,
    RangeQuestion,
    RegressionQuestion,
    SumQuestion,
    TableQuestion,
)
from ui.shared.text import local, number, percent, t

if TYPE_CHECKING:
    from dpsyn_core.runs import Forecast
    from dpsyn_core.schema import Schema


def asks(question: Question, schema: Schema | None = None) -> str:
    """The question as a sentence; schema: its mean of a column of 0 and 1 is then called a share."""
    from dpsyn_core.questions import is_rate

    if isinstance(question, TableQuestion):
        several = "" if len(question.of) > 1 else "_one"
        said = t(f"questions.asks_table{several}", columns=listed(question.of))
        periods = [t(f"questions.bins_{b.every}") for b in question.bins.values() if isinstance(b, PeriodBins)]
        return f"{said.removesuffix('.')}, {', '.join(periods)}." if periods else said
    if isinstance(question, GapQuestion):
        name, (first, second) = question.sides
        return t("questions.asks_gap", of=question.of, side=name, first=first, second=second, each=_each(question.by))
    if isinstance(question, QuantileQuestion):
        at = ", ".join(percent(float(q), 0) for q in question.at)
        key = "questions.asks_median" if question.at == (0.5,) else "questions.asks_quantile"
        return t(key, of=question.of, at=at, each=_each(question.by))
    if isinstance(question, MeanQuestion | SumQuestion | GiniQuestion):
        rate = question.kind == "mean" and schema is not None and is_rate(schema[question.of])
        return t(f"questions.asks_{'rate' if rate else question.kind}", of=question.of, each=_each(question.by))
    if isinstance(question, RangeQuestion):
        return t("questions.asks_range", where=question.where)
    if isinstance(question, PredictQuestion):
        names = t("questions.all_others") if question.predictors is None else ", ".join(question.predictors)
        return t("questions.asks_predict", of=question.of, names=names)
    if isinstance(question, RegressionQuestion):
        if question.formula is not None:
            return t("questions.asks_formula", formula=question.formula)
        return t("questions.asks_regression", of=question.of, names=", ".join(question.on))
    return question.name


def _each(by: tuple[str, ...]) -> str:
    return " " + t("questions.each", columns=listed(by)) if by else ""


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: a, b and c."""
    *first, last = names
    return f"{', '.join(first)} {t('questions.and')} {last}" if first else last


def name_of(document: dict[str, Any]) -> str:
    """A name for a question that was given none, from what it holds; empty while nothing is chosen."""
    kind, of, by = document.get("kind"), document.get("of"), document.get("by") or []
    group = " " + t("questions.name_by", columns=listed(by)) if by else ""
    if kind == "table":
        every = [t(f"questions.bins_{b['every']}") for b in (document.get("bins") or {}).values() if "every" in b]
        return " ".join([" x ".join(of or []), *every])
    if kind == "range":
        return str(document.get("where", ""))[:190]
    if kind == "regression" and document.get("formula"):
        return str(document["formula"])[:190]
    if not of:
        return ""
    if kind == "gap" and document.get("between"):
        return t("questions.name_gap", of=of, columns=listed([*document.get("between", {}), *by]))
    if kind == "regression":
        return t("questions.name_regression", of=of, columns=", ".join(document.get("on", [])))[:190]
    return t(f"questions.name_{kind}", of=of) + group


def error(forecast: Forecast, value: float | None, spread: float | None = None) -> str:
    """How far off the answer will be, in words; what is not measured says so.

    spread: of the number, in its unit, where the owner may see it; then the error has that unit, else it is a share.
    """
    if value is None:
        return t("questions.unmeasured")
    share = percent(value, 1 if value < 0.1 else 0)
    question = forecast.question
    if forecast.scale == "records":
        return t("questions.off_records", share=share)
    if forecast.scale == "gini":
        return t("questions.off_gini", amount=local(value, ".3f"))
    of = question.of if isinstance(question, GroupedQuestion | RegressionQuestion) else ""
    if forecast.scale == "spread" and spread is not None:
        return t("questions.off_unit", amount=number(float(f"{value * spread:.2g}")), of=of)
    return t(f"questions.off_{forecast.scale}", share=share, of=of)
