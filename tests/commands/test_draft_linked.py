"""`dpsyn schema draft` of linked tables: links from headers or as typed, and every cell that hostile files hold."""

import json
from pathlib import Path

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.schema.linked import LinkedSchema

TABLES = "--table customers=customers.csv --table orders=orders.csv --table lines=lines.csv"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    write("customers", "customer_id,kind", [(i, "ab"[i % 2]) for i in range(60)])
    write("orders", "order_id,customer_id,way", [(i, i % 60, "xy"[i % 2]) for i in range(150)])
    write("lines", "line_id,order_id,item", [(i, i % 150, "pqr"[i % 3]) for i in range(400)])


def write(name, header, rows):
    Path(f"{name}.csv").write_text("\n".join([header, *(",".join(map(str, r)) for r in rows)]) + "\n")


def told(words, capsys):
    capsys.readouterr()
    status = main(words.split())
    both = capsys.readouterr()
    return status, both.out + both.err


def public(path):
    """Every entry is confirmed, as a person would in an editor."""
    Path(path).write_text(Path(path).read_text().replace('"data"', '"public"'))


def test_links_are_read_from_headers_and_the_release_has_keys_that_hold(capsys):
    status, said = told(f"schema draft {TABLES} --max-children lines=4 -o s.json", capsys)
    assert status == 0 and "lines.order_id = orders.order_id, at most 4 of a parent, 40 of a root" in said
    schema = LinkedSchema.load("s.json")
    assert schema.root.name == "customers" and schema.reasons and schema["lines"].key == "line_id"
    public("s.json")
    for out in ("folder/", "all.xlsx", "all.sqlite", "all.duckdb"):
        status, said = told(f"synth {TABLES} --schema s.json --epsilon 3 --delta 1e-6 --out {out} --quiet", capsys)
        assert status == 0, said
    status, said = told("verify folder/ --schema s.json --publishable", capsys)
    assert status == 0, said
    status, said = told(f"report {TABLES} folder/ --schema s.json --html r.html", capsys)
    assert status == 0 and "at most 40 of lines" in Path("r.html").read_text(), said


def test_a_link_that_headers_do_not_tell_is_one_sentence_and_can_be_typed(capsys):
    Path("lines.csv").write_text(Path("lines.csv").read_text().replace("order_id", "belongs", 1))
    status, said = told(f"schema draft {TABLES} -o s.json", capsys)
    assert status == 2 and "no header of 'lines' says" in said and "--link" in said
    status, said = told(f"schema draft {TABLES} --link lines.belongs=orders.order_id -o s.json", capsys)
    assert status == 0 and "lines.belongs = orders.order_id" in said


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("--link customers.kind=lines.line_id", "circle"),
        ("--link nobody.x=orders.order_id", "there is no table 'nobody'"),
        ("--link lines.nope=orders.order_id", "table 'lines' has no column 'nope', which --link lines.nope=orders."),
        ("--link lines.item=orders.nope", "table 'orders' has no column 'nope'"),
        ("--link lines.item=nobody.x", "there is no table 'nobody', which --link"),
        ("--link lines=orders", "CHILD.COLUMN=PARENT.KEY"),
        ("--max-children lines=many", "CHILD=N"),
        ("--buy kind=categorical", "do not take --buy"),
        ("--max-children lines=0", "max_children"),
    ],
)
def test_what_does_not_fit_is_one_sentence(more, sentence, capsys):
    status, said = told(f"schema draft {TABLES} {more} -o s.json", capsys)
    assert status == 2 and sentence in said and "Traceback" not in said
    assert not Path("s.json").exists()


def test_a_refusal_says_of_which_table_it_is(capsys):
    status, said = told("schema draft --table customers=customers.csv -o s.json", capsys)
    assert status == 2 and "linked tables are two or more, and 1 is given" in said
    assert told(f"schema draft {TABLES} -o s.json", capsys)[0] == 0
    run = f"synth {TABLES} --schema s.json --epsilon 3 --delta 1e-6 --out out/ --quiet"
    for broken, sentence in (
        (lambda: Path("lines.csv").write_bytes(b"\0\1\2"), "table 'lines': the file is not a text table"),
        (lambda: write("lines", LINES, []), "has no records"),
    ):
        broken()
        status, said = told(run, capsys)
        if status == 0:
            status, said = told(f"report {TABLES} out/ --schema s.json --json r.json", capsys)
        assert status == 2 and "table 'lines': the " in said and sentence in said and said.count("\n") == 1, said


def added(name, *lines):
    Path(f"{name}.csv").write_text("\n".join([Path(f"{name}.csv").read_text().rstrip(), *lines]) + "\n")


LINES, ORDERS = "line_id,order_id,item", "order_id,customer_id,way"
HOSTILE = {
    "no parent": lambda: added("lines", "900,7777,p", "901,,q"),
    "a parent twice": lambda: added("orders", "3,5,x", "3,3,y"),
    "a root twice": lambda: added("customers", "3,b", ",a"),
    "a parent without a key": lambda: added("orders", ",5,x"),
    "ten thousand": lambda: write("lines", LINES, [(i, 1, "p") for i in range(10_000)]),
    "no child": lambda: write("lines", LINES, []),
    "no children at all": lambda: (write("orders", ORDERS, []), write("lines", LINES, [])),
    "a child of no parent": lambda: write("orders", ORDERS, [(i, 7000 + i, "x") for i in range(150)]),
    "written otherwise": lambda: write("lines", LINES, [(i, f'"{i % 150}.0"', "p") for i in range(400)]),
    "theta 1": lambda: Path("s.json").write_text(Path("s.json").read_text().replace(": 10", ": 1")),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_lose_no_run_and_are_one_sentence_with_strict(case, capsys):
    assert told(f"schema draft {TABLES} -o s.json", capsys)[0] == 0
    public("s.json")
    HOSTILE[case]()
    status, said = told(f"synth {TABLES} --schema s.json --epsilon 3 --delta 1e-6 --out out/", capsys)
    assert status == 0 and "Traceback" not in said, said
    status, said = told("verify out/ --schema s.json --publishable", capsys)
    assert status == 0, said
    manifest = json.loads(next(Path("out").glob("*manifest*.json")).read_text())
    assert {h["table"] for h in manifest["hanging"]} == {"orders", "lines"}
    status, said = told(f"synth {TABLES} --schema s.json --epsilon 3 --delta 1e-6 --out two/ --strict", capsys)
    assert (status == 2 and said.count("\n") < 6) or case in ("no child", "written otherwise", "no children at all"), (
        said
    )
    status, said = told(f"schema check s.json {TABLES}", capsys)
    assert status == 0 and "Traceback" not in said, said


def test_a_panel_is_drafted_from_one_file_and_leaves_as_one(capsys):
    rows = [(p, 2020 + w, "fm"[p % 2], "yn"[(p + w) % 2]) for p in range(100) for w in range(3)]
    write("panel", "person,wave,sex,job", rows)
    words = "schema draft panel.csv --identifier person --wave wave --constant sex"
    status, said = told(f"{words} -o p.json", capsys)
    assert status == 0 and "at most 3 rows" in said, said
    public("p.json")
    status, said = told("synth panel.csv --schema p.json --epsilon 4 --delta 1e-6 --out made.csv", capsys)
    assert status == 0, said
    assert Path("made.csv").read_text().startswith("person,wave,sex,job\n")
    status, said = told("verify made.csv --schema p.json --publishable", capsys)
    assert status == 0, said
    status, said = told("schema draft panel.csv --wave wave -o p.json", capsys)
    assert status == 2 and "--identifier" in said
    status, said = told("schema draft panel.csv --identifier person --wave year -o p.json", capsys)
    assert status == 2 and "no column 'year'" in said


@pytest.mark.parametrize("ending", ["xlsx", "sqlite", "duckdb"])
def test_one_file_with_all_tables_is_verified_compared_and_reported_like_the_folder(ending, capsys):
    assert told(f"schema draft {TABLES} -o s.json", capsys)[0] == 0
    public("s.json")
    out = f"all.{ending}"
    assert told(f"synth {TABLES} --schema s.json --epsilon 3 --delta 1e-6 --out {out} --quiet", capsys)[0] == 0
    status, said = told(f"verify {out} --schema s.json --publishable", capsys)
    assert status == 0 and "safe to publish" in said, said
    status, said = told(f"compare {TABLES} {out} --schema s.json", capsys)
    assert status == 0 and "orders > lines" in said, said
    status, said = told(f"report {TABLES} {out} --schema s.json --json r.json", capsys)
    assert status == 0 and "keys hold" in said, said
    status, said = told(f"report - {out} --schema s.json --html r.html", capsys)
    assert status == 0 and "reads private" not in Path("r.html").read_text(), said


def test_roles_are_drafted_where_names_say_who_is_who(capsys):
    write("homes", "home_id,region", [(i, "ab"[i % 2]) for i in range(60)])
    roles = ("Head", "Spouse", "Child")
    write("people", "home_id,role,age", [(i // 3, roles[i % 3], 20 + i % 50) for i in range(180)])
    status, said = told("schema draft --table homes=homes.csv --table people=people.csv -o s.json", capsys)
    assert status == 0 and "roles: people.role, at most one of each of a parent: Head, Spouse" in said
    (link,) = LinkedSchema.load("s.json").links
    assert link.roles is not None and set(link.roles.single) == {"Head", "Spouse"}


def test_a_draft_of_linked_tables_holds_no_value_of_one_person_and_says_what_it_leaves_out(capsys):
    write("customers", "customer_id,city", [(i, "Oslo" if i != 7 else "Vardo") for i in range(60)])
    write("orders", "order_id,customer_id,paid,note", [(i, i % 60, 1013 + 37 * i, f"note {i}") for i in range(250)])
    status, said = told("schema draft --table customers=customers.csv --table orders=orders.csv -o s.json", capsys)
    schema = LinkedSchema.load("s.json")
    paid = schema["orders"].columns["paid"]
    assert status == 0 and (paid.min, paid.max) == (1000, 11_000)
    city = schema["customers"].columns["city"]
    assert city.values == ("Oslo",) and city.other and "Vardo" not in Path("s.json").read_text() + said
    assert "column 'orders.note' is left out: every record has its own value" in said
    assert "to check (reads private data: for the owner only): the range of 'orders.paid'" in said


def test_a_table_of_keys_alone_is_drafted(capsys):
    write("homes", "home_id", [(f"H{i:03d}",) for i in range(300)])
    write("people", "person,home_id,age", [(i, f"H{i % 300:03d}", i % 90) for i in range(700)])
    status, said = told("schema draft --table homes=homes.csv --table people=people.csv -o s.json", capsys)
    assert status == 0 and LinkedSchema.load("s.json")["homes"].columns is None, said
