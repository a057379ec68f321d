"""PostgreSQL with a real server: the same table as from its CSV export, read only, and no password anywhere."""

import json
import logging

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import TableError
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.tables.databases import batches as readers
from dpsyn_core.tables.databases.batches import database_batches
from dpsyn_core.tables.databases.database import Database
from dpsyn_core.tables.databases.postgresql import PostgreSQL
from tests.audit.recordwise import COLUMNS, Chance, chosen_by, compared
from tests.postgresql import PASSWORD, WRITTEN, Postgresql
from tests.tables.reading import of_database, read, read_database
from ui.data import databases, loading
from ui.shared import access
from ui.shared.state import Workspace

pytestmark = pytest.mark.postgresql
AWKWARD = 'Größe & "Co". Leute'
QUOTED = '"' + AWKWARD.replace('"', '""') + '"'
MADE = f"""
CREATE TYPE mood AS ENUM ('calm', 'very "loud", indeed');
CREATE TABLE {QUOTED} (
  "id" bigint, "name, first" text, "Größe (m)" numeric(5,2), price numeric, ratio double precision, born date,
  seen timestamptz, at time, member boolean, kind mood, tag uuid, code char(3), ip inet, "=sum(1)" text
);
INSERT INTO {QUOTED} VALUES
  (1, 'Zoë "Z", O''Hara', 1.50, 12345678901234567890.123456789, 0.1, '2020-01-31', '2020-01-31 10:00:00+02', '10:30',
   true, 'calm', '00000000-0000-0000-0000-000000000001', '007', '10.0.0.1', '=1+1'),
  (9007199254740993, E'two\\nlines', 20.00, 'NaN', 1e300, 'infinity', '2020-06-30 12:00:00.25+00', '00:00:00.5',
   false, 'very "loud", indeed', '00000000-0000-0000-0000-000000000002', 'ab', '::1', '-'),
  (NULL, '', NULL, NULL, 'NaN', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (-3, '漢字 😀 NA', 0, 1e-20, '-Infinity', '0044-03-15 BC', '0099-01-01', '23:59:59', true, 'calm', NULL, '   ',
   NULL, 'null');
CREATE TABLE people (city text, age integer);
INSERT INTO people SELECT CASE i % 3 WHEN 0 THEN 'Málaga' WHEN 1 THEN 'Cádiz' END, i % 90
  FROM generate_series(1, 120000) i;
CREATE VIEW adults AS SELECT * FROM people WHERE age >= 18;
CREATE SCHEMA other; CREATE TABLE other.people AS SELECT 2 AS id;
CREATE TABLE nested (a integer[], b json, c bytea, d people);
INSERT INTO nested VALUES ('{{1,2}}', '{{"x": 1}}', '\\x00ff', ROW('Jaén', 1));
CREATE TABLE empty (a integer);
CREATE SEQUENCE counter;
"""
CITY = {"name": "city", "kind": "categorical", "values": ["Málaga", "Cádiz"], "missing": True}
AGE = {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "bins": {"count": 10}}


@pytest.fixture(scope="module")
def server():
    made = Postgresql()
    with made.connect() as connection:
        connection.execute(MADE)
    yield made
    made.stop()


@pytest.fixture
def base(server):
    return Database.of(server.address)


def exported(server, tmp_path, what):
    """The same records as the server's own CSV export, read as any other file."""
    path = tmp_path / "export.csv"
    copied = f"COPY ({what}) TO STDOUT (FORMAT csv, HEADER)"
    with server.connect() as connection, connection.cursor().copy(copied) as copy, path.open("wb") as file:
        file.writelines(copy)
    return read(path, multiline=True).table  # some cells hold line ends


def refusal(database, **what):
    with pytest.raises(TableError) as error:
        read_database(database, **what)
    text = str(error.value)
    assert "\n" not in text
    for private in (PASSWORD, WRITTEN, "secret", "anna", "Zoë", "Málaga"):
        assert private not in text
        assert private not in repr(error.value.__cause__ or "")
    return text


def test_tables_views_and_other_schemas_are_listed(base):
    assert set(base.tables()) == {AWKWARD, "adults", "empty", "nested", "other.people", "people"}
    assert read_database(base, table="other.people").to_pydict() == {"id": ["2"]}
    assert (
        read_database(base, table="adults", vouched=True).num_rows
        < read_database(base, table="people").num_rows
        == 120_000
    )


def test_awkward_names_types_and_cells_read_like_the_csv_export(base, server, tmp_path):
    table = read_database(base, query=f"SELECT * FROM {QUOTED}")
    export = exported(server, tmp_path, f"SELECT * FROM {QUOTED}")
    assert table.column_names == export.column_names
    blank = {name: ["" if v is None else v for v in cells] for name, cells in table.to_pydict().items()}
    assert blank == {name: ["" if v is None else v for v in cells] for name, cells in export.to_pydict().items()}
    cells = table.to_pydict()
    assert cells["id"] == ["1", "9007199254740993", None, "-3"]
    assert cells["price"] == ["12345678901234567890.123456789", "NaN", None, "0.00000000000000000001"]
    assert cells["born"] == ["2020-01-31", "infinity", None, "0044-03-15 BC"]
    assert cells["name, first"][1:3] == ["two\nlines", ""]
    assert draft(table, "t").model_dump() == draft(export, "t").model_dump()


def test_codes_are_those_of_the_csv_export(base, server, tmp_path):
    """Read by one public schema: numbers without a value, endless dates and NULL included."""
    columns = [
        {"name": "id", "kind": "numeric", "dtype": "integer", "min": -10, "max": 9007199254740993,
         "bins": {"count": 7}, "missing": True},
        {"name": "Größe (m)", "kind": "numeric", "dtype": "float", "min": 0, "max": 30, "bins": {"count": 6},
         "missing": True},
        {"name": "born", "kind": "datetime", "min": "1900-01-01", "max": "2029-12-31", "bins": {"count": 9},
         "missing": True},
        {"name": "member", "kind": "categorical", "values": ["f", "t"], "missing": True},
        {"name": "kind", "kind": "categorical", "values": ["calm", 'very "loud", indeed'], "missing": True},
        {"name": "code", "kind": "categorical", "values": ["007"], "other": True, "missing": True},
    ]  # fmt: skip
    codec = Codec(Schema.of({"version": 1, "name": "t", "attributes": columns}))
    kept = f"SELECT * FROM {QUOTED} WHERE born IS NULL OR born < 'infinity' AND born > '1900-01-01'"
    codes = codec.encode(read_database(base, query=kept)).codes
    assert codes.shape == (6, 2)
    assert codes.tolist() == codec.encode(exported(server, tmp_path, kept)).codes.tolist()


def test_records_come_in_batches(base, monkeypatch):
    whole = read_database(base, table="people")
    monkeypatch.setattr(readers, "batch_records", lambda _: 7_000)
    table = read_database(base, table="people")
    assert table.column("age").num_chunks == 18 and table.equals(whole)
    assert read_database(base, query="SELECT age FROM people", most=120_000).num_rows == 120_000
    assert "more than 119,999" in refusal(base, query="SELECT age FROM people", most=119_999)


@pytest.mark.parametrize("what", [{"table": AWKWARD}, {"query": "SELECT * FROM people"}, {"table": "empty"}])
def test_batches_are_the_table_in_parts(base, what):
    batches = database_batches(base, of_database(**what), counted=True)
    whole = read_database(base, **what)
    assert batches.columns == tuple(whole.column_names)
    assert batches.records == whole.num_rows
    parts = list(batches.read())
    assert [row for part in parts for row in part.to_pylist()] == whole.to_pylist()


def test_requests_that_cannot_be_served_are_one_sentence_without_password_or_cells(base, server):
    assert "refused" in refusal(base, table="nobody")
    assert "refused" in refusal(base, table="PEOPLE")
    assert "refused" in refusal(base, query="SELECT nothing FROM people")
    assert "refused" in refusal(base, query="SELECT city::integer AS c FROM people")
    assert read_database(base, table="empty").num_rows == 0
    assert "SELECT" in refusal(base, query="SELECT 1; DROP TABLE people")
    assert "same header" in refusal(base, query="SELECT age, city AS age FROM people")
    for column in "abcd":
        assert f"'{column}'" in refusal(base, query=f"SELECT {column} FROM nested")
        assert f"'{column}'" in refusal(base, table="nested", columns=column)
    wrong = server.address.replace(WRITTEN, "secret")
    assert "user and password" in refusal(Database.of(wrong), table="people")
    assert "/nowhere cannot be opened" in refusal(Database.of(server.address.replace("/shop", "/nowhere")), table="t")
    port = f":{server.port}/"
    assert "cannot be opened" in refusal(Database.of(server.address.replace(port, ":1/")), table="people")
    for odd in ("?password=secret&nonsense=1", "?port=secret"):
        assert "cannot be opened" in refusal(Database.of(server.address + odd), table="people")
    # not written as an address should be: what is host and what password cannot be told
    for raw in ("kept/secret", "kept#secret", "12?secret", "12/secret"):
        assert "the PostgreSQL database" in refusal(Database.of(f"postgresql://anna:{raw}@127.0.0.1/shop"), table="t")
    with pytest.raises(TableError, match="given as an address"):
        Database.of(f"host=127.0.0.1 dbname=shop password={PASSWORD}")
    assert "secret" not in repr(base)


def test_a_password_may_stand_in_the_environment_and_a_server_behind_a_socket(server, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    for address in (
        f"postgresql://anna@127.0.0.1:{server.port}/shop",
        f"postgres:///shop?host={server.folder}&port={server.port}&user=anna",
    ):
        assert read_database(Database.of(address), table="other.people").num_rows == 1
    assert "postgresql://localhost/shop refused" in refusal(Database.of(address), table="nobody")


def test_nothing_can_be_written(base, server):
    writes = (
        "WITH x AS (DELETE FROM people RETURNING *) SELECT * FROM x",
        "WITH x AS (INSERT INTO people VALUES ('Jaén', 1) RETURNING *) SELECT * FROM x",
        "SELECT nextval('counter')",
        "SELECT * FROM people FOR UPDATE",
        "SELECT set_config('transaction_read_only', 'off', false), nextval('counter')",
    )
    loose = Database.of(server.address + "?options=-c%20default_transaction_read_only%3Doff")
    for query in writes:
        assert "each record is read by itself" in refusal(base, query=query, vouched=False)
        for database in (base, loose):
            said = refusal(database, query=query, vouched=True)
            assert "refused" in said or "not known to stay inside the database" in said
    connection = PostgreSQL.open(base.place)
    with pytest.raises(connection.faults):
        connection.opened.execute("CREATE TABLE more (a integer)")
    connection.close()
    assert read_database(base, query="SELECT count(*) FROM people", vouched=True).to_pydict() == {"count": ["120000"]}


def test_the_command_reads_tables_and_queries_and_tells_nobody_the_password(base, server, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    schema = tmp_path / "s.json"
    schema.write_text(json.dumps({"version": 1, "name": "t", "attributes": [CITY, AGE]}))
    common = ["--schema", str(schema), "--epsilon", "1", "--delta", "1e-9", "--method", "independent",
              "--out", str(tmp_path / "o.csv"), "--manifest", str(tmp_path / "m.json")]  # fmt: skip
    assert main(["synth", server.address, *common, "--sql-table", "people"]) == 0
    query = "SELECT * FROM people WHERE age < 50"
    assert main(["synth", server.address, *common, "--sql-table", "people", "--sql-where", "age < 50"]) == 0
    assert main(["synth", server.address, *common, "--sql-query", query, "--query-vouched"]) == 0
    assert read(tmp_path / "o.csv").table.column_names == ["city", "age"]
    drafted = tmp_path / "d.json"
    assert main(["schema", "draft", server.address, "--sql-query", query, "--query-vouched", "-o", str(drafted)]) == 0
    assert Schema.load(drafted).name == "query"
    for wrong in (["--sql-table", "nobody"], []):
        assert main(["synth", server.address, *common, *wrong]) == 2
    assert main(["synth", server.address.replace(WRITTEN, "secret"), *common, "--sql-table", "people"]) == 2
    assert main(["compare", server.address, str(tmp_path / "o.csv"), "--schema", str(schema), "--json", "r.json"]) == 2
    written = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    said = "".join(capfd.readouterr())
    assert "user and password" in said and "--sql-table" in said
    for private in (PASSWORD, WRITTEN, "secret", "anna"):
        assert private not in said and private.encode() not in written


def test_the_data_page_reads_a_table_and_a_query(server, caplog):
    caplog.set_level(logging.DEBUG, logger="dpsyn")
    space = Workspace("somebody")
    loading.database(space, "PostgreSQL", server.address, "people")
    assert space.dataset.name == "people" and space.dataset.table.num_rows == 120_000
    assert [a.name for a in space.schema.attributes] == ["city", "age"] and not space.schema.private
    loading.database(space, "PostgreSQL", server.address, f'SELECT "id", kind FROM {QUOTED}', vouched=True)
    assert space.dataset.table.to_pydict()["kind"][2] is None
    assert "secret" not in repr(space) + space.schema.model_dump_json() + caplog.text


def test_the_data_page_refuses_in_one_sentence(app, server):
    app.run()
    app.segmented_control(key="data_way").set_value("database").run()
    app.selectbox(key="database_kind").set_value("PostgreSQL")
    app.text_input(key="database_target").set_value(server.address)
    app.text_input(key="database_query").set_value("nobody")
    submit = next(b for b in app.button if b.label == "Load the table")
    submit.click().run()
    assert len(app.error) == 1 and "refused" in app.error[0].value
    assert "secret" not in app.error[0].value and "anna" not in app.error[0].value and not app.exception
    app.text_input(key="database_query").set_value("people")
    next(b for b in app.button if b.label == "Load the table").click().run()
    assert not app.error and not app.exception


def test_a_shared_server_reaches_named_hosts_only_and_lends_nobody_its_own_rights(server, monkeypatch):
    """Such as its sockets and password files, or hosts of its network."""
    monkeypatch.setattr(databases, "shared", lambda: True)
    with pytest.raises(TableError, match="does not reach that database"):
        databases.fetch("PostgreSQL", server.address, "people")
    monkeypatch.setenv(databases.HOSTS, "db.example.org, 127.0.0.1")
    assert databases.fetch("PostgreSQL", server.address, "people")[0].whole().num_rows == 120_000
    here = f"127.0.0.1:{server.port}"
    for address in (
        f"postgresql://anna@{here}/shop",
        f"postgresql://{here}/shop",
        f"{server.address}?passfile=/etc/passwd",
        f"{server.address}?hostaddr=10.0.0.1",
    ):
        with pytest.raises(TableError, match="your own user and password"):
            databases.fetch("PostgreSQL", address, "people")
    for address in ("postgresql:///shop", "postgresql://a:b@%2Ftmp/shop", "postgresql://a:b@127.0.0.1,10.0.0.1/shop"):
        with pytest.raises(TableError, match="does not reach"):
            databases.fetch("PostgreSQL", address, "people")
    with pytest.raises(TableError, match="given by its address"):
        databases.fetch("PostgreSQL", "host=127.0.0.1 user=anna password=secret", "people")


@pytest.mark.parametrize(
    ("address", "hosts", "answer"),
    [
        ("127.0.0.1", ["localhost", "127.0.0.1"], False),
        ("127.0.0.1", ["localhost", "dpsyn.example.org"], True),  # a proxy stands before it
        ("127.0.0.1", [], True),
        ("0.0.0.0", ["localhost"], True),
        (None, ["localhost"], True),
    ],
)
def test_a_server_is_shared_unless_only_this_machine_reaches_it(address, hosts, answer, monkeypatch):
    options = {"server.address": address, "server.allowedHosts": hosts, "secrets.files": []}
    monkeypatch.setattr(access.st, "get_option", options.__getitem__)
    assert access.shared() is answer


TYPES = {
    "text": ("text", ["a", "é", "e\u0301", "", " ", "nan", "\ufeffa"]), "lone": ("boolean", [True, False]),
    "whole": ("numeric", [0, 1, "2.50", 2**53 + 1, 2**70, "NaN", "1e-20", "-1e30"]),
    "real": ("double precision", [0.5, 1.0, 1e20, "NaN", 1e-7, "-Infinity", 1e308]), "flag": ("smallint", [0, 1, 2]),
    "age": ("numeric(9,2)", [1, "7.25", 99, "NaN"]), "big": ("bigint", [2**63 - 1, -(2**63), 10**18, 7]),
    "pay": ("real", [0.1, 0.5, 0.3, "Infinity", "NaN"]), "who": ("uuid", [f"{i:032x}" for i in range(4)]),
    "born": ("date", ["2020-01-31", "infinity", "-infinity", "12020-01-01", "0044-03-15 BC"]),
    "seen": ("timestamp", ["2020-01-31 10:00:00.5", "infinity", "0001-01-01 00:00:00", "290000-01-01 00:00:00"]),
    "odd": ("text", ["12/01/2020", "2020-02-30", "2020-01-31", "31/01/2020"]),
    "hour": ("timestamptz", ["2020-01-31 10:00:00+05:30", "2020-01-31 10:00:00Z", "2031-01-01 00:00:00Z"]),
    "note": ("time", ["10:00:00", "10:00:00.5", "24:00:00"]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("encoding", "good", "odd"),
    [("WIN1252", "\xf6", b"\x81"), ("EUC_JP", "\u65e5", b"\xfe\xfe"), ("SQL_ASCII", "\xf6", b"\xe9")],
)
def test_a_byte_that_a_server_cannot_convert_stays_in_its_own_cell(server, encoding, good, odd):
    name = f"old_{encoding}".lower()
    with server.connect() as connection:
        connection.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    with server.connect(name) as connection:
        connection.execute("CREATE TABLE t (city text, age int)")
        connection.execute("INSERT INTO t VALUES (%s, 3)", [good])
        connection.execute(f"SET client_encoding = '{encoding}'")
        connection.execute(b"INSERT INTO t VALUES ('x" + odd + b"', 4)")
    old = Database.of(server.address.replace("/shop", f"/{name}"))
    found = read_database(old, table="t").to_pydict()
    assert found["age"] == ["3", "4"] and found["city"][0] == good and found["city"][1].startswith("x\ufffd")
    assert [t.to_pydict() for t in database_batches(old, of_database(table="t")).read()] == [found]
    assert read_database(old, table="t", columns="age", where=f"city = {good}").to_pydict() == {"age": ["3"]}


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_type_of_its_own_in_a_server_of_another_encoding_is_read_as_text_is(server, encoding):
    name = f"own_{encoding}".lower()
    with server.connect() as connection:
        connection.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    with server.connect(name) as connection:
        connection.execute("SET client_encoding = 'UTF8'")
        connection.execute("CREATE TYPE mood AS ENUM ('calm', 'b\xf6se')")
        connection.execute("CREATE TABLE t (gem\xfct mood, age int); INSERT INTO t VALUES ('calm', 3), ('b\xf6se', 4)")
    old = Database.of(server.address.replace("/shop", f"/{name}"))
    form = of_database(table="t", columns="gem\xfct")
    assert database_batches(old, form, counted=True).load().to_pydict() == {"gem\xfct": ["calm", "b\xf6se"]}


def test_a_table_without_columns_is_refused_by_a_sentence(server):
    with server.connect() as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS bare ()")
    with pytest.raises(TableError, match="has no columns"):
        read_database(Database.of(server.address), table="bare")


def test_a_server_whose_encoding_is_not_known_here_is_refused_by_its_name(server):
    with server.connect() as connection:
        connection.execute("CREATE DATABASE taiwan ENCODING 'EUC_TW' LOCALE 'C' TEMPLATE template0")
    address = server.address.replace("/shop", "/taiwan")
    with pytest.raises(TableError, match="keeps its text in EUC_TW"):
        read_database(Database.of(address), query="SELECT 1 AS age", vouched=True)


@pytest.mark.parametrize("seed", range(2))
def test_a_record_of_a_server_is_read_the_same_alone_and_in_any_table(server, seed, tmp_path):
    rng, size = Chance(f"postgresql {seed}", tmp_path), 12
    with server.connect() as connection:
        columns = ", ".join(f'"{c}" {TYPES[c][0]}' for c in COLUMNS)
        connection.execute(f"DROP TABLE IF EXISTS t; CREATE TABLE t (i integer, {columns})")
        for i in range(size):
            row = [None if rng.random() < 0.1 else rng.choice(TYPES[c][1]) for c in COLUMNS]
            connection.execute(f"INSERT INTO t VALUES ({', '.join(['%s'] * (len(COLUMNS) + 1))})", [i, *row])

    def reader(ids, rng):
        return read_database(Database.of(server.address), query=chosen_by(ids), vouched=True)

    assert compared("postgresql", seed, rng, reader, list(range(size)), tables=12) > 20
