"""`dpsyn draw`: more synthetic records from a saved model, free of charge."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser(
        "draw",
        help="make more records from a saved model (dpsyn synth --save-model), free of charge",
        description="The records come with a manifest of their own, which states the same promise and charges.",
    )
    parser.add_argument("model", metavar="MODEL.safetensors", type=Path)
    parser.add_argument("--manifest", type=Path, required=True, metavar="M.json", help="of the run that saved it")
    parser.add_argument("--schema", type=Path, required=True)
    parser.add_argument("--n-records", type=int, required=True)
    parser.add_argument("--seed", type=int, help="of the drawing; default a fresh one")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="OUT.(csv|parquet)")
    parser.add_argument("--new-manifest", type=Path, required=True, metavar="N.json", help="of the new records")
    parser.add_argument("--sign", type=Path, metavar="KEY", help="sign the new manifest with a key of `dpsyn key new`")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Holds the model against its manifest, draws, and writes both files."""
    from dpsyn_core.commands.common import signing_key
    from dpsyn_core.commands.synth import SUFFIXES
    from dpsyn_core.commands.trees import one_table
    from dpsyn_core.errors import InputError, OutputError, ReceiptError
    from dpsyn_core.privacy import Manifest
    from dpsyn_core.runs import Places, draw, manifest_faults, signing_faults, write_release

    if args.out.suffix.lower() not in SUFFIXES:
        msg = f"the output '{args.out.name}' must end with {' or '.join(SUFFIXES)}"
        raise OutputError(msg)
    try:
        content = args.model.read_bytes()
    except OSError as error:
        msg = f"cannot read the model '{args.model}': {error.strerror}"
        raise InputError(msg) from error
    key = signing_key(args.sign)
    manifest, document = Manifest.read(args.manifest)
    schema = one_table("draw", args.schema)
    places = Places.of(args.out, args.new_manifest, private=manifest.private)
    places.check(args.model, args.manifest, args.schema)
    faults = [*manifest_faults(manifest, document), *signing_faults(manifest, schema=schema)]
    if faults:
        msg = f"nothing is drawn by the manifest '{args.manifest.name}': {'; '.join(dict.fromkeys(faults))}"
        raise ReceiptError(msg)
    release = draw(content, manifest, schema, n_records=args.n_records, rng=args.seed)
    write_release(release, places, key=key)
    mark = "" if release.manifest.private else "NOT PRIVATE: "
    print(f"{mark}wrote {release.manifest.n_records} records to {places}; nothing was charged")
