"""Every field of every document from outside is set to hostile words, and nothing is read, run or written by them.

What a process opens and starts is told by Python's own audit events. Libraries that open files beneath Python are not
seen by these; a file of known words lies where each path leads, and must be in nothing that is written.
"""

import ast
import copy
import json
import os
import shlex
import sys
import tempfile
import time
import typing
from pathlib import Path

import pytest
from pydantic import BaseModel

from dpsyn_core.errors import DPSynError
from dpsyn_core.files import MOST_TEXT
from dpsyn_core.report.takeaways import shell_command
from dpsyn_core.schema.rules.base import Rule
from dpsyn_core.schema.rules.registry import KINDS, kind_class
from tests.outside_documents import DOCUMENTS, UPLOADS, read_table
from ui.data import loading

ROOT = Path(__file__).resolve().parent.parent
BIG = "x" * 10_000_000
SECONDS = 4.0  # of processor time, in which a text of ten million characters is refused
WORDS = "words of a file that nobody named"
HTML = '"><script>alert(1)</script>'
LONG = "x" * (MOST_TEXT + 1)  # in every field; ten million characters take a while to parse, and stand in every TENTH
HOSTILE = ("/etc/passwd", "../../x", "$(touch pwned)", "; touch pwned", "a\0b", HTML, LONG, BIG)
TENTH = 10
LEAST = 1000  # fields of all documents together: fewer, and the walk has lost some
READS = (sys.prefix, sys.base_prefix, "/usr", "/lib", "/proc", "/sys", "/dev", str(ROOT))  # of Python itself, and ours
SECRETS = "/.streamlit/secrets.toml"  # Streamlit's, which says whether visitors log in; the app asks who this one is
RUNS = ("os.exec", "os.system", "os.posix_spawn", "os.fork", "subprocess.Popen", "socket.connect", "os.startfile")
WRITES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.truncate")
PLACES = ("os.listdir", "os.scandir", "glob.glob", "sqlite3.connect", "shutil.copyfile", *WRITES)


OPENED = Path("/proc/self/fd")


class Watch:
    """What this process opens, starts and changes between `begin` and `end`; a hook cannot be taken away again."""

    def __init__(self):
        self.on, self.seen = False, []
        sys.addaudithook(self.hear)

    def hear(self, event, given):
        if not self.on or not given:
            return
        if event in RUNS:
            self.seen.append((event, str(given)[:200], True))
        elif (event == "open" or event in PLACES) and not isinstance(given[0], int):
            held = given[1] if event in ("os.remove", "os.rmdir") else -1  # a handle of the folder of a relative name
            base = OPENED / str(held) if isinstance(held, int) and held >= 0 else Path()
            mode, flags = (given[1] or "", given[2] or 0) if event == "open" else ("", 0)
            changes = event in WRITES or bool(set(mode) & set("wax+")) or bool(flags & (os.O_WRONLY | os.O_RDWR))
            for name in given[:2] if event in ("os.rename", "os.link", "shutil.copyfile") else given[:1]:
                self.seen.append((event, os.path.realpath(base / os.fsdecode(name)), changes))

    def faults(self, within):
        """Events outside the folders that an opening may use; handles of open files are not looked at again."""
        return [
            (event, place)
            for event, place, changes in self.seen
            if event in RUNS
            or not (
                place.startswith((*within, "/proc/"))
                or (not changes and (place.startswith(READS) or place.endswith(SECRETS)))
            )
        ]


WATCH = Watch()


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A home, a folder for temporary files and one to work in, with a file where `../../x` leads."""
    import streamlit as st

    here = tmp_path / "a" / "b" / "c"
    here.mkdir(parents=True)
    (tmp_path / "a" / "x").write_text(WORDS, "utf-8")
    for name in ("home", "temporary"):
        (tmp_path / name).mkdir()
    (tmp_path / "home" / "x").write_text(WORDS, "utf-8")
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DPSYN_WARM_UP", "0")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(here)
    monkeypatch.setattr(loading, "uploaded_table", read_table)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # what an opening imports is no file that it changes
    st.cache_resource.clear()
    return tmp_path


def places_of(document, path=()):
    """Every place of a document: objects, lists and values, whatever holds them."""
    if path:
        yield path
    inner = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in inner:
        yield from places_of(value, (*path, key))


def fields_of(made, path=()):
    """The place of every field of every model in an instance: also of those that its document leaves out."""
    if isinstance(made, BaseModel):
        for name, field in type(made).model_fields.items():
            here = (*path, field.alias or name)
            yield here
            yield from fields_of(getattr(made, name), here)
    elif isinstance(made, dict):
        for key, value in made.items():
            yield from fields_of(value, (*path, key))
    elif isinstance(made, list | tuple):
        for i, value in enumerate(made):
            yield from fields_of(value, (*path, i))


def every_field(one):
    """All places of a document of this kind, each once."""
    document = one.example()
    listed = dict.fromkeys(places_of(document))
    if one.model is not None:
        listed |= dict.fromkeys(
            p for p in fields_of(one.model.model_validate(copy.deepcopy(document))) if fits(document, p)
        )
    return list(listed)


def fits(document, path):
    """Whether the document has the object or list in which this place is."""
    try:
        for key in path[:-1]:
            document = document[key]
    except (LookupError, TypeError):
        return False
    return isinstance(document, dict) or (isinstance(document, list) and path[-1] < len(document))


def opened_up(document, path):
    """A copy of the document and, in it, what holds the place; what lies beside the way there is not copied."""
    made = here = copy.copy(document)
    for key in path[:-1]:
        here[key] = here = copy.copy(here[key])
    return made, here


def changed(document, path, value):
    made, here = opened_up(document, path)
    here[path[-1]] = value
    return made


def renamed(document, path, name):
    """The document with another name of this field or entry; None where it is no name."""
    made, here = opened_up(document, path)
    if not isinstance(here, dict) or path[-1] not in here:
        return None
    here[name] = here.pop(path[-1])
    return made


def models_of(annotation, seen):
    """The models that may stand where this annotation does."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation not in seen:
            seen.add(annotation)
            for field in annotation.model_fields.values():
                models_of(field.annotation, seen)
        return
    for part in typing.get_args(annotation):
        models_of(part, seen)


def models_in(made, seen):
    if isinstance(made, BaseModel):
        seen.add(type(made))
        for name in type(made).model_fields:
            models_in(getattr(made, name), seen)
    elif isinstance(made, dict | list | tuple):
        for value in made.values() if isinstance(made, dict) else made:
            models_in(value, seen)


def check_written(said):
    """What was written of a document: no file that it named, no mark-up, and code that calls nothing but ours."""
    for text in said:
        if isinstance(text, dict):
            check_scripts(text)
        whole = "".join(text.values()) if isinstance(text, dict) else text
        assert WORDS not in whole and "root:x:0:0" not in whole and len(whole) < 2_000_000


def check_scripts(made):
    if "page.html" in made:
        assert "<script" not in made["page.html"]
    if "run.sh" in made:
        check_shell(made["run.sh"])
    code = [made[n] for n in made if n.endswith(".py")]
    if "run.ipynb" in made:
        cells = json.loads(made["run.ipynb"])["cells"]
        code += ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    for text in code:
        calls = [n.func for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call)]
        names = {f.id if isinstance(f, ast.Name) else f.attr for f in calls}
        assert names <= {"synthesize", "print", "write", "certificate", "read_table"}, names
    name = made.get("name", "plain")
    assert Path(name).name == name and name.isprintable()


def check_shell(script):
    """A line for the shell, a comment, and one command that is nothing but words, each quoted as they have to be."""
    first, lead, command = script.rstrip("\n").split("\n", 2)
    assert first == "#!/bin/sh" and lead.startswith(("# Repeats the run", "# Makes "))
    assert shell_command(shlex.split(command.replace(" \\\n", " ")), folded=True) == command


@pytest.mark.slow
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_no_field_of_a_document_from_outside_is_a_place_or_a_command(kind, place):
    one = DOCUMENTS[kind]
    document = one.example()
    check_written(one.opens(copy.deepcopy(document)))  # as it is, it opens; this loads what opening loads
    within = (str(place / "home"), str(place / "temporary"))
    wrong = []
    for number, path in enumerate(every_field(one)):
        for value in HOSTILE if number % TENTH == 0 else HOSTILE[:-1]:
            first = changed(document, path, value)
            for made in (first, renamed(document, path, value)):
                if made is None or (made is not first and value is BIG and len(path) > 1):
                    continue
                WATCH.seen, WATCH.on, started = [], True, time.process_time()
                try:
                    check_written(one.opens(made))
                except DPSynError as error:
                    WATCH.on = False
                    if WORDS in str(error) or len(str(error)) > 2000:
                        wrong.append((path, value[:20], "the error", str(error)[:200]))
                except Exception as error:  # noqa: BLE001 what is no sentence is listed with its field
                    WATCH.on = False
                    wrong.append((path, value[:20], type(error).__name__, str(error)[:200]))
                finally:
                    WATCH.on = False
                if value is BIG and time.process_time() - started > SECONDS:
                    wrong.append((path, "ten million characters", time.process_time() - started))
                wrong += [(path, value[:20], *fault) for fault in WATCH.faults(within)]
    assert not wrong, f"{len(wrong)} of {len(every_field(one))} fields: {wrong[:20]}"
    assert not list(place.rglob("pwned"))


def test_the_walk_meets_every_model_and_field_that_may_stand_in_a_document():
    counted = {kind: len(every_field(one)) for kind, one in DOCUMENTS.items()}
    print(f"{sum(counted.values())} fields of {len(counted)} documents: {counted}")
    assert sum(counted.values()) >= LEAST
    wanted, met = set(), set()
    for one in DOCUMENTS.values():
        if one.model is not None:
            models_of(one.model, wanted)
            models_in(one.model.model_validate(copy.deepcopy(one.example())), met)
    wanted = wanted - {Rule} | {kind_class(kind) for kind in KINDS}  # a rule is read by its kind
    assert wanted <= met, f"no example holds {sorted(m.__name__ for m in wanted - met)}"


def test_every_field_of_the_app_that_takes_a_file_is_known_here():
    """A new upload has to be named in UPLOADS, and the document that comes there in DOCUMENTS."""
    keys = set()
    for path in sorted((ROOT / "ui").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            called = getattr(getattr(node, "func", None), "attr", "")
            if called not in ("one", "several", "file_uploader") or path.name == "uploads.py":
                continue
            if called != "file_uploader" and getattr(getattr(node.func, "value", None), "id", "") != "uploads":
                continue
            key = next(k.value for k in node.keywords if k.arg == "key")
            keys |= {n.value for n in ast.walk(key) if isinstance(n, ast.Constant)} or {path.stem}
    assert keys == set(UPLOADS), keys ^ set(UPLOADS)
    assert {what for what in UPLOADS.values() if what not in ("a table", "tables")} <= set(DOCUMENTS)
