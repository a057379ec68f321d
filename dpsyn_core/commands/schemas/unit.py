"""Who is one individual, as a person types it for `dpsyn schema`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

BY_FLAGS = "add --identifier COLUMN --max-records N"


def undecided(schema: Any, headers: Sequence[str], *, how: str = BY_FLAGS) -> Any:
    """The schema; where a header names individuals, its unit is marked undecided, and a notice goes to stderr."""
    from dpsyn_core.schema import naming

    named = naming(headers)
    if not named or not schema.unit.usual:
        return schema
    print_undecided(named, how=how)
    return schema.model_copy(update={"unit": schema.unit.model_copy(update={"source": "data"})})


def print_undecided(named: Sequence[str], found: str = "", *, how: str = BY_FLAGS) -> None:
    """Prints on stderr that the unit of privacy must be declared, and how. found: what reading the values showed."""
    from dpsyn_core.schema import LADDER

    found = found or ("note: columns with a header that often names individuals: " + ", ".join(f"'{n}'" for n in named))
    limits = f"{', '.join(map(str, LADDER[:-1]))} or {LADDER[-1]}"
    print(
        f"{found}; who is one individual is not decided: if one can have several records, {how} "
        f"to protect them together, with N from what is known without the data, such as {limits} (the "
        "noise grows with it); if each record is one, say so with 'dpsyn schema confirm ... --unit'",
        file=sys.stderr,
    )


def typed_unit(args: argparse.Namespace) -> Any:
    """The unit of privacy as a person typed it, hence public. Raises SettingError for a limit below 1."""
    from dpsyn_core.errors import SettingError
    from dpsyn_core.schema import SchemaUnit

    if args.max_records < 1:
        msg = f"--max-records is {args.max_records}; it must be at least 1"
        raise SettingError(msg)
    return SchemaUnit(
        neighbours=args.neighbours, identifier=args.identifier, max_records=args.max_records, source="public"
    )
