"""The kinds of attributes that a schema document may declare; each stands in a file of this folder."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Field

from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.attributes.derived import DerivedAttribute
from dpsyn_core.schema.attributes.identifier import IdentifierAttribute
from dpsyn_core.schema.attributes.ignored import IgnoredAttribute
from dpsyn_core.schema.attributes.numeric import NumericAttribute

Attribute = Annotated[
    CategoricalAttribute
    | NumericAttribute
    | DatetimeAttribute
    | DerivedAttribute
    | IdentifierAttribute
    | IgnoredAttribute,
    Field(discriminator="kind"),
]
KINDS: tuple[str, ...] = tuple(c.model_fields["kind"].default for c in get_args(get_args(Attribute)[0]))
