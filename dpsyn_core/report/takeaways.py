"""What a person takes away from a run: a script and a notebook that repeat it, and how to cite the release."""

from __future__ import annotations

import json
import re
import shlex
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.files import not_private_name
from dpsyn_core.privacy import ENGLISH, Manifest, Words, citation, promise
from dpsyn_core.report.wording import local
from dpsyn_core.runs import RunSpec

if TYPE_CHECKING:
    from dpsyn_core.schema import LinkedSchema

SCHEMA = "schema.json"  # next to the script
HEAD = '''"""Repeats the run {label}: the same schema, settings and seed of post-processing.

The noise is new, and the run is charged again. {schema} stands next to this file.
"""'''
LOAD = 'from dpsyn_core import synthesize\n\nTABLE = "YOUR_TABLE.csv"  # the private table'
SHOW = "print(release.manifest.certificate())"


def python_script(spec: RunSpec, label: str, name: str, *, query_vouched: bool, schema: str = SCHEMA) -> str:
    """A Python file that repeats a run. name: of the files that it writes, without an ending; schema: of its file."""
    head, call = (
        HEAD.format(label=_named(label), schema=schema),
        _call(spec, query_vouched=query_vouched, schema=schema),
    )
    return "\n\n".join([head, LOAD, f"{call}\n{SHOW}\n{_write(name)}"]) + "\n"


def linked_script(spec: RunSpec, schema: LinkedSchema, label: str, name: str, *, query_vouched: bool) -> str:
    """As `python_script`, for a run of linked tables, whose files stand next to it."""
    lead = "from dpsyn_core import synthesize\nfrom dpsyn_core.tables.read import read_table\n\n"
    if schema.one_file:
        given = 'TABLES = read_table("YOUR_TABLE.csv")  # the private table'
    else:
        files = "".join(f"    {t.name!r}: read_table({f'YOUR_{t.name}.csv'!r}),\n" for t in schema.tables)
        given = f"TABLES = {{  # the private tables\n{files}}}"
    call = _call(spec, query_vouched=query_vouched, tables="TABLES", schema=schema_file(schema))
    out = f"{name}.csv" if schema.one_file else f"{name}/"
    parts = [
        HEAD.format(label=_named(label), schema=schema_file(schema)),
        lead + given,
        f"{call}\n{SHOW}",
        f"release.write({out!r})",
    ]
    return "\n\n".join(parts) + "\n"


def schema_file(schema: LinkedSchema) -> str:
    """What the file of a linked schema is called; one that was read from the data says so."""
    return not_private_name(Path(SCHEMA)).name if schema.reasons else SCHEMA


def shell_command(words: Sequence[str], *, folded: bool = False) -> str:
    """Words as a shell reads them back, each quoted where it has to be: the one place where a command is written.

    folded: every option begins a line.
    """
    return "".join(
        (" \\\n  " if folded and word.startswith("--") else " ") + shlex.quote(word) for word in words
    ).lstrip()


def shell_script(words: Sequence[str], label: str, *, schema: str = SCHEMA) -> str:
    """A shell file that repeats a run, or a refit. words: `dpsyn`, `synth` and so on."""
    lead = f"# Repeats the run {_named(label)}: new noise, charged again. {schema} stands next to this file."
    if words[1] == "refit":
        lead = f"# Makes {_named(label)} anew from the release next to this file; nothing is charged."
    return f"#!/bin/sh\n{lead}\n{shell_command(words, folded=True)}\n"


def notebook(spec: RunSpec, label: str, name: str, *, query_vouched: bool, schema: str = SCHEMA) -> str:
    """The script as a Jupyter notebook (format 4.5), cell by cell."""
    lead = (
        f"# {_named(label)}\n\nRepeats a run of DPSyn Studio: the same schema, settings and seed of post-processing. "
        f"The noise is new, and the run is charged again on the ledger. `{schema}` stands next to this notebook."
    )
    cells = [_cell("markdown", lead)] + [
        _cell("code", text)
        for text in (LOAD, _call(spec, query_vouched=query_vouched, schema=schema), SHOW, _write(name))
    ]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    document = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _named(label: str) -> str:
    """What a run is called, without marks that could end a comment or begin code."""
    return " ".join(re.sub(r"[^\w .,:%+-]", " ", label).split())


def _cell(kind: str, text: str) -> dict[str, Any]:
    code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True), **code}


def _call(spec: RunSpec, *, query_vouched: bool, tables: str = "TABLE", schema: str = SCHEMA) -> str:
    """The call with every setting that differs from its default; the schema's file of one table holds the questions."""
    named: dict[str, Any] = {"epsilon": spec.epsilon, "delta": spec.delta, "method": spec.method}
    named |= {"settings": spec.settings} if spec.settings else {}
    named |= {"n_records": spec.n_records} if spec.n_records is not None else {}
    named |= {"rng": spec.seed, "dataset": spec.dataset}
    named |= {"questions_share": spec.questions_share} if spec.questions_share is not None else {}
    named |= {"query_vouched": True} if query_vouched else {}
    named |= {"public_table": spec.public_table} if spec.public_table is not None else {}
    named |= {"tables": spec.tables} if spec.tables > 1 else {}
    named |= {"questions": spec.questions} if (spec.questions or {}).get("across") else {}
    lines = "".join(f"    {key}={value!r},\n" for key, value in named.items())
    return f'release = synthesize(\n    {tables},\n    "{schema}",\n{lines})'


def _write(name: str) -> str:
    return f'release.write("{name}.csv")'


def cite(path: Path) -> str:
    """How to cite the release of a manifest, this year: a sentence, and BibTeX."""
    manifest, year = Manifest.load(path), datetime.now(UTC).year
    return f"{citation(manifest, year)}\n\n{bibtex(manifest, year)}"


def bibtex(manifest: Manifest, year: int, words: Words = ENGLISH) -> str:
    """An entry of type misc; the key joins the dataset and the year."""
    m, w = manifest, words
    plain = unicodedata.normalize("NFKD", m.dataset)  # an umlaut loses its dots, and not its letter
    key = f"{re.sub(r'[^A-Za-z0-9]+', '', plain) or 'release'}{year}synthetic"
    spent = {k: local(f"{x:g}", w) for k, x in (("epsilon", m.epsilon), ("delta", m.delta))}
    kind = w["bibtex_private"].format(**spent) if m.private else w["not_private"].partition(" - ")[0]
    content = "" if m.digests is None or not m.digests.content else m.digests.content[:16]
    fields = {
        "title": w["bibtex_title"].format(dataset=m.dataset, kind=kind),
        "year": str(year),
        "howpublished": f"DPSyn Studio {m.versions.get('dpsyn-studio', '')}, system {m.method}",
        "note": w["bibtex_note"].format(
            promise=promise(m, w), run=m.run_id[:16], content=w["cite_content"].format(hash=content) if content else ""
        ),
    }
    body = ",\n".join(f"  {name} = {{{_latex(text)}}}" for name, text in fields.items())
    return f"@misc{{{key},\n{body}\n}}\n"


def _latex(text: str) -> str:
    """Text whose marks LaTeX takes as they are."""
    escaped = re.sub(r"[\\{}]", "", text)
    return re.sub(r"([&%$#_])", r"\\\1", escaped).replace("~", r"\~{}").replace("^", r"\^{}")
