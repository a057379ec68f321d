"""`dpsyn describe`: the documents that go with a published table, for search engines, reviewers and readers."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser(
        "describe",
        help="write Croissant, the certificate and the NIST SP 800-226 page of a release",
        description="Writes three files next to a released table: NAME.croissant.json, NAME.certificate.txt and "
        "NAME.nist-800-226.md. No cell of a table is read; the table's digest is compared with its manifest.",
    )
    parser.add_argument(
        "table",
        metavar="TABLE",
        type=Path,
        help="CSV, TSV or Parquet, as it was written; of linked tables their folder, where the files then go",
    )
    parser.add_argument(
        "--manifest",
        type=Path,
        metavar="M.json",
        help="default next to TABLE: TABLE.manifest.json, and in a folder manifest.json",
    )
    parser.add_argument("--schema", type=Path, required=True, help="that the run was made with")
    parser.add_argument("--licence", required=True, metavar="URL", help="address or name of the licence")
    parser.add_argument("--url", required=True, help="of the page that offers the table")
    parser.add_argument("--curator", required=True, metavar="NAME", help="who publishes the table")
    parser.add_argument("--published", metavar="YYYY-MM-DD", help="default today")
    parser.add_argument("--description", metavar="TEXT", help="default a sentence from the manifest")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Writes the three documents."""
    import json
    from datetime import UTC, datetime

    from dpsyn_core.files import check_writable, manifest_beside, write_text
    from dpsyn_core.privacy import Manifest
    from dpsyn_core.report import Publication, croissant, nist_page
    from dpsyn_core.runs import places_of
    from dpsyn_core.schema import Schema

    schema: Any = Schema.load(args.schema)
    publication = Publication(
        licence=args.licence,
        url=args.url,
        creator=args.curator,
        description=args.description,
        published=args.published or datetime.now(UTC).date().isoformat(),
    )
    endings = ("croissant.json", "certificate.txt", "nist-800-226.md")
    if schema.links:
        places = places_of(args.table, schema, manifest=args.manifest, made=False)
        manifest = places.manifest
        named = manifest.name.endswith("manifest.json")
        first = manifest.name.removesuffix("manifest.json") if named else f"{manifest.stem}."
        outs = [manifest.with_name(f"{first}{ending}") for ending in endings]
    else:
        manifest = args.manifest or manifest_beside(args.table)
        outs = [args.table.with_name(f"{args.table.stem}.{ending}") for ending in endings]
    for out in outs:
        check_writable(out)
    tables = dict(zip(schema.outputs, places.outs, strict=True)) if schema.links else {schema.name: args.table}
    document = croissant(tables, manifest, schema, publication)
    stated = Manifest.load(manifest)
    texts = (json.dumps(document, indent=2, ensure_ascii=False) + "\n", stated.certificate(), nist_page(stated))
    for out, text in zip(outs, texts, strict=True):
        write_text(out, text)
        print(f"wrote {out}")
