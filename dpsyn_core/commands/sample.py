"""`dpsyn sample`: writes a bundled sample table and its schema."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser("sample", help="write the bundled sample table and its schema into a folder")
    parser.add_argument("folder", metavar="DIR", type=Path)
    parser.add_argument(
        "--name",
        choices=("sample", "baskets", "hospital", "firecalls", "census98", "households"),
        default="sample",
        help="people of a census, shopping baskets, stays in a hospital, whose schema has rules, calls to a fire "
        "brigade (32 columns) or a census of 98 columns, both with a worked design for dpsyn-2018, or households "
        "with their persons in a table of their own; default sample",
    )
    parser.add_argument("--codes", action="store_true", help="the people in codes, with specification and codebook")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Writes NAME.csv and NAME.schema.json, and says what to do next. Raises SettingError, OutputError."""
    from dpsyn_core.data import FOLDER, WORKED
    from dpsyn_core.errors import OutputError, SettingError
    from dpsyn_core.files import check_writable, write_bytes
    from dpsyn_core.schema import sample_schema, sample_table
    from dpsyn_core.tables import write_table

    folder: Path = args.folder
    if args.codes:
        if args.name != "sample":
            msg = f"--codes is for the people of the sample, and --name is '{args.name}'; leave one of them out"
            raise SettingError(msg)
        write_codes(folder)
        return
    if args.name == "households":
        write_linked(folder, args.name)
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot make the folder '{folder}': {error.strerror}; choose another"
        raise OutputError(msg) from error
    table, schema = folder / f"{args.name}.csv", folder / f"{args.name}.schema.json"
    check_writable(table)
    write_table(sample_table(args.name), table)
    sample_schema(args.name).dump(schema)
    written, method = f"{table} and {schema}", ""
    if args.name in WORKED:
        design = folder / f"{args.name}.design.json"
        write_bytes(design, (FOLDER / design.name).read_bytes())
        written, method = f"{table}, {schema} and {design}", f'--method dpsyn-2018 --set design="$(cat {design})" '
    print(f"wrote {written}; next:")
    print(
        f"  dpsyn synth {table} --schema {schema} {method}--epsilon 1 --delta 1e-9 --out synthetic.csv "
        "--manifest manifest.json"
    )


def write_linked(folder: Path, name: str) -> None:
    """Writes the tables of a linked sample and their schema, and says what to do next."""
    from dpsyn_core.schema import write_linked_sample

    tables, schema = write_linked_sample(folder, name)
    print(f"wrote {', '.join(str(t) for t in tables.values())} and {schema}; next:")
    named = " ".join(f"--table {table}={path}" for table, path in tables.items())
    print(f"  dpsyn synth {named} --schema {schema} --epsilon 1 --delta 1e-9 --out synthetic/")


def write_codes(folder: Path) -> None:
    """Writes the coded people, their specification, codebook and design, and says what to do next."""
    from dpsyn_core.schema import write_coded_sample

    table, specification, codebook, design = write_coded_sample(folder)
    schema = folder / "sample-codes.schema.json"
    print(f"wrote {table}, {specification}, {codebook} and {design}; next:")
    print(f"  dpsyn schema import {specification} --codebook {codebook} --out {schema}")
    print(
        f'  dpsyn synth {table} --schema {schema} --method dpsyn-2018 --set design="$(cat {design})" '
        "--epsilon 1 --delta 1e-9 --out synthetic.csv --manifest manifest.json"
    )
