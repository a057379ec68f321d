"""What commands and options cannot do with linked tables, each with its reason: the one place that refuses it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dpsyn_core.errors import SettingError
from dpsyn_core.schema import LinkedSchema, Schema

if TYPE_CHECKING:
    from dpsyn_core.schema import TableSchema

ONE_BY_ONE = "name one of them by a schema of its own"
NAMED = "name one of them with --table NAME"
COMMANDS = {
    "explore": f"an exploration is of the columns of one table; {NAMED}",
    "marginal": f"a marginal is a table of columns of one table; {NAMED}, or declare a question across links",
    "itemsets": f"itemsets are baskets of one table; {NAMED}",
    "schema export": f"a codebook is of the columns of one table; {NAMED}",
    "draw": "trained models make single tables, which no key holds together; save a release, and use `dpsyn refit`",
    "compare-systems": f"systems are compared on one table, and linked tables have two; {ONE_BY_ONE}",
    "refit": f"tables that others published are of one table; {ONE_BY_ONE}",
    "schema": f"this command describes one table; {ONE_BY_ONE}",
}

OPTIONS = {
    "save_model": "no system that trains a model knows keys",
    "population": "their intervals are about the real tables, of which noise is all that is not known",
    "confidence": "their intervals have 95 %, for which the noise was drawn",
    "spark_master": "all that hangs on one root has to come together, which executors of Spark do not do",
}


def check_options(args: argparse.Namespace) -> None:
    """Refuses the options that linked tables cannot have. Raises SettingError."""
    for option, why in OPTIONS.items():
        if getattr(args, option, None) is not None:
            msg = f"linked tables do not take --{option.replace('_', '-')}: {why}; leave it out"
            raise SettingError(msg)


def one_table(command: str, path: str | Path, table: str | None = None) -> TableSchema:
    """The schema of a command that works on one table. table: which of several linked ones. Raises InputError."""
    schema = Schema.load(path)
    if table is None:
        return schema.alone(COMMANDS[command])
    if not isinstance(schema, LinkedSchema):
        msg = f"the schema '{schema.name}' describes one table, and --table names one of several; leave it out"
        raise SettingError(msg)
    return schema.table_alone(table)
