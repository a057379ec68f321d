"""The kinds of rules: adding one is adding one file and its line in KINDS. A kind is loaded when a schema names it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Union

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.rules.base import Rule

# kind -> class, in the order in which a repair keeps them: what is computed comes before what is compared
KINDS: dict[str, str] = {
    "impossible": "impossible.ImpossibleRule",
    "blank": "blank.BlankRule",
    "follows": "follows.FollowsRule",
    "difference": "difference.DifferenceRule",
    "sum": "sum.AdditionRule",
    "ratio": "ratio.RatioRule",
    "order": "order.OrderRule",
    "unique": "unique.UniqueRule",
}


@cache
def kind_class(kind: str) -> type[Rule]:
    """The class of a kind."""
    module, name = KINDS[kind].split(".")
    cls: type[Rule] = getattr(importlib.import_module(f"dpsyn_core.schema.rules.{module}"), name)
    return cls


@cache
def _any_kind() -> TypeAdapter[Rule]:
    """Reads a rule of any kind; loads all of them."""
    kinds: Any = Union[tuple(kind_class(k) for k in KINDS)]  # noqa: UP007
    return TypeAdapter(Annotated[kinds, Field(discriminator="kind")])


class _ByKind:
    """Reads a rule as its kind does; the JSON Schema lists all kinds."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        del source, handler
        written = core_schema.plain_serializer_function_ser_schema(_written, info_arg=True)
        return core_schema.no_info_plain_validator_function(rule_of, serialization=written)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        del schema
        return handler(_any_kind().core_schema)


AnyRule = Annotated[Rule, _ByKind()]


def rule_of(document: Any) -> Rule:
    """A rule as it stands in a schema. Raises pydantic's ValidationError."""
    if isinstance(document, Rule):
        return document
    kind = document.get("kind") if isinstance(document, dict) else None
    if isinstance(kind, str) and kind in KINDS:
        return kind_class(kind).model_validate(document)
    return _any_kind().validate_python(document)


def _written(rule: Rule, info: Any) -> dict[str, Any]:
    return rule.model_dump(mode=info.mode)


def check_rule(number: int, rule: Rule, coded: Mapping[str, Any]) -> None:
    """Raises SchemaError, in one sentence, for a rule that does not fit the attributes that are synthesized."""
    try:
        columns = rule.columns
        for name in columns:
            if name not in coded:
                from dpsyn_core.tables import unquoted

                some = ", ".join(list(coded)[:20])
                msg = f"'{name[:80]}' is no column that is synthesized; those are {some}{unquoted(name, coded)}"
                raise SchemaError(msg)
        if len(set(columns)) != len(columns):
            msg = "it names a column twice; name different ones"
            raise SchemaError(msg)
        rule.check(coded)
    except ValueError as error:
        msg = f"rule {number} ({str(rule)[:200]}): {error}"
        raise SchemaError(msg) from error
