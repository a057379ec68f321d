"""The site: its pages, links and commands; built, it fetches nothing from elsewhere."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from dpsyn_core.commands.cli import build_parser, command_modules
from tests.nursery import nursery
from tools import site

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
# pages whose shell lines are run from top to bottom, in a folder of their own
FOLLOWED = ("index", "how-to/publish", "how-to/own-table", "how-to/panel", "how-to/database", "how-to/large")
# pages whose commands name files of a reader: what makes them first; commands with ... or [ ] are read, not run
SMALL = "dpsyn sample demo; head -n 401 demo/sample.csv"
PREPARED = {
    "reference/attacks": f"{SMALL} | sed 1s/INCWAGE/income/ > people.csv; sed s/INCWAGE/income/ "
    "demo/sample.schema.json "
    "> people.schema.json; dpsyn synth people.csv --schema people.schema.json --epsilon 1 --delta 1e-9 "
    "--method independent -o synthetic.csv --manifest manifest.json",
    "reference/codebooks": "python -c \"import pandas, pyreadstat; t = pandas.DataFrame({'sex': [1.0, 2.0] * 99}); "
    "pyreadstat.write_sav(t, 'survey.sav', variable_value_labels={'sex': {1.0: 'woman', 2.0: 'man'}}); "
    "t.astype(int).to_csv('survey.csv', index=False); import json; "
    "f = {'fields': [{'name': 'sex', 'type': 'string', 'constraints': {'enum': ['f', 'm']}}]}; "
    "listed = [{'name': n, 'schema': f} for n in ('persons', 'homes')]; "
    "json.dump({'resources': listed}, open('package.json', 'w'))\"; "
    "dpsyn schema import survey.sav -o draft.json; dpsyn schema export draft.json -o survey.ddi.xml; "
    "dpsyn schema export draft.json --format sdv -o sdv.json",
    "linked": "",
    "questions": f"{SMALL} > people.csv; cp demo/sample.schema.json people.schema.json",
    "reference/refit": f"{SMALL} > t.csv; cp demo/sample.schema.json s.json; echo '[]' > rules.json",
    "reference/scale": f"{SMALL} > small.csv; cp demo/sample.schema.json big.schema.json; "
    "python -c \"from pyarrow import csv, parquet; parquet.write_table(csv.read_csv('small.csv'), 'big.parquet')\"",
    "reference/tuning": f"{SMALL} > T.csv; cp T.csv LAST_YEAR.csv; echo >> LAST_YEAR.csv; cp demo/sample.schema.json "
    "S.json",
}
CENSUS = {
    "version": 1,
    "name": "census",
    "attributes": [
        {"name": "sex", "kind": "categorical", "values": ["F", "M"]},
        {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "bins": {"edges": [18, 65]}},
    ],
}
LONGEST = 900  # seconds in which a command of a page has ended; a server that is started by mistake never does
ENDLESS = re.compile(
    r"^(dpsyn app|(?:python -m )?pip install|uvx |make |python -m tools.dev |docker )"
)  # a server, an installation: read, not run


def nav(entries):
    for entry in entries:
        inner = entry if isinstance(entry, str) else next(iter(entry.values()))
        yield from [inner] if isinstance(inner, str) else nav(inner)


def pages():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    return list(nav(yaml.safe_load(text)["nav"]))


def shell_lines(page):
    """The commands of the blocks of a page that are shell."""
    blocks = re.findall(
        r"^```(\w*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL
    )  # of every language, so that ends are ends
    for block in (text for language, text in blocks if language in ("", "sh", "bash")):
        yield from (line for line in re.sub(r"\\\n\s*", "", block).splitlines() if line and not line.startswith("#"))


def test_every_page_of_the_site_exists_or_is_made_once():
    made = set(site.REFERENCE) | set(site.ABOUT.values())
    listed = pages()
    assert len(listed) == len(set(listed)) > 40
    assert not [p for p in listed if p not in made and not (DOCS / p).exists()]
    assert made <= set(listed)
    missing = {p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md")} - set(listed)
    assert not missing, f"name them in mkdocs.yml: {missing}"


def test_links_out_of_the_documents_lead_to_pages_of_the_site_or_become_words():
    said = (
        "[a](../README.md#start) [b](../dpsyn_core/commands/cli.py) ![c](img/x.png) [d](schema.md#x) [e](https://x.y)"
    )
    assert site.relinked(said, "docs/guarantee.md") == (
        "[a](index.md#start) b ![c](img/x.png) [d](schema.md#x) [e](https://x.y)"
    )
    assert site.relinked("[a](docs/how-to/panel.md) [b](CHANGELOG.md)", "ARCHITECTURE.md") == (
        "[a](../how-to/panel.md) [b](changelog.md)"
    )


def test_blocks_of_other_languages_hide_no_command():
    page = (
        "```json\n{}\n```\n\nwords\n\n```\ndpsyn ledger\n```\n\n```python\nprint()\n```\nmore\n```sh\nmake app\n```\n"
    )
    assert list(shell_lines(page)) == ["dpsyn ledger", "make app"]


def test_the_reference_has_every_command_with_its_flags_and_every_public_name():
    import dpsyn_core

    command, python = site.command_page(), site.python_page()
    assert re.findall(r"^## dpsyn ([\w-]+)$", command, re.MULTILINE) == command_modules()
    for flag in ("--save-release", "--decimal", "--publishable", "--where"):
        assert flag in command
    assert "dpsyn schema draft" in command
    assert re.findall(r"^## (\w+)$", python, re.MULTILINE) == dpsyn_core.__all__
    assert "Guarantee: (epsilon, delta)-DP" in python


def parsed(line):
    """Parses a command as `dpsyn` would. Exits where it would."""
    words = shlex.split(line, comments=True)[1:]
    for mark in (">", "|", "&&"):
        words = words[: words.index(mark)] if mark in words else words
    build_parser(words).parse_args(words)


@pytest.mark.parametrize("page", sorted({p for p in pages() if (DOCS / p).exists()} | {"../README.md"}))
def test_every_command_line_on_a_page_is_one_that_the_command_takes(page, capsys):
    wrong = []
    for line in shell_lines((DOCS / page).read_text(encoding="utf-8")):
        if line.startswith("dpsyn ") and "..." not in line and "[" not in line:
            try:
                parsed(line)
            except SystemExit as stopped:
                if stopped.code:
                    wrong.append(f"{line}: {capsys.readouterr().err}")
    assert not wrong, "\n".join(wrong)


def test_a_command_line_that_is_wrong_would_be_found(capsys):
    with pytest.raises(SystemExit):
        parsed("dpsyn synth a.csv --schema s.json --epsilon 1 --delta 0 --out x.csv --no-such-flag")


def runner(folder):
    """Runs a line of a page in a folder of its own with the commands of this tree, whatever is installed.

    The command is a copy of the nursery; tests/test_documents.py starts it for each line of the README.
    """
    (folder / "bin").mkdir()
    for name, program in {
        "dpsyn": nursery().program("dpsyn_core.commands.cli"),
        "python": f'#!/bin/sh\nexec {sys.executable} "$@"\n',
    }.items():
        place = folder / "bin" / name
        place.write_text(program, encoding="utf-8")
        place.chmod(0o755)
    path = os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    env = os.environ | {"PYTHONPATH": str(ROOT), "DPSYN_HOME": str(folder / "home"), "PATH": path}
    place = folder / "work"
    place.mkdir()

    def run(line):
        done = subprocess.run(
            ["bash", "-ec", line],
            cwd=place,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST,
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"

    return run


@pytest.mark.slow
@pytest.mark.parametrize("page", FOLLOWED)
def test_the_commands_of_a_page_run_as_they_are_written(page, tmp_path):
    lines = [line for line in shell_lines((DOCS / f"{page}.md").read_text("utf-8")) if not ENDLESS.match(line)]
    assert len(lines) >= 3
    run = runner(tmp_path)
    for line in lines:
        run(line)


@pytest.mark.slow
@pytest.mark.parametrize("page", PREPARED)
def test_commands_that_name_a_reader_s_files_run_on_files_of_that_kind(page, tmp_path):
    run = runner(tmp_path)
    run(PREPARED[page] or "true")
    text = (DOCS / f"{page}.md").read_text("utf-8")
    if page == "questions":
        shown = re.search(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
        (tmp_path / "work" / "questions.json").write_text(shown, encoding="utf-8")
    if page.endswith("refit"):  # tables of others, as the page shows them
        shown = re.search(r"^```\n(sex,age,count,sigma\n.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
        (tmp_path / "work" / "census.csv").write_text(shown, encoding="utf-8")
        (tmp_path / "work" / "census.schema.json").write_text(json.dumps(CENSUS), encoding="utf-8")
    lines = [
        x
        for x in shell_lines(text)
        if x.startswith("dpsyn ") and not ENDLESS.match(x) and "..." not in x and "[" not in x.split(" -o ")[0]
    ]
    assert lines
    for line in lines:
        run(line)
    if page in ("questions", "linked"):  # what the page does in Python with these files
        shown = re.search(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
        (tmp_path / "work" / "shown.py").write_text(shown, encoding="utf-8")
        run("python shown.py")


def test_no_page_has_a_command_that_is_neither_run_nor_shown_with_something_left_out():
    """A page with a complete `dpsyn` line belongs into FOLLOWED or PREPARED; others, of servers, are named here."""
    shown = {"deploy", "reference/scale-spark", "sources"}  # tests/test_sources.py runs the last
    for page in pages():
        name = page.removesuffix(".md")
        if (DOCS / page).exists() and name not in {*FOLLOWED, *PREPARED, *shown}:
            lines = list(shell_lines((DOCS / page).read_text(encoding="utf-8")))
            complete = [x for x in lines if x.startswith("dpsyn ") and "..." not in x and not ENDLESS.match(x)]
            assert not complete, page


def test_pages_whose_commands_are_only_read_have_none_that_could_be_run():
    """The other how-tos show a server or a cluster; a page with more belongs into FOLLOWED."""
    for path in (DOCS / "how-to").glob("*.md"):
        if f"how-to/{path.stem}" not in FOLLOWED:
            assert all(ENDLESS.match(line) for line in shell_lines(path.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_the_built_site_fetches_nothing_and_no_link_is_broken(tmp_path):
    pytest.importorskip("material", reason="make docs installs what builds the site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path / "site")], cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    fetched = re.compile(
        r"<(?:script|img|iframe|source)[^>]+src=\"?(?:https?:)?//|<link[^>]+href=\"?https?://(?![^>]*canonical)"
    )
    built = list((tmp_path / "site").rglob("*.html"))
    assert len(built) > 40
    assert not [p.name for p in built if fetched.search(p.read_text(encoding="utf-8"))]
    styles = [
        p for p in (tmp_path / "site").rglob("*.css") if re.search(r"url\((?:https?:)?//|@import", p.read_text("utf-8"))
    ]
    assert not styles
