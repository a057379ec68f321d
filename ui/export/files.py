"""Files of a run to download: tables, manifest, certificate, schema, and a bundle that reruns from the command line."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from dpsyn_core.outside import below, file_word
from dpsyn_core.report import schema_file, shell_command, takeaways
from dpsyn_core.runs import MANIFEST, SUFFIX, SYNTHETIC
from dpsyn_core.schema import METHOD
from dpsyn_core.tables import EXCEL_ROWS
from ui.linked import files as trees
from ui.report import asked, comparing
from ui.schema import tried
from ui.shared import results
from ui.shared.downloads import download
from ui.shared.going import go_to
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import certificate_words, counted, figure_words, language, plain, t
from ui.shared.theme import note
from ui.synthesize import refits, runs

if TYPE_CHECKING:
    from dpsyn_core.tables import NotCarried

QUESTIONS = "questions.json"  # what the command asks of linked tables; in the bundle
SEEN_CELLS = 50_000  # of a workbook that is made before the eyes: above it, some half a second
TAKEN = "export_taken"  # in the visitor's session: the button of a file that has just been made
TAKE = """setTimeout(() => document.querySelector('.st-key-%s button')?.click(), 400)"""
EXCEL_CELLS = 500_000  # of a workbook that is made for the manifest alone: some five seconds
LABELLED = ("sav", "dta", "xpt")  # offered where the library for them is installed


def stem(space: Workspace, job: Job) -> str:
    """File name without its ending; a run that is not private says so in its name."""
    base = file_word(str(job.public.get("dataset", "table")), "tables" if job.spec.linked else "table").lower()
    base = re.sub(r"-(csv|tsv|txt|parquet|xlsx|z?sav|dta|sas7bdat|xpt)(-gz)?$", "", base)
    return f"{base}-synthetic{suffix(space, job)}"


def suffix(space: Workspace, job: Job) -> str:
    """What file names end with where a run has no guarantee, or its files are not those of its manifest."""
    if not results.manifest(space, job)["private"]:
        return "-NOT-PRIVATE"
    return "" if results.holds(space, job) else "-NOT-PROVED"


def table_bytes(space: Workspace, job: Job, ending: str, told: Callable[[int, int], object] | None = None) -> bytes:
    """The synthetic table in one of the formats; cells that a spreadsheet would execute are escaped.

    told: hears how many records of all are in an Excel file.
    """
    from dpsyn_core.schema import declared_columns
    from dpsyn_core.tables import write_table

    if job.spec.linked:
        made_of = {**trees.written(space, job, ending, stem(space, job))}
        if ending == "zip":
            return trees.packed(made_of | {"manifest.json": manifest_text(space, job)})
        return next(iter(made_of.values()))
    if ending == "parquet":
        return (job.folder / SYNTHETIC).read_bytes()  # as the run wrote it

    def make() -> bytes:
        with tempfile.TemporaryDirectory(dir=job.folder) as folder:
            path = Path(folder) / f"table.{ending}"
            write_table(results.synthetic(space, job), path, declared_columns(results.schema(space, job)), told=told)
            return path.read_bytes()

    return results.kept(space, ("file", job.id, ending), make)


def made(space: Workspace, job: Job, ending: str) -> bool:
    """Whether the file of this format was made before, and is still kept."""
    return results.is_kept(space, ("file", job.id, ending))


def endings(space: Workspace, job: Job) -> tuple[str, ...]:
    """The formats that a table is offered in, the usual one first: of very large ones, the file as it lies there."""
    if job.spec.linked:
        return trees.endings(space, job)
    if results.synthetic_of(space, job) is not None:
        return ("parquet",)
    return ("csv", "parquet", "xlsx") if results.synthetic(space, job).num_rows <= EXCEL_ROWS else ("csv", "parquet")


def labelled(space: Workspace, job: Job) -> tuple[str, ...]:
    """The formats with labels that a table is offered in too."""
    if job.spec.linked:
        return ()
    there = find_spec("pyreadstat") is not None and results.synthetic_of(space, job) is None
    return LABELLED if there else ()


def left_out(space: Workspace, job: Job) -> str:
    """What the formats with labels do not carry of this table, in words; nothing where all goes into each of them."""
    from dpsyn_core.schema import not_carried

    def make() -> str:
        schema = results.schema(space, job)
        found = ((e, not_carried(schema, f".{e}")) for e in LABELLED)
        return "; ".join(f"{t(f'export.{e}')}: {', '.join(_lost(said))}" for e, said in found if said)

    return results.kept(space, ("left out", job.id), make)


def _lost(said: Sequence[NotCarried]) -> list[str]:
    """What a format does not carry, in the language of the page; of many columns the first stands for all."""
    out = []
    for what in dict.fromkeys(one.what for one in said):
        first, *others = [one for one in said if one.what == what]
        words = t(f"export.lost_{what}", column=first.column, written=first.written, most=first.most)
        out.append(counted("export.lost_more", len(others), words=words) if others else words)
    return out


def table_button(space: Workspace, job: Job, ending: str, *, key: str, primary: bool = False) -> None:
    """Download of the synthetic table; the file is made when it is asked for, a large Excel file before the eyes."""
    if ending == "xlsx" and not job.spec.linked and _slow(space, job) and not made(space, job, ending):
        _made_first(space, job, ending, key=key)
        return
    name, content = f"{stem(space, job)}.{ending}", partial(table_bytes, space, job, ending)
    download(t(f"export.{ending}"), name, content, key=key, kind="primary" if primary else "secondary")


def tables(space: Workspace, job: Job) -> None:
    """The synthetic tables in the usual formats, the first one as the main press of the page."""
    offered = endings(space, job)
    with st.container(horizontal=True, gap="small"):
        for ending in offered:
            table_button(space, job, ending, key=f"export_{ending}", primary=ending == offered[0])
    if job.spec.linked:
        note(t("linked.export_one" if results.tree(space, job).one_file else "linked.export_note"))
        note(t("linked.export_keys"))
    elif len(offered) == 1:
        note(t("export.large"))
    elif "xlsx" in offered and excel_first(space, job):
        note(t("export.excel_first"))


def labelled_tables(space: Workspace, job: Job) -> None:
    """The formats with labels, and what they do with them."""
    with st.container(horizontal=True, gap="small"):
        for ending in labelled(space, job):
            table_button(space, job, ending, key=f"export_{ending}")
    gone = left_out(space, job)
    note(t("export.labelled", what=gone) if gone else t("export.labelled_whole"))


def read_schema(space: Workspace, job: Job) -> bool:
    """Whether the schema of linked tables was read from them, which the name of its file says too."""
    return bool(job.spec.linked) and bool(results.tree(space, job).reasons)


def _slow(space: Workspace, job: Job) -> bool:
    """Whether an Excel file takes so long that somebody should see how far it is."""
    table = results.synthetic(space, job)
    return bool(table.num_rows * table.num_columns > SEEN_CELLS)


def _made_first(space: Workspace, job: Job, ending: str, *, key: str) -> None:
    """The button that makes a file with a bar; the browser then takes it by itself."""
    place = st.empty()
    if not place.button(t(f"export.{ending}"), key=f"{key}_first"):
        return
    bar = place.progress(0.0, t("export.making"))
    table_bytes(space, job, ending, told=lambda done, of: bar.progress(done / max(1, of), t("export.making")))
    st.session_state[TAKEN] = key
    st.rerun()


def take() -> None:
    """Presses the button of a file that has just been made, once."""
    key = st.session_state.pop(TAKEN, None)
    if key is not None:
        st.html(f"<script>{TAKE % key}</script>", unsafe_allow_javascript=True)


def manifest_text(space: Workspace, job: Job) -> str:
    """The manifest of a run with the digests of the files that are offered here, so that each is known as its own.

    They have the same bytes whenever they are made. A large Excel file takes minutes, and is named where it was made.
    A signed manifest, and one that is not the table's, stay as they are.
    """
    known = results.stated(job)
    if not results.holds(space, job) or known.signature is not None or known.digests is None:
        return (job.folder / MANIFEST).read_text("utf-8")
    first, *others = endings(space, job)
    each = [_digest(content) for content in written(space, job, first).values()]
    slow = {*labelled(space, job), "xlsx"} if not job.spec.linked and excel_first(space, job) else set()
    named = [e for e in (*others, *labelled(space, job)) if e not in slow or made(space, job, e)]
    digests = {"csv" if first == "zip" else first: each[0]}
    digests |= {e: _digest(content) for e in named for content in written(space, job, e).values()}
    return known.written_too(digests, each).to_json()


def written(space: Workspace, job: Job, ending: str) -> dict[str, bytes]:
    """The files of a format by name: one, or a CSV file for each of linked tables."""
    if job.spec.linked:
        return trees.written(space, job, ending, stem(space, job))
    return {f"{stem(space, job)}.{ending}": table_bytes(space, job, ending)}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def excel_first(space: Workspace, job: Job) -> bool:
    """Whether the Excel file is so large that the manifest names it only after it was downloaded."""
    table = results.synthetic(space, job)
    return bool(table.num_rows * table.num_columns > EXCEL_CELLS)


def manifest_button(space: Workspace, job: Job, *, key: str) -> None:
    """Download of the manifest."""
    name = f"{stem(space, job)}.manifest.json"
    download(t("export.manifest"), name, partial(manifest_text, space, job), key=key)


def reusable(job: Job) -> bool:
    """Whether more tables can be made of what the run released."""
    from dpsyn_core.errors import InputError
    from dpsyn_core.runs import MEASUREMENTS, check_reusable

    if job.spec.release is not None:
        return below(job.folder, job.spec.release).exists()  # a project of an earlier version brings none
    if job.spec.linked:
        return (job.folder / MEASUREMENTS).exists()  # a run of an earlier version left none
    try:
        check_reusable(job.spec.config)
    except InputError:
        return False
    return True


def release(space: Workspace, job: Job) -> bytes:
    """The file from which more tables are made for nothing; of a refit, the release that it was made of.

    Its manifest is the one that is offered here, so that the table of any download is known as that of the release.
    """
    from dpsyn_core.privacy import Manifest
    from dpsyn_core.runs import MEASUREMENTS, pack_release

    if job.spec.release is not None:
        return below(job.folder, job.spec.release).read_bytes()
    columns = [name for table in results.tables(space, job).values() for name in table.column_names]
    manifest = Manifest.parse(manifest_text(space, job).encode(), "manifest")[0]
    return pack_release(manifest, (job.folder / MEASUREMENTS).read_bytes(), columns)


def refit_form(space: Workspace, job: Job) -> None:
    """More tables of this release: the form of Synthesize, where the run is then seen."""
    if not st.toggle(t("refit.title"), key="export_refits", help=t("refit.lead_here")):
        return
    content = results.kept(space, ("release", job.id), lambda: release(space, job))
    made = refits.asked(space, content, f"{stem(space, job)}{SUFFIX}", key="export_refit")
    if made is not None:
        st.session_state[runs.STARTED] = made.id
        go_to("synthesize")


def certificate(job: Job) -> str:
    """The manifest as a page that a person can read, in the visitor's language."""
    from dpsyn_core.privacy import certificate as text
    from dpsyn_core.report import sentence

    words = figure_words()
    return text(results.stated(job), certificate_words(), lambda rule: sentence(rule, words))


def promised(job: Job) -> str:
    """The guarantee in one sentence, in the visitor's language."""
    from dpsyn_core.privacy import promise

    return promise(results.stated(job), certificate_words())


def nist(job: Job) -> str:
    """What the release answers to each item of NIST SP 800-226."""
    from dpsyn_core.report import nist_page

    return nist_page(results.stated(job))


def schema_text(space: Workspace, job: Job) -> str:
    """The schema that the run was made with."""
    return results.paid_schema(space, job).dumps()


def schema_name(space: Workspace, job: Job) -> str:
    """The name of the file of the schema."""
    if job.spec.linked:
        return schema_file(results.tree(space, job))
    return f"schema{suffix(space, job)}.json"


def asked_and_answered(space: Workspace, job: Job) -> dict[str, str]:
    """Questions and answers of a run of linked tables, by file name; none without any."""
    if not (job.spec.linked and job.spec.questions):
        return {}
    found = {QUESTIONS: job.spec.questions, f"answers{suffix(space, job)}.json": trees.answers(space, job)}
    return {name: json.dumps(said, indent=2, ensure_ascii=False) + "\n" for name, said in found.items()}


def command(space: Workspace, job: Job) -> list[str]:
    """The words of the command that repeats the run on the owner's tables: the same post-processing, new noise."""
    from dpsyn_core.systems import config_class, written

    spec, name, schema = job.spec, stem(space, job), results.schema(space, job)
    rows = ["--n-records", str(spec.n_records)] if spec.n_records is not None else []
    rows += ["--seed", str(spec.seed)]
    given, root = ["YOUR_TABLE"], ""
    out = ["--out", f"{name}.csv", "--manifest", f"{name}.manifest.json"]
    if spec.linked:
        tree = results.tree(space, job)
        root = f"{tree.root.name}="
        named = [w for table in tree.tables for w in ("--table", f"{table.name}=YOUR_{table.name}.csv")]
        given, out = (["YOUR_TABLE.csv"], out[:2]) if tree.one_file else (named, ["--out", f"{name}/"])
    if spec.release is not None:
        how = ["--method", spec.maker] if spec.maker else []
        how += ["--where", spec.where] if spec.where else []
        how += ["--columns", json.dumps(spec.columns)] if spec.columns is not None else []
        how += ["--rules", "RULES.json"] if spec.rules else []
        return ["dpsyn", "refit", "RELEASE.dpsyn", *how, *rows, *out]
    words = ["dpsyn", "synth", *given, "--schema", schema_name(space, job), "--epsilon", plain(spec.epsilon)]
    words += ["--delta", plain(spec.delta)]
    if spec.method != METHOD:  # as an earlier version called systems of linked tables
        words += ["--method", spec.method]
        chosen = written(spec.settings, config_class(spec.method))
        words += [w for k, v in chosen.items() for w in ("--set", f"{k}={json.dumps(v)}")]
    words += ["--public-table", f"{root}PUBLIC_{root.removesuffix('=') or 'TABLE'}.csv"] if spec.public_table else []
    words += ["--questions", QUESTIONS] if spec.linked and spec.questions else []
    if spec.questions and spec.questions_share is not None:
        words += ["--questions-share", plain(spec.questions_share)]
    return [*words, *rows, *_memory(space, job), f"--dataset={spec.dataset or schema.ledger_name}", *out]


def _memory(space: Workspace, job: Job) -> list[str]:
    """The memory of a run of one table where it makes another table: it decides how a very large one is made."""
    from dpsyn_core.runs import fits, planned

    if job.spec.linked:
        return []
    memory = planned(job.spec.memory_mb)
    size = (int(results.manifest(space, job)["n_records"]), len(results.schema(space, job).coded))
    return [] if fits(*size, memory) == fits(*size, None) else ["--memory", str(memory)]


def scripts(space: Workspace, job: Job) -> dict[str, str]:
    """What repeats the run, by file name; a release is refitted by the command alone."""
    spec, name = job.spec, stem(space, job)
    schema = schema_name(space, job)
    out = {"run.sh": takeaways.shell_script(command(space, job), job.label, schema=schema)}
    vouched = {"query_vouched": spec.query_vouched}
    if spec.release is not None:
        return out
    if spec.linked:
        return out | {"run.py": takeaways.linked_script(spec, results.tree(space, job), job.label, name, **vouched)}
    makers = takeaways.python_script, takeaways.notebook
    python, notebook = (make(spec, job.label, name, schema=schema, **vouched) for make in makers)
    return out | {"run.py": python, "run.ipynb": notebook}


def html(space: Workspace, job: Job, *, private: bool) -> str:
    """The report as one HTML file: from released values alone, or with the real table for its owner."""
    from dpsyn_core.evaluate import compute, names
    from dpsyn_core.report import ScoredTable, html_report

    def make() -> str:
        if job.spec.linked:
            return trees.html(space, job, private=private)
        comparison = comparing.of_files(space, job, space.dataset if private else None)
        wanted = [n for n in names(private=private, quick=True) if comparison.measurements or n != "measured-fit"]
        table = ScoredTable(
            name=job.label,
            comparison=comparison,
            scores=compute(comparison, wanted),
            manifest=results.stated(job),
            receipt=next(iter(results.receipts(space, job).values())),
            asked=asked.answers(space, job, private=private) if results.synthetic_of(space, job) is None else (),
        )
        return html_report(results.schema(space, job).name, [table], language=language())

    return results.kept(space, ("html", job.id, private, language()), make)


def reports(space: Workspace, job: Job) -> None:
    """Download of the publishable report, and, when the owner ticks the box, of the one with the real table."""
    page, name = partial(html, space, job), f"{stem(space, job)}-report"
    download(t("export.report_public"), f"{name}.html", partial(page, private=False), key="export_html")
    if space.choices.safe or not results.same_table(space, job):
        return
    # below each other: beside a button, the words of a box do not wrap on a phone
    if st.checkbox(t("export.report_tick"), key="export_private"):
        tried.see(tried.names(*space.parts.values()))  # the report says which rules the real records keep
        content = partial(page, private=True)
        download(t("export.report_private"), f"{name}-PRIVATE.html", content, key="export_html_private")


def bundle(space: Workspace, job: Job) -> bytes:
    """A zip of everything that may be shared: table, manifest, certificate, schema, marginals, report, command."""
    from dpsyn_core.runs import MEASUREMENTS

    name = stem(space, job)
    linked = bool(job.spec.linked)
    measured = f"measurements{suffix(space, job)}.json.gz"
    files: dict[str, bytes | str] = {
        "certificate.txt": certificate(job),
        "nist-800-226.md": nist(job),
        f"report{suffix(space, job)}.html": html(space, job, private=False),
        "manifest.json" if linked else f"{name}.manifest.json": manifest_text(space, job),
        schema_name(space, job): schema_text(space, job),
        "README.txt": t(
            "linked.readme" if linked else "export.readme",
            command=shell_command(command(space, job)),
            measurements=measured,
        ),
    }
    for ending in (endings(space, job)[0], *(("sqlite",) if linked else ())):
        files |= written(space, job, ending)
    if linked:
        files |= scripts(space, job) | asked_and_answered(space, job)
    else:
        files[measured] = (job.folder / MEASUREMENTS).read_bytes()
    return trees.packed(files)
