"""A release is used again for nothing: other seeds, sizes, systems, conditions, columns and rules; hostile files."""

import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest

from dpsyn_core import Ledger, refit
from dpsyn_core.commands.cli import main
from dpsyn_core.errors import InputError
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs.release_file import INDEX, MANIFEST, MEASUREMENTS, load_release
from dpsyn_core.tables.digest import content_digest
from dpsyn_core.tables.read import read_table
from tests.runs.refits.small import synth, write

METHODS = ("rls", "independent", "dpsyn", "privsyn", "mst", "aim", "priview", "dpsyn-2018", "privbayes", "field-groups")
WHERE = "city in {A, B} and age in [18, 33]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("refits")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(found)
        patch.setenv("DPSYN_HOME", str(found / "home"))
        write(found)
        yield found


@pytest.fixture
def released(folder):
    """The release of a method, made once."""

    def of(method):
        if not Path(f"{method}.dpsyn").exists():
            assert synth(method) == 0
        return Path(f"{method}.dpsyn")

    return of


def frame(table):
    return table.to_pandas()


@pytest.mark.parametrize("method", METHODS)
def test_every_system_that_measures_marginals_is_refitted_and_nothing_is_charged(released, method):
    file, before = released(method), Ledger().entries("people")
    again, twice = refit(file, rng=5), refit(file, rng=5)
    assert again.arrow.equals(twice.arrow)
    if again.manifest.refit.method == method and method != "aim":  # its last model is fitted from the start
        assert content_digest(again.arrow) == Manifest.load(Path(f"{method}.manifest.json")).digests.content
    assert not again.arrow.equals(refit(file, rng=6).arrow)
    small = refit(file, rng=5, n_records=70, columns=["age", "city"])
    assert small.arrow.shape == (70, 2)
    assert Ledger().entries("people") == before
    paid = Manifest.load(Path(f"{method}.manifest.json"))
    for made in (again, small):
        assert made.manifest.charges == paid.charges and made.manifest.run_id == paid.run_id
        assert (made.manifest.epsilon, made.manifest.delta) == (paid.epsilon, paid.delta)
        assert made.manifest.refit.release == load_release(file).sha256


@pytest.mark.parametrize("method", ["rls", "dpsyn", "mst", "field-groups"])
def test_every_record_meets_the_condition_and_keeps_the_rules(released, method):
    rules = [{"kind": "impossible", "where": "sex = F and city = B"}]
    made = refit(
        released(method), rng=1, where=f"{WHERE} and born in [1960-03-05, 1980-01-01]", n_records=300, rules=rules
    )
    found = frame(made.arrow)
    assert len(found) == 300
    assert set(found.city) <= {"A", "B"} and found.age.between(18, 33).all()
    assert found.born.astype(str).between("1960-03-05", "1980-01-01").all()
    assert not ((found.sex == "F") & (found.city == "B")).any()
    assert made.manifest.refit.where.startswith(WHERE) and made.manifest.refit.rules == tuple(rules)


@pytest.mark.parametrize("maker", ["rls", "independent", "dpsyn", "mst"])
def test_another_system_makes_records_of_tables_that_it_did_not_measure(released, maker):
    made = refit(released("privsyn"), rng=1, method=maker)
    assert made.manifest.method == "privsyn" and made.manifest.refit.method == maker
    shares = frame(made.arrow).sex.value_counts(normalize=True)
    assert abs(shares["F"] - 0.5) < 0.2


def test_a_condition_keeps_what_was_measured_together(folder):
    """All who are in A are women in the table; a fit under the condition says so, and one column alone does not."""
    rows = [f"{'FM'[i % 2]},{i % 100},{'AB'[i % 2]},1960-01-01" for i in range(4000)]
    Path("t2.csv").write_text("sex,age,city,born\n" + "\n".join(rows) + "\n")
    words = (
        "synth t2.csv --schema s.json --epsilon 4 --delta 1e-6 -o t2o.csv --save-release t2.dpsyn --dataset t2 --quiet"
    )
    assert main(words.split()) == 0
    found = frame(refit("t2.dpsyn", rng=1, where="city = A").arrow)
    assert (found.sex == "F").mean() > 0.95
    assert abs(len(found) - 2000) < 200


def test_verify_holds_for_a_refit_and_says_what_it_is(released, capsys):
    released("rls")
    assert main(["refit", "rls.dpsyn", "--seed", "9", "-o", "again.csv", "--quiet"]) == 0
    assert main(["verify", "again.csv", "--measurements", "again.m.json.gz"]) == 2  # the file is not there
    assert main(["verify", "again.csv", "--schema", "rls.json", "--publishable"]) == 0
    assert "made again from the release" in capsys.readouterr().out
    assert "nothing was charged" in Manifest.load(Path("again.manifest.json")).certificate()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--method aim", "makes no records of tables that others measured"),
        ("--where age=200", "no cell of 'age' meets the condition"),
        ("--where nobody=1", "no column that is synthesized"),
        ("--columns nobody", "no column of the release"),
        ("--n-records -1", "n_records is -1"),
        ("--by us", "for tables that others published"),
        ("--set effort=2 --method independent", "unknown setting 'effort'"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(released, capsys, words, said):
    released("rls")
    assert main(["refit", "rls.dpsyn", "-o", "no.csv", "--quiet", *words.split()]) == 2
    message = capsys.readouterr().err
    assert said in message and message.count("\n") == 1
    assert not Path("no.csv").exists()


@pytest.mark.parametrize("method", ["dirichlet-multinomial", "p3gm"])
def test_a_system_without_tables_keeps_no_release_and_is_refused_before_anything_is_charged(folder, capsys, method):
    before = Ledger().entries("people")
    assert synth(method) == 2
    assert "no release can be saved for refits" in capsys.readouterr().err
    assert Ledger().entries("people") == before


def changed(file, **parts):
    """A release file with other members, and an index that fits them."""
    with zipfile.ZipFile(file) as archive:
        held = {n: archive.read(n) for n in archive.namelist()}
    held |= parts
    import hashlib

    index = json.loads(held[INDEX])
    index["sha256"] = {n: hashlib.sha256(held[n]).hexdigest() for n in (MANIFEST, MEASUREMENTS)}
    held[INDEX] = parts.get(INDEX, json.dumps(index).encode())
    return packed(held)


def packed(held, kind=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name, content in held.items():
            archive.writestr(name, content)
    return out.getvalue()


def members(file):
    with zipfile.ZipFile(file) as archive:
        return {n: archive.read(n) for n in archive.namelist()}


def with_manifest(file, change, *, both=True):
    """The release with an edited manifest; both: its digests fit the tables that are edited beside it."""
    document = json.loads(members(file)[MANIFEST])
    change(document)
    return changed(file, **{MANIFEST: json.dumps(document).encode()})


def with_tables(file, change):
    """The release with edited tables whose digest the manifest names."""
    import hashlib

    tables = json.loads(gzip.decompress(members(file)[MEASUREMENTS]))
    change(tables)
    content = gzip.compress(json.dumps(tables).encode())
    document = json.loads(members(file)[MANIFEST])
    document["digests"]["measurements"] = hashlib.sha256(content).hexdigest()
    return changed(file, **{MANIFEST: json.dumps(document).encode(), MEASUREMENTS: content})


def first(tables, **said):
    tables["measurements"][1] |= said


HOSTILE = {
    "nothing": lambda f: b"",
    "a pickle": lambda f: b"\x80\x04\x95\x0b\x00\x00\x00.",
    "compressed twice": lambda f: packed(members(f), zipfile.ZIP_DEFLATED),
    "a path": lambda f: packed(members(f) | {"../../evil": b"x"}),
    "cut off": lambda f: f.read_bytes()[:-200],
    "a changed part": lambda f: packed(members(f) | {MANIFEST: members(f)[MANIFEST] + b" "}),
    "less epsilon": lambda f: with_manifest(f, lambda d: d.update(epsilon=0.1)),
    "fewer charges": lambda f: with_manifest(f, lambda d: d.update(charges=d["charges"][:1])),
    "called private": lambda f: with_manifest(f, lambda d: d.update(schema_hash="0" * 64)),
    "another signature": lambda f: with_manifest(
        f, lambda d: d.update(signature={"algorithm": "ed25519", "key": "0" * 64, "value": "0" * 128})
    ),
    "other tables": lambda f: changed(f, **{MEASUREMENTS: gzip.compress(b'{"version": 2, "measurements": []}')}),
    "not a number": lambda f: with_tables(f, lambda t: first(t, values=[float("nan")] * 10)),
    "negative sigma": lambda f: with_tables(f, lambda t: first(t, sigma=-1.0)),
    "no noise": lambda f: with_tables(f, lambda t: first(t, sigma=0.0)),
    "less noise": lambda f: with_tables(f, lambda t: first(t, sigma=1e-3)),
    "another shape": lambda f: with_tables(f, lambda t: first(t, shape=[1 << 40, 1 << 40])),
    "a huge coarse value": lambda f: with_tables(f, lambda t: first(t, recodes={"sex": [0, 10**15]})),
    "a bomb": lambda f: changed(f, **{MEASUREMENTS: gzip.compress(b"[" + b"0," * (1 << 20) + b"0]")}),
    "a count whose square is no number": lambda f: with_tables(f, lambda t: first(t, values=[-1e300, 1.0])),
    "noise whose square is no number": lambda f: with_tables(f, lambda t: first(t, sigma=1e300)),
    "noise next to none": lambda f: with_tables(f, lambda t: first(t, sigma=1e-320)),
    "a score of no columns": lambda f: with_tables(
        f, lambda t: t.update(scores={"sets": [[]], "values": [1.0], "sigma": 1.0})
    ),
    "records beyond counting": lambda f: with_manifest(f, lambda d: d.update(n_records=10**60)),
    "epsilon beyond numbers": lambda f: with_manifest(f, lambda d: d.update(epsilon=1e308)),
    "a charge without noise": lambda f: with_manifest(f, lambda d: d["charges"][1].update(sigma=None)),
    "a sensitivity beyond numbers": lambda f: with_manifest(f, lambda d: d["charges"][1].update(sensitivity=1e308)),
    "cells beyond counting": lambda f: with_manifest(f, lambda d: d["charges"][1].update(cells=10**400)),
    "an index of anything": lambda f: changed(f, **{INDEX: b'{"version": 1, "columns": [1], "sha256": {}}'}),
}  # fmt: skip


def repeated(tables):
    tables["measurements"] *= 50


def joint(tables, sigma, of):
    axes = [{"attributes": [n], "recode": r} for n, r in (("sex", [0, 1]), ("city", [0, 0, 1, 1, 1]))]
    entry = {"axes": axes[:of], "law": "gaussian", "sigma": sigma, "shape": [2] * of, "values": [1.0] * 2**of}
    tables["joint"] = [entry]


def grown(tables, to=1e8):
    for m in tables["measurements"]:
        m["values"] = [to] * len(m["values"])


MORE_THAN_PAID = {
    "every table fifty times": (repeated, "or more often"),
    "one table twice": (lambda t: t["measurements"].append(t["measurements"][2]), "or more often"),
    "a joint table of exact counts": (lambda t: joint(t, 0.0, 1), "less noise"),
    "a joint table beside the one that was paid": (lambda t: joint(t, 1e3, 2), "or more often|lists no charge"),
    "exact scores": (lambda t: t["scores"].update(sigma=0.0), "scores of pairs"),
    "scores of less noise": (lambda t: t["scores"].update(sigma=t["scores"]["sigma"] / 2), "scores of pairs"),
    "a score twice": (
        lambda t: t["scores"].update(sets=[t["scores"]["sets"][0]] * len(t["scores"]["sets"])), "scores of pairs"
    ),
    "a view that is said to share its noise": (lambda t: first(t, shared="marginal sex"), "holds? more of"),
}  # fmt: skip


@pytest.mark.parametrize("kind", list(MORE_THAN_PAID))
@pytest.mark.parametrize("method", ["rls", "privsyn"])
def test_tables_that_say_more_than_was_paid_are_refused_and_never_verified(released, capsys, kind, method):
    change, said = MORE_THAN_PAID[kind]
    file = Path("more.dpsyn")
    file.write_bytes(with_tables(released(method), change))
    with pytest.raises(InputError, match=said):
        refit(file, rng=0)
    held = members(file)
    Path("more.json").write_bytes(held[MANIFEST])
    Path("more.m.json.gz").write_bytes(held[MEASUREMENTS])
    words = [f"{method}.csv", "--manifest", "more.json", "--measurements", "more.m.json.gz"]
    assert main(["verify", *words]) == 2
    assert "safe to publish" not in capsys.readouterr().out


def test_fourier_views_share_one_charge_and_no_view_comes_twice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = [{"name": n, "kind": "categorical", "values": ["n", "y"]} for n in "abcd"]
    Path("s.json").write_text(json.dumps({"version": 1, "name": "binary", "attributes": columns}))
    Path("t.csv").write_text(
        "a,b,c,d\n" + "".join(",".join("ny"[i >> k & 1] for k in range(4)) + "\n" for i in range(99))
    )
    words = "synth t.csv --schema s.json --epsilon 2 --delta 1e-6 --method priview --set strategy=fourier -o o.csv"
    assert main([*words.split(), "--set", "cover=3", "--save-release", "o.dpsyn", "--quiet"]) == 0
    assert refit("o.dpsyn", rng=1).arrow.num_rows
    for change in (lambda t: t["measurements"].append(t["measurements"][0]), lambda t: first(t, sigma=1e-3)):
        Path("more.dpsyn").write_bytes(with_tables(Path("o.dpsyn"), change))
        with pytest.raises(InputError, match="more of 'Fourier coefficients"):
            refit("more.dpsyn", rng=0)


@pytest.mark.parametrize(("method", "maker"), [("rls", None), ("mst", None), ("mst", "rls"), ("independent", "dpsyn")])
def test_more_records_than_a_run_may_write_are_refused_and_a_named_number_is_made(released, method, maker):
    file = Path("grown.dpsyn")
    file.write_bytes(with_tables(released(method), grown))
    for more in ({}, {"where": "city = A"}):
        with pytest.raises(InputError, match="name the number of records to make"):
            refit(file, rng=0, method=None if more else maker, **more)
    assert main(["refit", "grown.dpsyn", "-o", "no.csv", "--quiet"]) == 2
    file.write_bytes(with_tables(released(method), lambda t: grown(t, 1e13)))
    with pytest.raises(InputError, match="no run writes that many"):
        refit(file, rng=0, n_records=30)
    file.write_bytes(with_tables(released(method), grown))
    if (method, maker) == ("mst", None):  # its pairs were counted by what the one-ways said before
        with pytest.raises(InputError, match="were not counted as their one-ways"):
            refit(file, rng=0, n_records=30)
    else:
        assert refit(file, rng=0, method=maker, n_records=30).arrow.num_rows == 30


def test_settings_of_a_manifest_are_checked_like_those_of_a_user(released):
    file = Path("large.dpsyn")
    file.write_bytes(with_manifest(released("mst"), lambda d: d["settings"].update(max_model_size=1e9)))
    with pytest.raises(InputError, match="max_model_size"):
        refit(file, rng=0)


@pytest.mark.parametrize("kind", list(HOSTILE))
def test_a_hostile_file_is_refused_in_one_sentence(released, capsys, kind):
    file = Path("hostile.dpsyn")
    file.write_bytes(HOSTILE[kind](released("independent")))
    with pytest.raises(InputError):
        refit(file, rng=0)
    assert main(["refit", str(file), "-o", "no.csv", "--quiet"]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1 and "Traceback" not in message


def test_a_member_of_a_release_file_may_have_as_many_bytes_as_a_run_writes_and_no_more(released, monkeypatch):
    from dpsyn_core.runs import release_file

    file = released("independent")
    sizes = {name: len(content) for name, content in members(file).items()}
    monkeypatch.setattr(release_file, "MOST_BYTES", sizes)
    assert load_release(file).manifest.method == "independent"
    for name, size in sizes.items():
        monkeypatch.setattr(release_file, "MOST_BYTES", {**sizes, name: size - 1})
        with pytest.raises(InputError, match="more than a run writes"):
            load_release(file)


def test_more_numbers_than_a_run_writes_are_refused_before_they_are_parsed(released, monkeypatch):
    from dpsyn_core.estimate.marginals import released_file

    monkeypatch.setattr(released_file, "MOST_NUMBERS", 10)
    with pytest.raises(InputError, match="no run writes that many"):
        refit(released("independent"), rng=0)


def test_tables_of_others_become_records_whose_promise_is_stamped_as_theirs(folder, capsys):
    schema = {"version": 1, "name": "census", "attributes": json.loads(Path("s.json").read_text())["attributes"][:2]}
    Path("census.json").write_text(json.dumps(schema))
    ages = [f"{10 * i}-{10 * i + 9}" for i in range(10)]
    rows = [f"{s},{a},{100 + 20 * i + (5 if s == 'F' else 0)},4.5" for i, a in enumerate(ages) for s in "FM"]
    Path("census.csv").write_text("sex,age,count,sigma\n" + "\n".join([*rows, ",,3850,2"]) + "\n")
    words = "refit census.csv --schema census.json --by Statistics --epsilon 2.5 --delta 1e-10 --seed 1 -o made.csv"
    assert main(words.split()) == 0
    assert "NOT PRIVATE" in capsys.readouterr().err
    stated = Manifest.load(Path("made.manifest.json"))
    assert not stated.private and stated.refit.by == "Statistics" and not stated.charges
    assert "whose own statement is epsilon 2.5" in stated.guarantee
    found = read_table("made.NOT-PRIVATE.csv")
    assert abs(found.num_rows - 3850) < 40
    assert main(["verify", "made.NOT-PRIVATE.csv", "--manifest", "made.manifest.json", "--schema", "census.json"]) == 0
    assert main(["refit", "census.csv", "-o", "no.csv"]) == 2
    for wrong, said in [
        (rows[:-1], "by the schema it has 20"),
        ([*rows[:-1], rows[0]], "lists a cell twice"),
        ([*rows[:-1], rows[-1].replace("4.5", "-1")], "different sigma"),
        ([row.replace("4.5", "1e-320") for row in rows], "a table without noise"),
        ([r.replace("4.5", "0") for r in rows], "without noise"),
        ([*rows[:-1], "M,90-99,nan,4.5"], "blank or infinite"),
        ([*rows[:-1], "X,90-99,1,4.5"], "is no value of 'sex'"),
    ]:
        Path("wrong.csv").write_text("sex,age,count,sigma\n" + "\n".join(wrong) + "\n")
        assert main(words.replace("census.csv", "wrong.csv").split()) == 2
        assert said in capsys.readouterr().err


def test_a_release_of_a_run_that_is_not_private_stays_so(folder):
    drafted = json.loads(Path("s.json").read_text())
    drafted["attributes"][0]["source"] = "data"
    Path("d.json").write_text(json.dumps(drafted))
    words = "synth t.csv --schema d.json --epsilon 1 --delta 1e-6 -o d.csv --save-release d.dpsyn --method independent"
    assert main([*words.split(), "--quiet"]) == 0
    made = refit("d.NOT-PRIVATE.dpsyn", rng=0)
    assert not made.manifest.private and made.manifest.not_private_because


@pytest.mark.parametrize("method", ["mst", "dpsyn", "rls"])
def test_a_further_rule_that_could_compute_a_measured_column_leaves_it_measured(released, method):
    rule = {"kind": "follows", "column": "age", "of": ["sex"], "map": [["F", 31], ["M", 47]]}
    made = refit(released(method), rng=1, rules=[rule])
    table = frame(made.arrow)
    assert made.manifest.refit.method == method
    assert {*zip(table.sex, table.age, strict=True)} == {("F", 31), ("M", 47)}
