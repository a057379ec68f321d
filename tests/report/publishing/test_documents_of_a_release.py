"""Croissant, the entry of the registry and the NIST page say what the manifest says, and others' programs read them."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import InputError, OutputError, ReceiptError
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.manifest.statement import Booking, UsedTable
from dpsyn_core.report.publishing.croissant import CONFORMS, Publication, croissant, responsible
from dpsyn_core.report.publishing.nist import nist_page
from dpsyn_core.report.publishing.registry import Person, entry, file_name, to_yaml
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.digest import file_digest
from tests.commands.small import SCHEMA, write_table
from tests.privacy.test_manifest import manifest

# the registry's fields as of July 2026: which there are in each part, and which of them have to be there
FIELDS = {
    "basic": "name data_curators description intended_use data_product_type data_product_region data_product_sector "
    "publication_date",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details number_of_privacy_units privacy_parameters "
    "privacy_parameters_details",
    "deployment_model": "model_name model_name_details trust_assumptions actors release_type release_type_details "
    "data_source_type data_source_type_details access_type access_type_details",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms composition post_processing justification "
    "utility additional_information",
    "administrative": "evidence_sources status registry_authors tier",
}  # fmt: skip
NEEDED = {"basic": set(FIELDS["basic"].split()) - {"data_product_sector"}}
NEEDED["administrative"] = {"status", "registry_authors", "tier"}
CHOICES = {
    "data_product_type": {"Synthetic data"},
    "variant_name": {"Pure DP", "Approximate DP"},
    "model_name": {"Central"},
    "release_type": {"One release"},
    "data_source_type": {"Static"},
    "access_type": {"Non-interactive"},
    "status": {"Draft"},
}
PERSON = Person(
    curator="Office: of 'Numbers'", kind="Government", use="Teaching", region="Nowhere", author="A. Person",
    published="2026-07-31",
)  # fmt: skip
WORDS = {"licence": "https://example.org/licence", "url": "https://example.org/t", "creator": "Office"}
SAID = Publication(**WORDS, published="x")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A release of people, as a CSV with its manifest and schema."""
    folder = tmp_path_factory.mktemp("release")
    write_table(folder / "people.csv")
    Schema.of(SCHEMA).dump(folder / "schema.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYN_HOME", str(folder / "home"))
        patch.chdir(folder)
        words = (
            "synth people.csv --schema schema.json --epsilon 1 --delta 1e-9 --quiet --method independent --out s.csv"
        )
        assert main(words.split()) == 0
    return folder


def described(folder, **changes):
    schema = Schema.load(folder / "schema.json")
    said = Publication(**WORDS, published="2026-07-31", **changes)
    return croissant({"people": folder / "s.csv"}, folder / "s.manifest.json", schema, said)


def test_every_document_names_the_public_table_whose_records_nothing_protects(place):
    """Where a run learnt from a public table, its records were made of more than noisy values."""
    used = UsedTable(name="last.csv", sha256="cd" * 32, n_records=40, columns=("sex",))
    with_one = manifest(public_table=used)
    made = entry(with_one, PERSON)["deployment"]
    shown = {
        "registry": made["dp_variant"]["unprotected_quantities"], "nist": nist_page(with_one),
        "croissant": responsible(with_one)["rai:personalSensitiveInformation"],
    }  # fmt: skip
    for name, text in shown.items():
        assert "'last.csv'" in text and "not protected" in text, name
    claims = (
        made["implementation"]["post_processing"], nist_page(with_one), responsible(with_one)["rai:dataCollection"],
    )  # fmt: skip
    for text in claims:
        assert "released values alone" not in text and "made from those alone" not in text
        assert "the public table" in text
    assert "public table" not in json.dumps(entry(manifest(), PERSON)) + nist_page(manifest())
    assert "made from those alone" in responsible(manifest())["rai:dataCollection"]


def test_croissant_does_not_promise_that_no_record_is_that_of_a_person(place):
    assert "person" not in described(place)["recordSet"][0]["description"]


def test_croissant_names_the_digest_of_the_file_every_column_and_the_promise(place):
    document = described(place)
    assert document["conformsTo"] == CONFORMS
    table, made = document["distribution"]
    assert table["sha256"] == file_digest(place / "s.csv")
    assert made["sha256"] == file_digest(place / "s.manifest.json")
    fields = document["recordSet"][0]["field"]
    header = (place / "s.csv").read_text("utf-8").splitlines()[0].split(",")
    assert [f["source"]["extract"]["column"] for f in fields] == header
    assert [f["dataType"] for f in fields] == ["sc:Text", "sc:Integer", "sc:Float", "sc:Text"]
    promise = Manifest.load(place / "s.manifest.json").guarantee
    assert promise in document["rai:personalSensitiveInformation"] and promise in document["description"]


def test_the_library_of_croissant_reads_the_document_and_the_records(place, monkeypatch):
    mlcroissant = pytest.importorskip("mlcroissant")
    (place / "s.croissant.json").write_text(json.dumps(described(place)), encoding="utf-8")
    found = mlcroissant.Dataset(str(place / "s.croissant.json"))
    assert not found.metadata.issues.errors and not found.metadata.issues.warnings
    records = list(found.records("records"))
    assert len(records) == Manifest.load(place / "s.manifest.json").n_records
    assert isinstance(records[0]["records/age"], int)


def test_any_header_and_any_file_name_give_a_document_that_the_library_takes(tmp_path, monkeypatch):
    mlcroissant = pytest.importorskip("mlcroissant")
    names = ["visit date", "visit_date", "a/b", "Größe, cm", "x#1?", "'q' \"r\"", "50 %"]
    listed = [{"name": n, "kind": "categorical", "values": ["u", "v"]} for n in names]
    Schema.of({"version": 1, "name": "odd names & more", "attributes": listed}).dump(tmp_path / "schema.json")
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *[["u", "v"] * 3 + ["u"]] * 40])
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    budget = ("--epsilon", "1", "--delta", "1e-9", "--method", "independent", "--quiet")
    assert main(["synth", "t.csv", "--schema", "schema.json", *budget, "--out", "my table.csv"]) == 0
    schema, said = Schema.load(tmp_path / "schema.json"), Publication(published="2026-07-31", **WORDS)
    document = croissant({"t": tmp_path / "my table.csv"}, tmp_path / "my table.manifest.json", schema, said)
    (tmp_path / "c.json").write_text(json.dumps(document), encoding="utf-8")
    found = mlcroissant.Dataset(str(tmp_path / "c.json"))
    assert not found.metadata.issues.errors
    record = next(iter(found.records("records")))
    assert len(record) == len(names) and {str(v) for v in record.values()} <= {"b'u'", "b'v'"}


def test_a_table_that_is_not_the_release_is_not_described(place, tmp_path):
    for path in place.glob("s*.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with (tmp_path / "s.csv").open("a", encoding="utf-8") as file:
        file.write("F,1,1,c\n")
    with pytest.raises(ReceiptError, match="not the table"):
        described(tmp_path)
    other = SCHEMA | {"name": "others"}
    Schema.of(other).dump(place / "other.json")
    with pytest.raises(ReceiptError, match="schema is not the one"):
        croissant({"s": place / "s.csv"}, place / "s.manifest.json", Schema.load(place / "other.json"), SAID)
    with pytest.raises(OutputError, match=r"\.csv"):
        croissant({"s": place / "s.xlsx"}, place / "s.manifest.json", Schema.load(place / "schema.json"), SAID)


def fits(document):
    """What of an entry the registry would refuse."""
    assert set(document) == {"url_slug", "deployment"}
    wrong = []
    assert set(document["deployment"]) <= set(FIELDS)
    for part, fields in document["deployment"].items():
        wrong += [f"{part}.{f}" for f in set(fields) - set(FIELDS[part].split())]
        wrong += [f"{part}.{f} is missing" for f in NEEDED.get(part, set()) - set(fields)]
        wrong += [f for f, v in fields.items() if f in CHOICES and v not in CHOICES[f]]
    return wrong


@pytest.mark.parametrize("delta", [1e-9, 0.0])
def test_the_entry_has_the_fields_of_the_registry_and_the_numbers_of_the_manifest(delta):
    m = manifest() if delta else manifest(**pure())
    document = entry(m, PERSON)
    assert fits(document) == []
    read = yaml.safe_load(to_yaml(document))
    assert read == json.loads(json.dumps(document))
    loss = read["deployment"]["privacy_loss"]["privacy_parameters"]
    assert loss == {"epsilon": 1.0} | ({"delta": 1e-9} if delta else {})
    assert read["deployment"]["dp_variant"]["variant_name"] == ("Approximate DP" if delta else "Pure DP")
    assert re.fullmatch(r"[a-z0-9_]+\.yaml", file_name(m))


def pure():
    from dpsyn_core.privacy.budget import Budget
    from dpsyn_core.privacy.charge import Charge

    one = Charge(name="total", mechanism="geometric", sensitivity=1.0, scale=1.0, cells=1, rho=0.5, epsilon=1.0)
    return {"budget": Budget(epsilon=1.0, delta=0.0), "charges": [one]}


def test_a_registry_entry_with_a_field_that_is_not_known_would_be_found():
    document = entry(manifest(), PERSON)
    document["deployment"]["basic"]["surprise"] = 1
    del document["deployment"]["administrative"]["tier"]
    assert fits(document) == ["basic.surprise", "administrative.tier is missing"]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine draws slowly
@given(st.dictionaries(st.from_regex(r"[a-z_]{1,9}", fullmatch=True), st.text() | st.floats(allow_nan=False,
       allow_infinity=False) | st.integers() | st.lists(st.text(), min_size=1), min_size=1))  # fmt: skip
def test_any_text_comes_back_from_yaml(document):
    document = json.loads(json.dumps(document).encode("utf-8", "replace"))
    assert yaml.safe_load(to_yaml({f"k_{k}": v for k, v in document.items()})) == {
        f"k_{k}": v for k, v in document.items()
    }


def test_no_entry_without_a_guarantee_and_nothing_is_guessed(tmp_path, monkeypatch, capsys):
    with pytest.raises(InputError, match="NOT PRIVATE"):
        entry(manifest(reasons=["somebody looked"]), PERSON)
    monkeypatch.chdir(tmp_path)
    manifest().dump(Path("m.json"))
    assert main(["registry", "m.json", "--curator", "Office"]) == 2
    assert "add --use TEXT, --region TEXT, --author TEXT" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.json"]


def test_what_only_a_person_knows_is_asked_for_on_a_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    manifest().dump(Path("m.json"))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda asked: f"said to '{asked.strip(': ')}'")
    assert main(["registry", "m.json", "--published", "2026-07-31"]) == 0
    found = yaml.safe_load(Path("census.yaml").read_text("utf-8"))
    assert found["deployment"]["basic"]["intended_use"] == "said to 'what the table is for'"
    assert main(["registry", "m.json", "--published", "tomorrow"]) == 2
    assert "write it as 2026-07-31" in capsys.readouterr().err


def test_the_nist_page_has_an_answer_or_an_owner_for_every_item():
    page = nist_page(manifest(booking=Booking("a|b <script>`", "r1")))
    rows = [r for r in page.splitlines() if r.startswith("| ")][1:]
    assert len(rows) == 17
    assert all(len(r.split(" | ")) == 3 and (r.split(" | ")[1].strip() or "owner" in r) for r in rows)
    assert "epsilon 1, delta 1e-09" in page
    assert "a/b (script)'" in page and "<script>" not in page
    assert nist_page(manifest(reasons=["somebody looked"])).startswith("# NOT PRIVATE")
    guide = (
        (Path(__file__).parents[3] / "docs" / "guarantee.md").read_text("utf-8").split("## Where each item of NIST")[1]
    )
    listed = re.findall(r"^\| ([a-z][^|]+?) \| ", guide.split("\n## ")[0], re.MULTILINE)
    covered = {r.split(" | ")[0].removeprefix("| ") for r in rows}
    assert set(listed) - covered == {"item", "utility", "bias", "variants of the definition"}
    assert covered - set(listed) == {"utility and bias", "variant of the definition"}


def test_describe_writes_three_documents_beside_the_table(place):
    words = ("describe", "s.csv", "--schema", "schema.json", "--licence", "CC-BY", "--url", "https://example.org/t")
    done = subprocess.run(
        [sys.executable, "-m", "dpsyn_core.commands.cli", *words, "--curator", "Office"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((place / "s.croissant.json").read_text("utf-8"))["license"] == "CC-BY"
    assert (place / "s.certificate.txt").read_text("utf-8").startswith("DIFFERENTIAL PRIVACY CERTIFICATE")
    assert "| epsilon and delta | epsilon 1" in (place / "s.nist-800-226.md").read_text("utf-8")
