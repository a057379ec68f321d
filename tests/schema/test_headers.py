"""Headers that name a person or a thing of a person's, and values that do: nobody is taken for one row silently."""

import json
import warnings

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import dpsyn_core
from benchmarks.header_lists import IDENTIFYING, LATER, ORDINARY, SCHEMAS, TABLES, THIRD
from benchmarks.headers import alarms, listed, missed, of_tables
from dpsyn_core.commands.cli import main
from dpsyn_core.errors import SchemaError, UnitWarning
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.individual_words import named_by
from dpsyn_core.schema.individuals import candidates, coded, looked_at
from dpsyn_core.tables import headers

UNKNOWN_ONCE = (  # each was asked of nobody
    "account_no card_number mrn participant phone iban patient_number employee_no vin passport bsn nino Kundennummer"
    " Patientennummer Personalnummer Versichertennummer"
)
OVERLOOKED = (  # of kinds that were unknown: signs for number, abbreviations, addresses, hidden, national, of trials
    "KVNR, SVNR, Krankenkassennummer, Policy#, Acct#, Emp#, N°Client, PatientNr., EmailAddr, addr_line1, Strasse, "
    "Straße_Haus-Nr, Street_Hausnr, DriversLicense, agentLicense, cc_num, CCNumber, num_tdc, ac_no, "
    "IBAN_Empfaenger, iban_code, EMPLID, USUBJID, SUBJID, PTID, patid, hospno, hosp_no, user_fk, client_hash, "
    "email_sha256, NRIC, CUIT, NIS, DPI, phn, Fødselsnummer, PESEL, JMBG, henkilötunnus, personnummer, CPRnr, "
    "isikukood, pps_no, kimlik_no, inn_number, pan, addhaar_num, frequent_flyer_no, client_ip, reviewerName, "
    "cartão_sus, k_nummer, contato, clave_alu, ap_materno, kontoinhaber, notfall_name, NOM_ADHERANT, "
    "ADRESSE_ADHERANT, A_LOGIN, nom_adh, gsm_adh, email_adh, Formno, cname, nominee, PATIENTid, mob_no, func_id, "
    "mbr_no, cli_no, usr_id, pt_no"
)
PUBLIC = (  # of things that everybody knows, or words of a second meaning
    "RatecodeID, imdbId, tmdbId, id_statut, product_id, station_id, film_rate_id, airport_id, geoid, isbn, dpi, sin, "
    "sin_theta, nis_rate, inn, street, street_type, via, adr, citric acid, former, hash_rate, ip_protocol, "
    "phone_owner, format, function, status"
)


def share(counted):
    return 1 - len(counted.wrong) / counted.headers


@pytest.mark.parametrize("half", [0, 1], ids=["written on", "held out"])
@pytest.mark.parametrize("language", IDENTIFYING)
def test_headers_of_every_language_that_name_a_person_are_known(language, half):
    assert share(missed(listed(IDENTIFYING[language][half]))) >= 0.9


def test_headers_of_public_schemas_that_name_a_person_are_mostly_known():
    assert share(missed(listed(SCHEMAS[0]))) >= 0.9
    assert share(missed(listed(LATER[0]))) >= 0.75


def test_headers_of_kinds_that_were_overlooked_are_known_and_those_of_public_things_are_not():
    assert missed(listed(OVERLOOKED)).wrong == ()
    assert alarms(listed(PUBLIC)).wrong == ()
    assert share(missed(listed(THIRD[0]))) >= 0.65 and share(alarms(listed(THIRD[1]))) >= 0.9


def test_the_lists_are_as_large_as_is_said_of_them():
    assert sum(len(listed(half)) for halves in IDENTIFYING.values() for half in halves) >= 300
    assert len(TABLES) >= 60 and set(UNKNOWN_ONCE.split()) <= {h for a, _ in IDENTIFYING.values() for h in listed(a)}


def test_ordinary_headers_of_public_tables_are_hardly_ever_taken_for_a_persons():
    ordinary, naming = of_tables()
    assert len(ordinary.wrong) <= 3 and ordinary.headers > 1000
    assert share(naming) >= 0.8
    assert len(alarms(listed(ORDINARY)).wrong) <= 1
    assert len(alarms(listed(SCHEMAS[1]) + listed(LATER[1])).wrong) <= 2


@pytest.mark.parametrize(
    ("header", "what"),
    [
        ("patientNo", "person"), ("n° de client", "person"), ("Kunden-Kennzeichen", "thing"), ("KONTO_NR", "thing"),
        ("Führerscheinnummer", "thing"), ("prénom", "thing"), ("nom du patient", "name"), ("card_type", ""),
        ("Nr ucznia", "person"), ("Číslo zákazníka", "person"), ("Kundnummer", "person"), ("Öğrenci No", "person"),
        ("elev", ""), ("number_of_accounts", ""),
        ("Kundengruppe", ""), ("accident", ""), ("citric acid", ""), ("", ""), ("123", ""),
    ],
)  # fmt: skip
def test_words_are_found_in_every_way_of_writing_and_what_they_are_is_said(header, what):
    assert named_by(header) == what


def test_persons_come_before_their_things_and_names():
    columns = [{"name": n, "kind": "ignored"} for n in ("last_name", "iban", "patient_no")]
    schema = Schema.of(
        {"version": 1, "name": "t", "attributes": [*columns, {"name": "sex", "kind": "categorical", "values": ["F"]}]}
    )
    assert candidates(schema) == ["patient_no", "iban", "last_name"]


@pytest.mark.parametrize("answers", [["no", "yes"], [False, True], ["Non", "Oui"], [0, 1]])
def test_a_column_of_usual_answers_names_nobody_whatever_its_header_says(answers):
    columns = [{"name": "member", "kind": "categorical", "values": answers}, {"name": "client", "kind": "ignored"}]
    assert candidates(Schema.of({"version": 1, "name": "t", "attributes": columns})) == ["client"]
    columns[0]["values"] = ["gold", "silver"]
    assert candidates(Schema.of({"version": 1, "name": "t", "attributes": columns})) == ["member", "client"]


ROWS = 240
CODED = {
    "codes": [f"P-{i // 3:05d}" for i in range(ROWS)],
    "long numbers": [str(61_234_567 + 7919 * (i // 3)) for i in range(ROWS)],
    "accounts": [f"DE{12_345_678_901_234_567_890 + 7919 * (i // 3)}" for i in range(ROWS)],
    "mail": [f"a{i // 3}@example.org" for i in range(ROWS)],
}
PLAIN = {
    "amounts": [str(100_000 + 2500 * (i // 3)) for i in range(ROWS)],
    "days": [f"2024{1 + i % 12:02d}{1 + i % 28:02d}" for i in range(ROWS)],
    "small numbers": [str(17 + i % 80) for i in range(ROWS)],
    "words": [f"town {'abcdefgh'[i % 8]}" for i in range(ROWS)],
    "codes of every row": [f"P-{i:05d}" for i in range(ROWS)],
    "codes of groups": [f"G{100 + i % 2}" for i in range(ROWS)],
}


def ended(stems, weights, base, signs="0123456789X"):
    """Numbers with a check digit, each in three rows."""
    cells = []
    for stem in stems:
        checked = sum(int(c) * weights[i % len(weights)] for i, c in enumerate(stem))
        cells += [stem + signs[-checked % base]] * 3
    return cells


STEMS = [f"{i * 7919 % 10**9:09d}" for i in range(1, ROWS // 3 + 1)]
CODED |= {
    "patients of the NHS": [c for c in ended(STEMS, range(10, 1, -1), 11) if c[-1] != "X"],
    "Swiss insured": ended([f"756{s}" for s in STEMS], (1, 3), 10),
    "cards of a shop": ended([f"290{s}" for s in STEMS], (1, 3), 10),
    "French insured men": [f"1{50 + i // 3 % 40}0{1 + i // 3 % 9}75{i // 3:06d}" for i in range(ROWS)],
}
PLAIN |= {
    "books": ended(STEMS, range(10, 1, -1), 11),
    "later books": ended([f"978{s}" for s in STEMS], (1, 3), 10),
    "goods": ended([f"400{s}" for s in STEMS], (1, 3), 10),
    "postcodes": [f"{10_000 + 7 * (i // 3)}-{1000 + i // 3}" for i in range(ROWS)],
}


@pytest.mark.parametrize(
    ("header", "cells", "found"),
    [
        ("population", [str(612_345 + 79 * (i // 3)) for i in range(ROWS)], False),
        ("net_income", [str(612_345 + 79 * (i // 3)) for i in range(ROWS)], False),
        ("created", [str(1_700_000_000_123 + 7919 * (i // 3)) for i in range(ROWS)], False),
        ("income_ref", [str(612_345 + 79 * (i // 3)) for i in range(ROWS)], True),
        ("value", CODED["codes"], True),
    ],
)
def test_long_numbers_under_a_measure_are_amounts_and_codes_are_still_codes(header, cells, found):
    assert coded(pa.table({header: cells}), [header]) == (header if found else None)


@pytest.mark.parametrize("header", ["geoid", "isbn", "StockCode", "aircraft", "zip4", "timestamp"])
def test_values_under_a_header_of_a_public_thing_are_not_read(header):
    columns = [{"name": header, "kind": "categorical", "values": ["A1"]}]
    assert looked_at(Schema.of({"version": 1, "name": "t", "attributes": columns})) == []


@pytest.mark.parametrize("what", [*CODED, *PLAIN])
def test_codes_and_long_numbers_that_repeat_are_told_from_amounts_days_and_groups(what):
    table = pa.table({"x": CODED.get(what) or PLAIN[what]})
    assert coded(table, ["x"]) == ("x" if what in CODED else None)


def test_the_headers_of_a_wide_table_are_compared_once_and_not_for_each_of_its_columns(monkeypatch):
    table, compared = pa.table({f"x{i}": ["1", "2", "3"] for i in range(40)}), []
    monkeypatch.setattr(headers, "composed", lambda name, real=headers.composed: compared.append(name) or real(name))
    assert coded(table, table.column_names) is None
    assert len(compared) == 80  # 40 of the table, and 40 that are looked for


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def people(header, cells):
    return pa.table({header: cells, "sex": ["F", "M"] * (ROWS // 2), "age": [str(20 + i % 50) for i in range(ROWS)]})


BY_HEADER = people("account_no", [str(i % 50) for i in range(ROWS)])
BY_VALUES = people("stamp", CODED["codes"])
NEITHER = people("region", PLAIN["words"])


@pytest.mark.parametrize(("table", "column"), [(BY_HEADER, "account_no"), (BY_VALUES, "stamp"), (NEITHER, None)])
def test_in_python_a_draft_warns_and_leaves_the_unit_undecided(folder, table, column):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        schema = dpsyn_core.draft_schema(table, "t")
    said = [str(w.message) for w in caught if w.category is UnitWarning]
    assert schema.unit_from_data == bool(said) == (column is not None)
    if column is not None:
        assert f"'{column}'" in said[0] and "P-00001" not in said[0]
        sure = dpsyn_core.confirm_schema(schema, schema.from_data)
        assert not sure.private, "that each record is one individual is not confirmed with the columns"
        assert dpsyn_core.confirm_schema(sure, unit=True).private
        warnings.simplefilter("error")
        assert not dpsyn_core.draft_schema(table, "t", identifier=column).unit_from_data


@pytest.mark.parametrize(("table", "column"), [(BY_HEADER, "account_no"), (BY_VALUES, "stamp"), (NEITHER, None)])
def test_in_the_shell_a_draft_says_one_line_and_writes_the_unit_as_unconfirmed(folder, capsys, table, column):
    pacsv.write_csv(table, folder / "t.csv")
    assert main(["schema", "draft", "t.csv", "-o", "s.json"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "who is one individual is not decided" in line]
    assert len(said) == (column is not None)
    unit = json.loads((folder / "s.json").read_text())["unit"]
    assert unit["source"] == ("public" if column is None else "data")
    if column is None:
        return
    assert f"'{column}'" in said[0] and "P-0" not in said[0]
    assert main(["schema", "confirm", "s.json", *Schema.load("s.json").from_data]) == 0
    assert (
        "left: nobody has said who is one individual" in capsys.readouterr().out and not Schema.load("s.json").private
    )
    assert main(["schema", "confirm", "s.json", "--unit"]) == 0
    assert Schema.load("s.json").private
    named = ["--identifier", column, "--max-records", "5"]
    assert main(["schema", "draft", "t.csv", "-o", "s.json", *named]) == 0
    assert "not decided" not in capsys.readouterr().err and not Schema.load("s.json").unit_from_data


def test_the_shell_shows_what_was_read_before_it_confirms_and_confirms_what_is_named(folder, capsys):
    pacsv.write_csv(NEITHER, folder / "t.csv")
    assert main(["schema", "draft", "t.csv", "-o", "s.json"]) == 0
    said = capsys.readouterr().err
    assert "the range of 'age'" in said and "20" not in said, "a draft prints no value"
    before = (folder / "s.json").read_bytes()
    assert main(["schema", "confirm", "s.json"]) == 0
    said = capsys.readouterr().out
    assert "to check: 'age', integer from 0 to 120" in said and "to check: 'sex', categorical: M, F" in said
    assert "nothing was confirmed" in said and (folder / "s.json").read_bytes() == before
    assert main(["schema", "confirm", "s.json", "sex", "-o", "o.json"]) == 0
    assert Schema.load("o.json").from_data == ("region", "age") and (folder / "s.json").read_bytes() == before
    assert main(["schema", "confirm", "s.json", "nobody"]) == 2
    assert main(["schema", "confirm", "s.json", "--everything"]) == 0
    assert Schema.load("s.json").private


def test_python_confirms_what_is_named_or_what_is_claimed_and_nothing_by_default():
    schema = dpsyn_core.draft_schema(NEITHER, "t")
    with pytest.raises(SchemaError, match="nothing is named to be confirmed"):
        dpsyn_core.confirm_schema(schema)
    with pytest.raises(SchemaError, match="nothing is named to be confirmed"):
        dpsyn_core.confirm_schema(schema, [])
    assert dpsyn_core.confirm_schema(schema, "sex").from_data == ("region", "age")
    assert dpsyn_core.confirm_schema(schema, everything=True).private
    assert "never seen the table" in (dpsyn_core.confirm_schema.__doc__ or "")
