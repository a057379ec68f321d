"""`dpsyn schema draft` for somebody who sees it for the first time: what it left out, and who may be one individual."""

import json
import re

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.confirmation import confirm

PRICE = ["--epsilon", "3", "--delta", "1e-9"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rows = [f"C{i % 300:04d},{1 + i % 28:02d}.{1 + i % 12:02d}.2024,{i % 7},n{i}" for i in range(900)]
    (tmp_path / "t.csv").write_text("customer,bought on,pieces,remark\n" + "\n".join(rows) + "\n")
    return tmp_path


def test_a_draft_says_what_it_leaves_out_and_who_may_be_one_individual(folder, capsys):
    assert main(["schema", "draft", "t.csv", "-o", "s.json"]) == 0
    said = capsys.readouterr().err
    assert "column 'remark' is left out: every record has its own value" in said
    assert "to check (reads private data: for the owner only): the range of 'bought on'" in said
    assert Schema.load(folder / "s.json")["bought on"].kind == "datetime"
    hint = [line for line in said.splitlines() if "--identifier" in line]
    assert len(hint) == 1 and "'customer'" in hint[0] and "1, 2, 5, 10, 20, 50 or 100" in hint[0]
    assert all("reads private data: for the owner only" in line for line in said.splitlines() if line not in hint)
    assert "C0007" not in said


def test_the_hint_on_the_unit_of_privacy_stays_the_same_with_one_individual_more(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"p{i // 2},{i % 3}" for i in range(100)]  # 50 people with two visits each
    one_more = [f"q,{i % 3}" for i in range(50)]  # and somebody with fifty
    for name, lines in (("a.csv", rows), ("b.csv", rows + one_more)):
        (tmp_path / name).write_text("pid,visit\n" + "\n".join(lines) + "\n")
        assert main(["schema", "draft", name, "-o", f"{name}.json"]) == 0
    said = capsys.readouterr().err.splitlines()
    hints = [line for line in said if "--max-records" in line]
    assert len(hints) == 2
    assert hints[0] == hints[1]


def test_a_limit_that_a_person_types_is_public(folder):
    assert main(["schema", "draft", "t.csv", "-o", "s.json", "--identifier", "customer", "--max-records", "3"]) == 0
    schema = Schema.load(folder / "s.json")
    assert schema.unit.source == "public"
    assert not schema.unit_from_data
    assert not any("unit of privacy" in r for r in schema.reasons)


def test_what_is_bought_beside_a_header_of_persons_leaves_open_who_is_one_individual(folder, capsys):
    buy = ["schema", "draft", "t.csv", "-o", "s.json", "--buy", "pieces=integer", *PRICE]
    assert main(buy) == 0
    (hint,) = [line for line in capsys.readouterr().err.splitlines() if "who is one individual is not decided" in line]
    assert "'customer'" in hint and "--identifier COLUMN" in hint
    assert Schema.load(folder / "s.json").reasons == ("nobody has said who is one individual",)
    assert main(["schema", "confirm", "s.json", "--unit"]) == 0 and Schema.load(folder / "s.json").private
    assert main([*buy, "--identifier", "customer"]) == 0 and Schema.load(folder / "s.json").private
    (folder / "t.csv").write_text("pieces,remark\n" + "1,a\n2,b\n" * 300)
    capsys.readouterr()
    assert main([*buy, "--dataset", "other"]) == 0 and Schema.load(folder / "s.json").private
    assert "not decided" not in capsys.readouterr().err


def test_a_codebook_with_a_header_of_persons_leaves_open_who_is_one_individual(folder, capsys):
    book = {"patient_id": {"kind": "numeric", "min": 0, "max": 9}, "sex": {"kind": "categorical", "values": ["f", "m"]}}
    for named, told in (({}, 1), ({"key": {"kind": "id"}}, 0)):
        (folder / "parameters.json").write_text(json.dumps({"schema": book | named}))
        assert main(["schema", "import", "parameters.json", "-o", "s.json"]) == 0
        said = capsys.readouterr()
        lines = [line for line in said.err.splitlines() if "who is one individual is not decided" in line]
        assert len(lines) == told and all("'patient_id'" in line and "unit.identifier" in line for line in lines)
        assert Schema.load(folder / "s.json").private == (not told)
    (folder / "parameters.json").write_text(json.dumps({"schema": {"sex": book["sex"]}}))
    assert main(["schema", "import", "parameters.json", "-o", "s.json"]) == 0
    assert "not decided" not in capsys.readouterr().err and Schema.load(folder / "s.json").private


def test_all_that_is_confirmed_is_shown_before_and_rules_by_their_words(folder, capsys):
    values = [f"v{i}" for i in range(150)]
    listed = {"name": "a", "kind": "categorical", "values": values, "source": "data"}
    rule = {"kind": "impossible", "where": "a = v7 and b = 1", "source": "data"}
    other = {"name": "b", "kind": "categorical", "values": [0, 1]}
    document = {"version": 1, "name": "t", "attributes": [listed, other], "rules": [rule]}
    Schema.of(document).dump(folder / "s.json")
    words = str(Schema.of(document).rules[0])
    assert main(["schema", "confirm", "s.json"]) == 0
    said = capsys.readouterr().out
    assert ", ".join(values) in said and f"to check: the rule '{words}'" in said and "--rules" in said
    assert main(["schema", "confirm", "s.json", "a", "-o", "a.json"]) == 0
    assert ", ".join(values) in capsys.readouterr().out and not Schema.load(folder / "a.json").private
    for more in (["--rules"], ["--everything"]):
        assert main(["schema", "confirm", "s.json", *more, "-o", "o.json"]) == 0
        assert f"confirmed as public by your word: the rule '{words}'" in capsys.readouterr().out
        made = Schema.load(folder / "o.json")
        assert made.rules[0].source == "public" and made.private == (more == ["--everything"])
    assert not confirm(Schema.of(document), rules=True).private
    assert confirm(Schema.of(document), ["a"], rules=True).private and "rule" in confirm.__doc__.split("everything:")[1]


def test_a_linked_schema_is_confirmed_and_the_command_names_what_was_read(folder, capsys):
    (folder / "p.csv").write_text("patient_id,sex\n" + "".join(f"{i},{'fm'[i % 2]}\n" for i in range(40)))
    (folder / "v.csv").write_text("patient_id,ward\n" + "".join(f"{i % 40},{'AB'[i % 2]}\n" for i in range(80)))
    given = ["--table", "patients=p.csv", "--table", "visits=v.csv"]
    assert main(["schema", "draft", *given, "-o", "l.json"]) == 0
    capsys.readouterr()
    assert not Schema.load(folder / "l.json").private
    assert main(["schema", "confirm", "l.json", "--everything"]) == 0
    said = capsys.readouterr()
    assert "table 'visits': the schema of attribute 'ward'" in said.out + said.err
    assert Schema.load(folder / "l.json").private


def test_a_draft_keeps_who_is_protected(folder, capsys):
    more = ["--identifier", "customer", "--max-records", "3", "--neighbours", "replace", "--dataset", "shop"]
    assert main(["schema", "draft", "t.csv", "-o", "s.json", *more]) == 0
    schema = Schema.load(folder / "s.json")
    assert (schema.unit.identifier, schema.unit.max_records, schema.unit.neighbours) == ("customer", 3, "replace")
    assert schema.ledger_name == "shop"
    assert "--identifier" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--epsilon", "1"], "add --buy COLUMN=KIND"),
        (["--written", "pieces=1,234"], "add --buy COLUMN=KIND"),
        (["--buy", "pieces=integer", "--written", "other=1,234", *PRICE], "once for a column that --buy names"),
        (["--buy", "pieces=integer", "--written", "pieces=many", *PRICE], "does not show how numbers are written"),
        (["--buy", "bought on=date", "--written", "bought on=soon", *PRICE], "does not show how dates are written"),
        (["--max-records", "0"], "it must be at least 1"),
    ],
)
def test_what_a_draft_cannot_use_is_refused(folder, capsys, more, said):
    assert main(["schema", "draft", "t.csv", "-o", "s.json", *more]) == 2
    assert said in capsys.readouterr().err
    assert not (folder / "s.json").exists()


def test_how_bought_columns_are_written_is_said_by_who_buys_them(folder, capsys):
    rows = [f'"${100 + i % 900:,}.50",{1 + i % 28:02d}.{1 + i % 12:02d}.2024' for i in range(5000)]
    (folder / "pay.csv").write_text("pay,day\n" + "\n".join(rows) + "\n")
    buy = ["schema", "draft", "pay.csv", "-o", "s.json", "--buy", "pay=float", "--buy", "day=date", *PRICE]
    assert main([*buy, "--written", "pay=$1,234.50", "--written", "day=31.12.2024"]) == 0
    schema = Schema.load(folder / "s.json")
    assert schema.private and schema["pay"].written == "$1,234.50" and schema["day"].formats == ("%d.%m.%Y",)
    assert (schema["pay"].min, schema["pay"].max) == (64.0, 1024.0)
    assert main([*buy, "--written", "day=31.12.2024"]) == 0  # without an example no amount can be read
    said = capsys.readouterr().out
    assert "bought 1 columns" in said and "nothing was found of column 'pay'" in said and "how its cells are" in said


def test_a_draft_of_the_shell_holds_no_exact_ends_and_no_rare_value(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    lines = [f"{20 + i % 61},{1013 + 37 * i},{'abc'[i % 3]}" for i in range(300)] + ["83,19999,rare"]
    (tmp_path / "t.csv").write_text("age,pay,kind\n" + "\n".join(lines) + "\n", encoding="utf-8")
    assert main(["schema", "draft", str(tmp_path / "t.csv"), "-o", str(tmp_path / "s.json")]) == 0
    made = Schema.load(tmp_path / "s.json")
    assert not {20, 83} & {made["age"].min, made["age"].max} and not {1013, 19999} & {made["pay"].min, made["pay"].max}
    assert made["kind"].values == ("a", "b", "c") and made["kind"].other
    assert made.from_data == ("age", "pay", "kind")


def test_two_ways_of_writing_dates_are_said(tmp_path, capsys):
    days = [f"{i % 28 + 1:02}.{i % 12 + 1:02}.2{'0' * (i % 3 > 0)}20" for i in range(90)]
    cells = [d if len(d) == 10 else f"{d[:6]}20" for d in days]
    (tmp_path / "t.csv").write_text("day,x\n" + "".join(f"{d},a\n" for d in cells), encoding="utf-8")
    assert main(["schema", "draft", str(tmp_path / "t.csv"), "-o", str(tmp_path / "s.json")]) == 0
    assert "its dates are written as %d.%m.%Y and %d.%m.%y, and come out as the first" in capsys.readouterr().err


def test_lines_that_could_not_be_read_are_not_called_rare_values(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("x,y\n" + "a,b\nc,d\n" * 30 + "a,b,c\n" * 30, encoding="utf-8")
    assert main(["schema", "draft", str(tmp_path / "t.csv"), "-o", str(tmp_path / "s.json")]) == 0
    said = capsys.readouterr().err
    assert "30 of the lines do not fit the header" in said and "become (other)" not in said


def test_years_of_two_digits_are_said(tmp_path, capsys):
    days = [f"{i % 28 + 1:02}.{i % 12 + 1:02}.{40 + i % 60}" for i in range(90)]
    (tmp_path / "t.csv").write_text("born,x\n" + "".join(f"{d},a\n" for d in days), encoding="utf-8")
    assert main(["schema", "draft", str(tmp_path / "t.csv"), "-o", str(tmp_path / "s.json")]) == 0
    assert "its years of two digits are read as 1969 to 2068" in capsys.readouterr().err


def test_times_in_utc_are_said(tmp_path, capsys):
    times = [f"2024-0{i % 7 + 1}-11T{i % 24:02}:00:00+0{1 + i % 2}:00" for i in range(90)]
    (tmp_path / "t.csv").write_text("at,x\n" + "".join(f"{d},a\n" for d in times), encoding="utf-8")
    assert main(["schema", "draft", str(tmp_path / "t.csv"), "-o", str(tmp_path / "s.json")]) == 0
    assert "the range of 'at'; its times are in UTC" in capsys.readouterr().err


def test_quiet_silences_progress_and_no_warning(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    (tmp_path / "t.csv").write_text("x\n" + "a\nb\n" * 3, encoding="utf-8")
    schema = {"version": 1, "name": "t", "attributes": [{"name": "x", "kind": "categorical", "values": ["a", "b"]}]}
    (tmp_path / "s.json").write_text(json.dumps(schema), encoding="utf-8")
    run = ["synth", str(tmp_path / "t.csv"), "--schema", str(tmp_path / "s.json"), "--delta", "1e-9", "--quiet"]
    out = ["--method", "independent", "--out", str(tmp_path / "o.csv"), "--manifest", str(tmp_path / "m.json")]
    assert main([*run, "--epsilon", "0.01", *out]) == 0
    said = capsys.readouterr().err
    assert "the table tells next to nothing" in said and "wrote" not in said
    assert main([*run, "--epsilon", "1000", *out]) == 0
    assert "epsilon 1000 promises next to nothing" in capsys.readouterr().err


def test_how_many_must_have_a_value_is_said_before_it_is_bought(folder, capsys):
    jobs = [*[f"j{i % 9}" for i in range(9 * 600)], *["rare"] * 5]
    (folder / "jobs.csv").write_text("job\n" + "\n".join(jobs) + "\n", encoding="utf-8")
    buy = ["schema", "draft", "jobs.csv", "-o", "s.json", "--buy", "job=categorical", "--epsilon", "1"]
    assert main([*buy, "--delta", "1e-9"]) == 0
    said = capsys.readouterr().err
    (needed,) = map(int, re.findall(r"a value of 'job' is found where about (\d+) individuals have it", said))
    assert 5 < needed < 600
    assert Schema.load(folder / "s.json")["job"].values == tuple(f"j{i}" for i in range(9))


def many(folder, n=6000):
    rows = [
        f"{(i * i) % 389 * 97 + 10000:05d},job {(i * 7) % 13 if i % 3 else 20 + i % 700},{18 + i % 60}"
        for i in range(n)
    ]
    (folder / "jobs.csv").write_text("plz,job,age\n" + "\n".join(rows) + "\n")


def test_values_of_a_column_that_names_persons_are_not_offered(folder, capsys):
    people = "".join(f"P{i % 1440},{18 + i % 60}\n" for i in range(2880))
    (folder / "visits.csv").write_text("patient_id,age\n" + people)
    assert main(["schema", "draft", "visits.csv", "-o", "s.json"]) == 0
    said = capsys.readouterr().err
    assert "column 'patient_id' is left out" in said and "--buy" not in said and "--list" not in said


def test_text_of_many_values_is_offered_three_ways_with_their_prices(folder, capsys):
    many(folder)
    assert main(["schema", "draft", "jobs.csv", "-o", "s.json"]) == 0
    said = capsys.readouterr().err
    assert "column 'job' is left out: more than 200 distinct values" in said
    assert "a public list costs nothing (--list 'job=FILE'" in said and "--list 'job=digits:2'" in said
    assert re.search(
        r"values that about \d+ individuals have, also below beginnings, cost epsilon 0.5 \(--buy 'job=", said
    )
    assert "the beginnings of the values of 'plz'" in said
    (folder / "list.txt").write_text("".join(f"job {i}\n" for i in range(13)))
    assert main(["schema", "draft", "jobs.csv", "-o", "s.json", "--list", "job=list.txt"]) == 0
    job = Schema.load(folder / "s.json")["job"]
    assert job.source == "public" and job.other and len(job.values) == 13


def test_values_are_bought_below_public_beginnings_and_the_rest_counts_by_them(folder, capsys):
    many(folder)
    buy = ["--buy", "plz=categorical", "--epsilon", "2", "--delta", "1e-6", "--list", "plz=digits:1"]
    assert main(["schema", "draft", "jobs.csv", "-o", "s.json", *buy, "--list", "job=isco"]) == 0
    schema = Schema.load(folder / "s.json")
    plz = schema["plz"]
    assert plz.values[:10] == tuple("0123456789") and len(plz.values) > 30 and plz.by_prefix
    assert all(len(v) == 5 for v in plz.values[10:])
    assert (plz.source, schema["job"].source) == ("bought", "public")
    run = ["synth", "jobs.csv", "--schema", "s.json", "--epsilon", "5", "--delta", "1e-6", "--dataset", "d"]
    assert main([*run, "--out", "o.csv", "--manifest", "m.json"]) == 0
    made = {line.split(",")[0] for line in (folder / "o.csv").read_text().splitlines()[1:]}
    assert made <= {*plz.values, "(other)", ""}
    capsys.readouterr()
    assert main(["schema", "draft", "jobs.csv", "-o", "s.json", *buy[:6], "--list", "plz=iso3166"]) == 2
    assert "which leaves nothing to buy" in capsys.readouterr().err
    assert main(["schema", "draft", "jobs.csv", "-o", "s.json", *buy[:6], "--list", "town=iso3166"]) == 2
    assert "which the table does not have" in capsys.readouterr().err


def test_numbers_and_lists_of_persons_are_left_out_of_the_draft_of_the_shell(folder, capsys):
    rows = [f"{6_000_000_017 + 1013 * i},town {chr(97 + i // 10)}{chr(97 + i % 10)},{i % 3}" for i in range(90)]
    (folder / "small.csv").write_text("mobile phone,place,size\n" + "\n".join([*rows, rows[0]]) + "\n")
    assert main(["schema", "draft", "small.csv", "-o", "s.json"]) == 0
    said, schema = capsys.readouterr().err, Schema.load(folder / "s.json")
    assert [a.name for a in schema.coded] == ["size"]
    assert "6000000017" not in (text := (folder / "s.json").read_text()) and "town aa" not in text
    assert "column 'mobile phone' is left out: its header speaks of persons" in said
    assert "column 'place' is left out: fewer than 10 records share each of its values" in said
    (folder / "small.csv").write_text("place\n" + "\n".join(r.split(",")[1] for r in rows) + "\n")
    assert main(["schema", "draft", "small.csv", "-o", "t.json"]) == 2
    assert "no column of the table has few enough values" in capsys.readouterr().err


def test_a_draft_says_where_many_cells_become_others(folder, capsys):
    rows = [f"{'north' if i % 2 else f'village {i % 190}'},{i % 3}" for i in range(800)]
    (folder / "o.csv").write_text("place,size\n" + "\n".join(rows) + "\n")
    assert main(["schema", "draft", "o.csv", "-o", "s.json"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "become (other)" in line]
    assert len(said) == 1 and "400 of 800 cells of column 'place'" in said[0] and "reads private data" in said[0]
