"""A reader of a release: files are proved, then grouped and filtered; each figure has its interval where there is one.

Guarantee: post-processing of released files alone; nothing private is at hand, and nothing is charged.
"""

from __future__ import annotations

import io
import itertools
import math
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpsyn_core.errors import InputError, QuestionError, ReceiptError, SizeError
from dpsyn_core.estimate import ReleasedFile, read_released
from dpsyn_core.evaluate import encode
from dpsyn_core.privacy import Manifest
from dpsyn_core.questions import (
    GRADES,
    Answered,
    Axis,
    Inferrer,
    Question,
    Questions,
    RangeQuestion,
    TableQuestion,
    answer_question,
    check,
    conditions,
    evaluate,
    sentence,
)
from dpsyn_core.report.answers import check_whole, inferrer_of, plain_codes
from dpsyn_core.runs import Receipt, receipt
from dpsyn_core.schema import Schema, TableSchema, quoted
from dpsyn_core.tables import file_digest

if TYPE_CHECKING:
    import pyarrow as pa

    from dpsyn_core.evaluate import Codes

RELEASE, INDEX = ".dpsyn", "release.json"  # the ending of release files, and the member that names the others
TABLES = (".csv", ".tsv", ".parquet", ".xlsx")
MOST_BYTES = 1 << 30  # of a zip's members together, unpacked
MOST_MEMBERS = 200
MOST_FILTERED = 100  # figures of a filtered table: each is a question of its own
LEAST = 0.5  # share of a cell that a condition must cover for the records of the cell to count as meeting it
Load = Callable[[str, bytes], "pa.Table"]  # reads the bytes of a table that may be hostile


@dataclass(frozen=True, kw_only=True)
class ReleaseFiles:
    """The files of a release by what they are: (name, bytes). measurements and schema: None where they lack."""

    table: tuple[str, bytes]
    manifest: tuple[str, bytes]
    measurements: tuple[str, bytes] | None = None
    schema: tuple[str, bytes] | None = None


def sorted_files(given: Sequence[tuple[str, bytes]]) -> ReleaseFiles:
    """Which of some files is which, by their names; a zip, such as the bundle of the app, is taken apart.

    A release file (.dpsyn) is one: it stands for the manifest and the released tables of its run.

    Raises:
        ReceiptError: there is no table or no manifest, or two of a kind.
        SizeError: a zip holds more than is read.
    """
    named = [file for name, content in given for file in (_members(name, content) if _zip(name) else [(name, content)])]
    kinds: dict[str, list[tuple[str, bytes]]] = {}
    for name, content in named:
        kind = _kind(name)
        if kind:
            kinds.setdefault(kind, []).append((name, content))
    alone = next((name for name, _ in given if name.lower().endswith(RELEASE)), None)
    if alone is not None and "table" not in kinds:
        msg = (
            f"'{alone}' holds what a run released, and no synthetic table; choose the table of that run (.csv, "
            ".parquet or .xlsx) as well, or make one from the file under More tables from a release, on Synthesize"
        )
        raise ReceiptError(msg)
    for kind, words in (("table", "a synthetic table (.csv, .parquet or .xlsx)"), ("manifest", "a manifest (.json)")):
        if kind not in kinds:
            msg = f"the files hold no {words.removeprefix('a ')}; choose {words}, or the bundle that Export writes"
            raise ReceiptError(msg)
    for kind, files in kinds.items():
        if len(files) > 1:
            msg = f"there are {len(files)} files that may be the {kind}, such as '{files[1][0]}'; choose one release"
            raise ReceiptError(msg)
    return ReleaseFiles(**{kind: files[0] for kind, files in kinds.items()})


def _zip(name: str) -> bool:
    return name.lower().endswith((".zip", RELEASE))


def _kind(name: str) -> str:
    """What a file of a release is by its name; empty for one that a reader does not need."""
    low = name.lower().rsplit("/", 1)[-1]
    if low.endswith(".json.gz"):
        return "measurements"
    if low.endswith(".json"):
        return "schema" if low.startswith("schema") else "manifest"
    return "table" if low.endswith(TABLES) else ""


def _members(name: str, content: bytes) -> list[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            index = INDEX if name.lower().endswith(RELEASE) else ""
            entries = [e for e in archive.infolist() if not e.is_dir() and _kind(e.filename) and e.filename != index]
            if len(entries) > MOST_MEMBERS or sum(e.file_size for e in entries) > MOST_BYTES:
                msg = f"'{name}' holds more than {MOST_BYTES >> 20} MB; choose the files of the release one by one"
                raise SizeError(msg)
            return [(e.filename.rsplit("/", 1)[-1], archive.read(e)) for e in entries]
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
        msg = f"'{name}' is no zip that can be read; choose the bundle that Export writes, or the files one by one"
        raise ReceiptError(msg) from error


@dataclass(frozen=True, kw_only=True)
class OpenRelease:
    """A release whose files belong together.

    codes: of the synthetic table, (n_attributes, n_records). released: its noisy tables; None where they were not
    given, and then no figure has an interval.
    """

    proof: Receipt
    manifest: Manifest
    schema: Schema
    codes: Codes
    released: ReleasedFile | None

    @cached_property
    def _inferrer(self) -> Inferrer | None:
        if self.released is None:
            return None
        names = self.schema.domain().names  # beside these, times between dates may have been measured
        tables = [m for m in self.released.measurements if set(m.attributes) <= set(names)]
        scores = self.released.measurements.scores
        scores = None if scores is None else scores.among(names)
        codes = plain_codes(self.codes, tables, self.schema, self.manifest)
        return inferrer_of(codes, tables, self.schema, self.manifest, scores=scores)

    def ask(self, question: Question, *, where: str = "") -> Answered:
        """One answer. Counts of records that meet a condition keep their intervals; other filtered figures have none.

        Args:
            question: fits the schema.
            where: a condition that all counted records meet; empty: none.

        Raises:
            QuestionError: question or condition does not fit.
            SizeError: a filtered table of more than `MOST_FILTERED` figures.
        """
        check(question, self.schema)
        if not where:
            if self._inferrer is None:
                return self._of_table(question, np.ones(self.codes.shape[1]), _NO_TABLES)
            return answer_question(question, self.schema, self._inferrer)
        check(RangeQuestion(name="filter", where=where, weight=1), self.schema)
        if isinstance(question, RangeQuestion):
            return self.ask(question.model_copy(update={"where": f"{question.where} and {where}"}))
        if isinstance(question, TableQuestion) and not question.bins and self._inferrer is not None:
            return self._counts(question, where)
        return self._of_table(question, self._meet(where), _NO_FILTER)

    def _meet(self, where: str) -> Any:
        """1 for records whose cells meet the condition, 0 for others."""
        names = self.schema.domain().names
        passes = np.ones(self.codes.shape[1])
        for name, share in conditions(where, self.schema).items():
            passes = passes * (share >= LEAST)[self.codes[names.index(name)]]
        return passes

    def _of_table(self, question: Question, weights: Any, why: str) -> Answered:
        """What the synthetic table says of the weighted records, without an interval."""
        got = evaluate(question, self.codes, self.schema, weights=weights)
        values = np.asarray(got.values, dtype=np.float64)
        blank, none = np.full(values.shape, np.nan), GRADES[-1]
        return Answered(
            question=question,
            axes=tuple(got.axes),
            unit=got.unit,
            estimate=values,
            low=blank,
            high=blank,
            synthetic=values,
            released=blank,
            noise=blank,
            grades=(none,) * values.size,
            truth="table",
            confidence=0.95,
            sentence=why,
        )

    def _counts(self, question: TableQuestion, where: str) -> Answered:
        """A filtered table of counts, one question a cell, so that each keeps its interval."""
        axes = [Axis(name=n, labels=tuple(self.schema[n].labels())) for n in question.of]
        shape = tuple(len(a.labels) for a in axes)
        if math.prod(shape) > MOST_FILTERED:
            msg = (
                f"the filtered table has {math.prod(shape)} figures, above the cap of {MOST_FILTERED}; group by "
                "columns of fewer values"
            )
            raise SizeError(msg)
        counts = []
        for labels in itertools.product(*(a.labels for a in axes)):
            cell = " and ".join(f"{quoted(a.name)} in {{{quoted(v)}}}" for a, v in zip(axes, labels, strict=True))
            counts.append(self.ask(RangeQuestion(name=question.name, where=f"{cell} and {where}", weight=1)))
        estimate, low, high, synthetic, released, noise = (
            np.array([float(getattr(a, n)) for a in counts]).reshape(shape) for n in _NUMBERS
        )
        grades = tuple(a.grades[0] for a in counts)
        return Answered(
            question=question,
            axes=tuple(axes),
            unit="records",
            estimate=estimate,
            low=low,
            high=high,
            synthetic=synthetic,
            released=released,
            noise=noise,
            grades=grades,
            truth="table",
            confidence=0.95,
            sentence=sentence(estimate, low, high, grades, "records", "table", 0.95),
        )


_NUMBERS = ("estimate", "low", "high", "synthetic", "released", "noise")
_NO_TABLES = "No interval: the released noisy tables were not given, so this is what the synthetic table itself says."
_NO_FILTER = (
    "No interval: of filtered records a release supports intervals for counts alone, without bins. This is what the "
    "synthetic table itself says."
)


def open_release(files: ReleaseFiles, load: Load) -> OpenRelease:
    """Proves that the files are those of one release, then reads them.

    The table must be a file of the release, byte for byte: then no reader opens a file that somebody changed.

    Args:
        files: as `sorted_files` finds them.
        load: reads the bytes of a table.

    Raises:
        ReceiptError: something does not belong together, or the release is one of some records or of linked tables.
        TableError, SchemaError: a file cannot be read.
    """
    released = None if files.measurements is None else read_released(files.measurements[1], files.measurements[0])
    schema = TableSchema.loads(files.schema[1]) if released is None and files.schema is not None else None
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for kind in ("table", "manifest", "measurements"):
            given = getattr(files, kind)
            if given is not None:
                paths[kind] = Path(folder) / f"{kind}{_ending(given[0])}"
                paths[kind].write_bytes(given[1])
        manifest = Manifest.read(paths["manifest"])[0]
        if manifest.hanging:
            msg = "this is a release of linked tables, which have no intervals; read each of its tables by itself"
            raise ReceiptError(msg)
        _check_own(files.table[0], file_digest(paths["table"]), manifest)
        public = schema if released is None else released.schema
        if public is None:
            msg = "neither released marginals (.json.gz) nor a schema are there; add one of them to read the table"
            raise ReceiptError(msg)
        proof = receipt(paths["table"], paths["manifest"], measurements=paths.get("measurements"), schema=public)
    if not proof.holds:
        raise ReceiptError(_named(proof.sentence, files))
    check_whole(manifest)
    codes = encode(public, load(*files.table), "synthetic")[0]
    return OpenRelease(proof=proof, manifest=manifest, schema=public, codes=codes, released=released)


def _ending(name: str) -> str:
    low = name.lower()
    return ".json.gz" if low.endswith(".json.gz") else Path(low).suffix


def _check_own(name: str, digest: str, manifest: Manifest) -> None:
    """Raises ReceiptError for a table that is no file of the release byte for byte."""
    named = manifest.digests
    every = () if named is None else (named, *named.tables)
    parts = () if named is None else named.parts
    if digest in {f for d in every for f in d.files.values()} | {p.file for p in parts}:
        return
    msg = (
        f"'{name}' is not, byte for byte, a file of this manifest: it was changed or saved again after the run, or it "
        "belongs to another one; take the file as it was released"
    )
    raise ReceiptError(msg)


def _named(said: str, files: ReleaseFiles) -> str:
    """A sentence with the names that the reader's files have."""
    for kind in ("table", "manifest", "measurements"):
        given = getattr(files, kind)
        if given is not None:
            said = said.replace(f"'{kind}{_ending(given[0])}'", f"'{given[0]}'")
    return said


def question_of(document: Mapping[str, Any], schema: Schema) -> Question:
    """A question from what a form holds. Raises QuestionError."""
    try:
        [asked] = Questions.of([dict(document)]).questions
    except InputError as error:
        raise QuestionError(str(error)) from error
    check(asked, schema)
    return asked
