"""Answers the questions of one release from its files alone: table, manifest, released marginals, questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import QuestionError, ReceiptError, SettingError, SizeError, TableError
from dpsyn_core.estimate import Measurement, ReleasedTables, Scores, load_released
from dpsyn_core.privacy import Budget, Manifest, is_table
from dpsyn_core.progress import Progress, silent
from dpsyn_core.questions import (
    INFERENCE,
    Answered,
    Evidence,
    Fits,
    Inference,
    Inferrer,
    Questions,
    Refit,
    Truth,
    answer_question,
    declared,
)
from dpsyn_core.runs import receipt
from dpsyn_core.schema import Codec, Schema
from dpsyn_core.systems import Task, configure

Asked = Questions | Iterable[object] | dict[str, Any] | str | Path | None
FIT_CELL = 16  # bytes of a fit for each cell of its table: records, a copy of them, and codes
REFITTED = ("rls", "dpsyn", "independent")  # systems that make records from nothing but a list of released tables


@dataclass(frozen=True, kw_only=True, slots=True)
class Answers:
    """All questions of a document with their answers, in order, and the manifest that they rest on."""

    answers: tuple[Answered, ...]
    manifest: Manifest

    def __getitem__(self, name: str) -> Answered:
        """The answer of the question of this name. Raises QuestionError for an unknown one."""
        for one in self.answers:
            if one.question.name == name:
                return one
        msg = f"no question is called '{name[:80]}'; known are {', '.join(a.question.name for a in self.answers)}"
        raise QuestionError(msg)

    def plain(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "version": 1,
            "private": self.manifest.private,
            "not_private_because": list(self.manifest.not_private_because),
            "run_id": self.manifest.run_id,
            "epsilon": self.manifest.epsilon,
            "delta": self.manifest.delta,
            "answers": [a.plain() for a in self.answers],
        }


def answer(
    synthetic: str | Path,
    *,
    manifest: str | Path,
    measurements: str | Path,
    questions: Asked = None,
    schema: Schema | Mapping[str, Any] | str | Path | None = None,
    truth: Truth = "table",
    confidence: float = 0.95,
    others: bool = False,
    memory: int | str | None = None,
    progress: Progress = silent,
) -> Answers:
    """Answers questions from a release's files: every figure with its interval, its grade and one plain sentence.

    Guarantee: post-processing of what was released; nothing here reads private data, and it costs nothing.

    Args:
        synthetic: the table, in any format that we write, a folder of parts included.
        manifest: that was written with it.
        measurements: the released marginals (`dpsyn synth --measurements`).
        questions: a file, a parsed document or a list of questions; None takes those declared for the run, else those
            of the schema.
        schema: of the run; needed only where the file of marginals was written without one.
        truth: what an interval is about: the real table (noise alone), or the population that it was drawn from.
        confidence: of each interval, between 0 and 1.
        others: also answer questions that were not declared for the run.
        memory: bytes that the fits may take, or text such as '4GB'; None: half of the machine's.
        progress: receives the fits.

    Raises:
        SizeError: the table has more records than fits of as many have memory for.
        ReceiptError: table, marginals, schema or questions are not those of the manifest.
        QuestionError: a question does not fit the schema.
    """
    table, stated, released = Path(synthetic), Path(manifest), Path(measurements)
    checked(truth, confidence)
    known: Schema | None = None if schema is None else Schema.given(schema)
    file = load_released(released, known)
    proof = receipt(table, stated, measurements=released, schema=file.schema)
    if not proof.holds or proof.manifest is None:
        raise ReceiptError(proof.sentence)
    asked_for = asked_questions(questions, file.schema, proof.manifest, others=others)
    codes, part = of_measured(_codes(table, file.schema, memory), file.measurements, file.schema, asked_for)
    codes = plain_codes(codes, file.measurements, part, proof.manifest)
    given = answer_codes(
        codes,
        file.measurements,
        part,
        proof.manifest,
        asked_for,
        scores=file.measurements.scores,
        truth=truth,
        confidence=confidence,
        progress=progress,
    )
    return Answers(answers=tuple(given), manifest=proof.manifest)


def _codes(table: Path, schema: Schema, memory: int | str | None) -> NDArray[np.unsignedinteger]:
    """The codes of a synthetic table, which is read in batches. Raises SizeError, see `answer`."""
    from dpsyn_core.measure import half_of_machine, memory_of, shown
    from dpsyn_core.tables import ReadForm, open_table

    codec, batches = Codec(schema), open_table(table, ReadForm(multiline=True))
    allowed, records, parts = memory_of(memory) or half_of_machine(), 0, []
    for batch in batches.read():
        parts.append(codec.encode(batch, individuals=False).codes)
        records += parts[-1].shape[1]
        need = FIT_CELL * len(codec.domain) * max(records, batches.records or 0)
        if need > allowed:
            msg = (
                f"fits of as many records as the table has take {shown(need)} of memory or more, and {shown(allowed)} "
                "may be used; give --memory more, or answer from a table of fewer records (dpsyn synth --n-records)"
            )
            raise SizeError(msg)
    return np.concatenate(parts, axis=1) if parts else np.zeros((len(codec.domain), 0), dtype=codec.dtype)


def asked_questions(questions: Asked, schema: Schema, manifest: Manifest, *, others: bool = False) -> Questions:
    """The questions to answer, which fit the schema.

    Args:
        questions: as they were given; None takes those declared for the run, else those of the schema.
        schema: of the run.
        manifest: of the run, which names the digest of its declared questions.
        others: also accept questions that were not declared for the run.

    Raises:
        QuestionError: there is none, or one does not fit.
        ReceiptError: they are not those declared for the run, and `others` does not allow that.
    """
    asked = manifest.questions
    given = asked.document if questions is None and asked is not None else questions
    listed = declared(given, schema)
    if not len(listed):
        msg = "there is no question; name a file of questions with --questions, or declare them in the schema"
        raise QuestionError(msg)
    if asked is not None and asked.sha256 != listed.digest and not others:
        msg = (
            "the questions are not the ones that were declared for this run (their digest is not the manifest's); give "
            "that file, or none, or ask for others on purpose (--others)"
        )
        raise ReceiptError(msg)
    return listed


def answer_codes(
    codes: NDArray[np.unsignedinteger],
    measured: Sequence[Measurement],
    schema: Schema,
    manifest: Manifest,
    questions: Questions,
    *,
    scores: Scores | None = None,
    truth: Truth = "table",
    confidence: float = 0.95,
    progress: Progress = silent,
    tuning: Inference = INFERENCE,
) -> list[Answered]:
    """As `answer`, for a release that is in memory: its codes, released marginals and manifest.

    The same release gives the same answers: the refits draw from a fixed public seed.
    """
    checked(truth, confidence)
    check_whole(manifest)
    codes, schema = of_measured(codes, measured, schema, questions)
    inferrer = inferrer_of(codes, measured, schema, manifest, scores=scores, progress=progress, tuning=tuning)
    return [answer_question(q, schema, inferrer, truth=truth, confidence=confidence) for q in questions.questions]


def of_measured(
    codes: NDArray[np.unsignedinteger], measured: Sequence[Measurement], schema: Schema, questions: Questions
) -> tuple[NDArray[np.unsignedinteger], Schema]:
    """Codes and schema without the columns that are computed from others, of which nothing was measured.

    Raises QuestionError for a question that names one of them.
    """
    if not schema.rules or not measured:
        return codes, schema
    from dpsyn_core.schema import computed_columns, part_of, with_span_codes, with_spans

    names = {n for m in measured for n in m.attributes}
    whole = with_spans(schema)
    rows = dict(zip(whole.domain().names, with_span_codes(codes, schema), strict=True))
    left = {c.column: c for c in computed_columns(schema, names)}
    for question in questions.questions:
        for one in (left[n] for n in question.attributes if n in left):
            msg = (
                f"question '{question.name}' names '{one.column}', which was not measured but computed from "
                f"{' and '.join(one.named)}; declare the question before the run, or read it off the table"
            )
            raise QuestionError(msg)
    if not left:
        return codes, schema
    gone = {a.name for a in whole.coded if len(a.reads) > 1 and a.name not in names}
    part = part_of(schema, [n for n in rows if n not in left and n not in gone])
    return np.stack([rows[n] for n in part.domain().names]), part


def inferrer_of(
    codes: NDArray[np.unsignedinteger],
    measured: Sequence[Measurement],
    schema: Schema,
    manifest: Manifest,
    *,
    scores: Scores | None = None,
    progress: Progress = silent,
    tuning: Inference = INFERENCE,
) -> Inferrer:
    """What all answers of one release share; fits are computed when the first answer needs them.

    Raises TableError where marginals were paid for and none is there.
    """
    check_kept(measured, manifest)
    laws = {m.law for m in measured} - {None}
    pure = "geometric" in laws if laws else manifest.delta == 0
    evidence = Evidence(
        schema.domain(),
        measured,
        n_public=schema.n_records,
        scores=None if scores is None else scores.bounds(),
        pure=pure,
        made=codes.shape[1],
    )
    refit = refit_of(manifest, schema, codes.shape[1], effort=tuning.effort)
    fits = Fits(codes, measured, refit, pure=pure, progress=progress, tuning=tuning)
    return Inferrer(evidence, fits, rng=np.random.default_rng(0), tuning=tuning)


def check_whole(manifest: Manifest) -> None:
    """Raises ReceiptError for the table of some records: the released tables answer for all of them."""
    if manifest.refit is not None and manifest.refit.where is not None:
        msg = (
            f"the table holds records where {manifest.refit.where}, and the released tables count all; ask with that "
            "condition in the question, of a table of all records"
        )
        raise ReceiptError(msg)


def check_kept(measured: Sequence[Measurement], manifest: Manifest) -> None:
    """Refuses to take a marginal that was paid for and is not there for one that holds nothing. Raises TableError."""
    paid = sum(is_table(c.kind) and c.kind != "group" for c in manifest.charges)  # wide groups keep their high bins
    if paid and not measured and not (isinstance(measured, ReleasedTables) and measured.joint):
        msg = (
            f"the file of released marginals is empty, and this run of '{manifest.method}' paid for {paid}: a version "
            "that did not keep them wrote it; answer from the table of another release, or make one with this version"
        )
        raise TableError(msg)


def plain_codes(
    codes: NDArray[np.unsignedinteger], measured: Sequence[Measurement], schema: Schema, manifest: Manifest
) -> NDArray[np.unsignedinteger]:
    """The table that answers are centred at: the one that was given, or of several a fit to the released counts.

    Each of several tables was fitted to counts with more noise on top, and is further from the real one.
    """
    if manifest.digests is None or len(manifest.digests.tables) < 2:
        return codes
    refit = refit_of(manifest, schema, codes.shape[1], effort=1.0)
    return codes if refit is None else refit(measured, np.random.default_rng(0))


def refit_of(manifest: Manifest, schema: Schema, n_records: int, *, effort: float) -> Refit | None:
    """The record synthesis of the run's system, at some effort; None where it needs more than released tables.

    effort: of the run's. Below 1, records are not evened out either: that takes more than half the time, and intervals
    from such refits are as wide and cover as often (docs/decisions/questions-and-answers.md).
    """
    if manifest.method not in REFITTED:
        return None
    settings = dict(manifest.settings)
    if "effort" in settings:
        settings["effort"] = max(0.1, effort * float(settings["effort"]))
    if "even" in settings and effort < 1:
        settings["even"] = False
    task = Task.of(schema, Budget(epsilon=manifest.epsilon, delta=manifest.delta))
    system = configure(manifest.method, settings).calibrate(task)

    def refit(tables: Sequence[Measurement], rng: Generator) -> NDArray[np.unsignedinteger]:
        return system.synthesize(list(tables), n_records, rng=rng)

    return refit


def checked(truth: str, confidence: float) -> None:
    """Raises SettingError for an unknown truth or a confidence outside (0, 1)."""
    if truth not in get_args(Truth):
        msg = f"the truth is '{truth}'; it must be one of {', '.join(get_args(Truth))}"
        raise SettingError(msg)
    if not 0 < confidence < 1:
        msg = f"the confidence is {confidence}; it must lie between 0 and 1, such as 0.95"
        raise SettingError(msg)
