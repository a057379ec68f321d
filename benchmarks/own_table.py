"""First tries with one's own table: each case of a newcomer, what came of it at first and now; and ten foreign tables.

`python -m benchmarks.own_table [--walks] [--only NAME]`. Prints Markdown. A case makes its small table here, reads it
as everybody does, and says whether it came out right; tests/test_own_table.py runs each. With --walks ten tables in
other languages, encodings and forms go through the app (until every column is decided) and through Python to a
synthetic table: clicks, words on the screens, seconds, and columns that came back in their own form.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROWS = 400
EPSILON, DELTA = 1.0, 1e-9
FOLDED = ("expander", "popover")
STYLE = re.compile(r"<style.*?</style>|<script.*?</script>|<[^>]+>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Case:
    """One case: what the table has, what came of it at first, what comes of it now, and the check of that."""

    name: str
    before: str
    now: str
    check: Callable[[], bool]


def lines(header: str, row: Callable[[int], str], rows: int = ROWS) -> bytes:
    """A text table with a header and rows made by their number."""
    return "\n".join([header, *map(row, range(rows)), ""]).encode()


def read(raw: bytes, name: str = "own.csv", **form: Any) -> Any:
    """The table of a file with these bytes."""
    from dpsyn_core.tables import read_table

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(raw)
        return read_table(path, **form)


def proposed(raw: bytes, name: str = "own.csv") -> Any:
    """The schema that is proposed for a file."""
    from dpsyn_core.schema import drafted, rounded

    table = read(raw, name)
    schema, _ = drafted(table, "own")
    return rounded(schema, table)


def refused(raw: bytes, name: str) -> str:
    """The sentence with which a file is refused; empty where it is read."""
    from dpsyn_core.errors import DPSynError

    try:
        read(raw, name)
    except DPSynError as error:
        return str(error)
    return ""


def archive(*names: str) -> bytes:
    """A zip file with members of these names."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name in names:
            file.writestr(name, "x")
    return out.getvalue()


def spreadsheet() -> bytes:
    """An .ods file of one column and one record."""
    spaces = " ".join(f'xmlns:{n}="urn:{n}"' for n in ("office", "table", "text"))
    rows = (
        "<table:table-row><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row><table:table-row>"
        '<table:table-cell office:value-type="float" office:value="1.5"/></table:table-row>'
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr(
            "content.xml",
            f'<office:document {spaces}><table:table table:name="s">{rows}</table:table></office:document>',
        )
    return out.getvalue()


def one_column() -> bool:
    """Columns of fixed width: the sentence says that nothing separates the cells."""
    from dpsyn_core.errors import SchemaError

    try:
        proposed(lines("AGE  SEX  PAY", lambda i: f"{20 + i % 50:<5}{'mf'[i % 2]:<5}{i * 7:>5}"), "own.txt")
    except SchemaError as error:
        return "one column, 'AGE  SEX  PAY'" in str(error)
    return False


def negative_amounts() -> bool:
    """Brackets around what is negative: numbers, and so written again."""
    x = proposed(lines("x,g", lambda i: f"({i}.{i % 90 + 10})," if i % 4 else f"{i}.50," + str(i % 3)))["x"]
    return bool(x.kind == "numeric" and x.written == "(12.56)")


def index_comes_back() -> bool:
    """Dates as the index of a pandas frame."""
    import pandas as pd

    from dpsyn_core.tables import from_arrow, to_arrow

    frame = pd.DataFrame({"x": range(90)}, index=pd.date_range("2024-01-01", periods=90, name="day"))
    return bool(from_arrow(to_arrow(frame), like=frame).index.equals(frame.index))


def form_survives() -> bool:
    """Three decimals with a comma: numbers below 1, and not one code for all of them."""
    raw = lines("x;g", lambda i: f"0,{100 + i * 7 % 890:03d};{i % 3}")
    x = proposed(raw)["x"]
    codes = x.encode(read(raw)["x"], comma=True)
    return x.kind == "numeric" and x.max <= 1 and len(set(codes.tolist())) > ROWS / 4


def stamps(digits: int) -> bool:
    """Digits of a time to the second or the microsecond are dates."""
    tail = "" if digits == 14 else "123456"
    schema = proposed(lines("at,g", lambda i: f"2022{1 + i % 12:02d}{1 + i % 28:02d}1430{i % 60:02d}{tail},{i % 3}"))
    return bool(schema["at"].kind == "datetime")


def of_kind(header: str, row: Callable[[int], str], kind: str, **fields: Any) -> bool:
    """Whether the first column is proposed as this kind, with these fields."""
    schema = proposed(lines(header, row))
    first = schema.attributes[0]
    return first.kind == kind and all(getattr(first, k) == v for k, v in fields.items())


def no_answers() -> bool:
    """A German table: what was a word stays one, and others are called in its language."""
    raw = lines("Beruf,Alter,Geschlecht", lambda i: f"{f'B{i % 6}' if i % 5 else 'k. A.'},{20 + i % 50},{'mw'[i % 2]}")
    beruf = proposed(raw)["Beruf"]
    return "k. A." in beruf.values and beruf.other_text() == "(andere)"


def beginnings() -> bool:
    """400 postal codes: kept by two digits."""
    plz = proposed(lines("plz,g", lambda i: f"{10_000 + i * 211:05d},{i % 3}"))["plz"]
    return plz.by_prefix and len(plz.values) == 100


def threshold() -> bool:
    """Values of one column, 20 records of a person: 546 persons at first."""
    from dpsyn_core.measure import Wanted, people_needed
    from dpsyn_core.privacy import Budget, Unit

    budget = Budget(epsilon=1.0, delta=1e-9)
    one = [Wanted(name="a", kind="categorical")]
    ten = [Wanted(name=f"a{i}", kind="categorical") for i in range(10)]
    panel = Unit(max_records=20, identifier="who")
    return people_needed(ten, Unit(), budget)["a0"] <= 166 and people_needed(one, panel, budget)["a"] <= 237


def asked_who(header: str, values: tuple[str, ...]) -> bool:
    """Whether somebody has to say who is one person because of this column."""
    from dpsyn_core.schema import drafted

    return drafted(read(lines(f"{header},x", lambda i: f"{values[i % len(values)]},{i % 9}")), "own")[1] is not None


def ends_asked() -> bool:
    """Ages and years whose proposal is wider than the table are asked about."""
    from dpsyn_core.schema import asks_ends, drafted, propose

    table = read(lines("year,age,g", lambda i: f"{1980 + i % 8},{18 + i % 60},{i % 3}"))
    schema, _ = drafted(table, "own")
    return [asks_ends(p) for p in propose(schema, table)] == ["year", "age", ""]


def types_come_back() -> bool:
    """Python's own types of columns and labels."""
    import pandas as pd

    from dpsyn_core import synthesize
    from dpsyn_core.schema import confirm, drafted
    from dpsyn_core.tables import to_arrow

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": pd.array(rng.integers(0, 5, ROWS), dtype="Int64"),
            "b": pd.array(rng.random(ROWS) < 0.5, dtype="boolean"),
            "c": pd.Categorical(rng.choice(["low", "high"], ROWS), ["low", "high"], ordered=True),
            "d": pd.Series(rng.choice(["x", "y"], ROWS), dtype="string"),
            "e": rng.integers(0, 9, ROWS).astype("uint8"),
            "f": pd.Timestamp("2024-01-01", tz="Europe/Berlin") + pd.to_timedelta(rng.integers(0, 90, ROWS), "D"),
        }
    )
    schema = confirm(drafted(to_arrow(frame), "own")[0], everything=True)
    with fresh_ledger():
        made = synthesize(frame, schema, epsilon=20.0, delta=DELTA, dataset="own").table
    return list(made.dtypes) == list(frame.dtypes)


def all_blank_is_named() -> bool:
    """A column without values is warned of by its name."""
    from dpsyn_core.errors import SchemaWarning
    from dpsyn_core.schema import draft

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        draft(read(lines("nothing,g", lambda i: f",{i % 3}")), "own")
    return any(issubclass(w.category, SchemaWarning) and "'nothing'" in str(w.message) for w in said)


def short_repr() -> bool:
    """A schema of 40 columns is shown in ten lines."""
    header = ",".join(f"c{j}" for j in range(40))
    return (
        len(repr(proposed(lines(header, lambda i: ",".join(str(i % (2 + j % 5)) for j in range(40))))).splitlines())
        <= 12
    )


CASES = (
    Case("three decimals, `0,592`, and semicolons", "98.8 % of the column one value", "numbers below 1", form_survives),
    Case(
        "Excel's first line `sep=;`",
        "refused",
        "read",
        lambda: read(b"sep=;\nx;g\n" + lines("1;2", lambda i: f"{i % 40};{i % 3}")).column_names == ["x", "g"],
    ),
    Case(
        "R's `write.table`",
        "refused",
        "read, row names left out",
        lambda: not proposed(lines('"x" "g"', lambda i: f'"{i + 1}" {i % 40} "a{i % 3}"')).attributes[0].coded,
    ),
    Case("stamps of 14 digits", "left out", "dates", lambda: stamps(14)),
    Case("stamps of 20 digits", "`2.02e+19`", "dates", lambda: stamps(20)),
    Case(
        "30 values in thirds",
        "3,728 values",
        "a list",
        lambda: of_kind("x,g", lambda i: f"{round(i * 7 % 30 / 3, 6)},{i % 3}", "categorical"),
    ),
    Case(
        "two forms of dates in one column",
        "all in the rarer",
        "all in the commoner, and said",
        lambda: of_kind(
            "d,g",
            lambda i: (
                (f"{1 + i % 28:02d}.{1 + i % 12:02d}.2021," if i % 4 else f"2021-{1 + i % 12:02d}-{1 + i % 28:02d},")
                + str(i % 3)
            ),
            "datetime",
            formats=("%d.%m.%Y", "%Y-%m-%d"),
        ),
    ),
    Case(
        "Indian grouping `12,34,567.89`",
        "left out",
        "numbers",
        lambda: of_kind(
            "x,g", lambda i: f'"{12 + i % 80},{10 + i % 90:02d},{100 + i % 900:03d}.{i % 100:02d}",{i % 3}', "numeric"
        ),
    ),
    Case(
        "ISO weeks of five years",
        "left out",
        "dates",
        lambda: of_kind("w,g", lambda i: f"{2019 + i % 5}-W{1 + i % 52:02d},{i % 3}", "datetime"),
    ),
    Case(
        "48 names of persons",
        "one press publishes them",
        "never proposed",
        lambda: of_kind("Name,g", lambda i: f"Anna {chr(65 + i % 24)}{chr(97 + i % 48 // 24)}berg,{i % 3}", "ignored"),
    ),
    Case(
        "-127 of a broken sensor",
        "a value of the number",
        "a code",
        lambda: of_kind(
            "t,g",
            lambda i: f"{-127 if i % 29 == 0 else round(15 + i % 70 / 7, 1)},{i % 3}",
            "numeric",
            special_values=(-127.0,),
        ),
    ),
    Case("`k. A.` and others in a German table", "blank; `(other)`", "a word; `(andere)`", no_answers),
    Case("postal codes of 400 values", "left out, no remedy", "two digits, at no cost", beginnings),
    Case("values of ten columns, or of 20 records per person", "274 and 546 people", "166 and 237 people", threshold),
    Case("`member` with yes and no", "asked about", "not asked about", lambda: not asked_who("member", ("yes", "no"))),
    Case(
        "`member` with codes",
        "asked about",
        "asked about",
        lambda: asked_who("member", ("K-00123", "K-00124", "K-00125")),
    ),
    Case("years 1980 to 1987, ages from 18", "4 to 9 % of records outside", "public ends are asked", ends_asked),
    Case("frames with their own types", "lost", "come back", types_come_back),
    Case("an index of dates, in pandas", "lost", "comes back", index_comes_back),
    Case("negative amounts in brackets, `(12.50)`", "left out", "numbers, and written so", negative_amounts),
    Case(
        "headers in EUC-KR",
        "Greek letters",
        "read",
        lambda: read("나이;성별;지역\n1;2;3\n".encode("euc_kr")).column_names == ["나이", "성별", "지역"],
    ),
    Case("columns of fixed width", "group the values", "what separates cells is asked", one_column),
    Case("a column without values, in Python", "silent", "a warning that names it", all_blank_is_named),
    Case("`repr(schema)`", "all of it", "ten lines", short_repr),
    Case(
        ".ods",
        "unpack the zip",
        "read",
        lambda: read(spreadsheet(), "own.ods").to_pydict() == {"x": ["1.5"]},
    ),
    Case(
        ".odt",
        "unpack the zip",
        "save it as CSV",
        lambda: "CSV" in refused(archive("mimetype", "content.xml", "META-INF/manifest.xml"), "own.odt"),
    ),
    Case(
        ".numbers",
        "unpack the zip",
        "save it as .xlsx or CSV",
        lambda: "CSV" in refused(archive("Index/Document.iwa"), "own.numbers"),
    ),
    Case(
        ".docx",
        "unpack the zip",
        "save it as .xlsx or CSV",
        lambda: "CSV" in refused(archive("[Content_Types].xml", "word/document.xml"), "own.docx"),
    ),
    Case(
        "a binary file",
        "several lines",
        "one line",
        lambda: len(refused(b"\x7fELF\x02\x01" + bytes(range(256)), "own.csv").splitlines()) == 1,
    ),
)


class fresh_ledger:
    """A folder for the ledger that is gone afterwards."""

    def __enter__(self) -> None:
        self._folder, self._before = tempfile.TemporaryDirectory(), os.environ.get("DPSYN_HOME")
        os.environ["DPSYN_HOME"] = self._folder.name

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()
        os.environ.pop("DPSYN_HOME")
        if self._before is not None:
            os.environ["DPSYN_HOME"] = self._before


@dataclass(frozen=True, slots=True)
class Foreign:
    """A table that nobody here has tuned for: name, what is awkward, bytes of its file."""

    name: str
    awkward: str
    file: str
    raw: bytes


def foreign(rows: int = 1500) -> Iterator[Foreign]:
    """Ten tables in other languages, encodings and forms; simulated."""
    rng = np.random.default_rng(20)
    age, wait = rng.integers(18, 91, rows), rng.gamma(2, 9, rows)
    euro = rng.lognormal(7.6, 0.5, rows)

    def pick(*values: str) -> Any:
        return rng.choice(values, rows)

    def made(
        name: str, awkward: str, file: str, header: str, cells: list[Any], *, mark: str = ",", code: str = "utf-8"
    ) -> Foreign:
        body = "\n".join([header, *(mark.join(map(str, row)) for row in zip(*cells, strict=True)), ""])
        return Foreign(name, awkward, file, body.encode(code))

    comma = [f"{x:_.2f}".replace(".", ",").replace("_", ".") for x in euro]
    yield made(
        "Spanish clinic",
        "cp1252, semicolons, sí/no",
        "clinica.csv",
        "edad;sexo;provincia;fumador;espera",
        [age, pick("Hombre", "Mujer"), pick("Córdoba", "Málaga", "Ávila"), pick("sí", "no"), wait.astype(int)],
        mark=";",
        code="cp1252",
    )
    yield made(
        "French pay",
        "decimal commas, départements",
        "paie.csv",
        "salaire;sexe;département;contrat",
        [comma, pick("femme", "homme"), pick("01", "13", "2A", "75"), pick("CDI", "CDD")],
        mark=";",
    )
    yield made(
        "Japanese survey",
        "Shift JIS",
        "chosa.csv",
        "年齢,性別,都道府県,満足度",
        [age, pick("男", "女"), pick("東京都", "大阪府", "北海道"), rng.integers(1, 6, rows)],
        code="shift_jis",
    )
    yield made(
        "Russian shop",
        "cp1251, tabs",
        "магазин.tsv",
        "дата\tтовар\tколичество\tкарта",
        [
            [f"{1 + i % 28:02d}.{1 + i % 12:02d}.2023" for i in range(rows)],
            pick("хлеб", "молоко", "сыр"),
            rng.integers(1, 20, rows),
            pick("да", "нет"),
        ],
        mark="\t",
        code="cp1251",
    )
    yield made(
        "Indian loans",
        "lakhs, PIN codes",
        "loans.csv",
        "amount,pincode,purpose,tenure_months",
        [
            [f'"{1 + i * 7 % 89},{10 + i * 3 % 90:02d},{i * 11 % 1000:03d}"' for i in range(rows)],
            110_001 + rng.integers(0, 700_000, rows),
            pick("home", "car", "gold"),
            pick("12", "24", "36", "60"),
        ],
    )
    yield made(
        "German registry",
        "postal codes, k. A., dates",
        "melde.csv",
        "PLZ;Geburtsdatum;Familienstand;Staatsangehörigkeit",
        [
            [f"{x:05d}" for x in rng.integers(1067, 99998, rows)],
            [f"{1 + i % 28:02d}.{1 + i % 12:02d}.{1940 + i % 65}" for i in range(rows)],
            pick("ledig", "verheiratet", "geschieden", "k. A."),
            pick("deutsch", "türkisch", "polnisch"),
        ],
        mark=";",
    )
    yield made(
        "US visits",
        "ICD-10, M/D/Y, $",
        "visits.csv",
        "visit_date,diagnosis,charge,insured",
        [
            [f"{1 + i % 12}/{1 + i % 28}/2022" for i in range(rows)],
            [f"{'ACEIJ'[i % 5]}{i * 7 % 100:02d}.{i % 10}" for i in range(rows)],
            [f"${x:.2f}" for x in euro],
            pick("Y", "N"),
        ],
    )
    yield made(
        "Polish panel",
        "year, missing codes",
        "panel.csv",
        "rok;wiek;dochód;zatrudniony",
        [2010 + np.arange(rows) % 9, age, np.where(rng.random(rows) < 0.05, -9, euro.astype(int)), pick("tak", "nie")],
        mark=";",
    )
    yield made(
        "Greek sensors",
        "UTF-16, stamps, -127",
        "sensors.csv",
        "χρόνος,θερμοκρασία,αίθουσα",
        [
            [f"2024{1 + i % 12:02d}{1 + i % 28:02d}{i % 24:02d}{i % 60:02d}00" for i in range(rows)],
            np.where(rng.random(rows) < 0.03, -127, rng.normal(21, 3, rows).round(1)),
            pick("Α1", "Α2", "Β1"),
        ],
        code="utf-16",
    )
    yield made(
        "Arabic trade",
        "currencies, percent",
        "trade.csv",
        "الدولة,currency,share,value",
        [
            pick("SA", "EG", "MA", "AE"),
            pick("SAR", "EGP", "MAD", "AED", "USD"),
            [f"{x:.1f}%" for x in rng.uniform(0, 100, rows)],
            rng.integers(1, 90_000, rows),
        ],
    )


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a foreign table.

    clicks, words, all_words, app_seconds: of the app, words in view and with folds. seconds: of Python. columns, right,
    wrong: how many there are, how many came back, and which did not.
    """

    clicks: int
    words: int
    all_words: int
    app_seconds: float
    seconds: float
    columns: int
    right: int
    wrong: tuple[str, ...]


def as_csv(release: Any) -> bytes:
    """The file that is written of a release."""
    with tempfile.TemporaryDirectory() as folder:
        release.write(path := Path(folder) / "made.csv")
        return path.read_bytes()


def in_python(one: Foreign) -> tuple[float, int, tuple[str, ...]]:
    """Draft, a person's word, synthesis: seconds, columns, and those that came back in another form or range."""
    from dpsyn_core import synthesize
    from dpsyn_core.schema import confirm, drafted, rounded

    start = time.perf_counter()
    table = read(one.raw, one.file)
    schema, _ = drafted(table, "own")
    schema = confirm(rounded(schema, table), everything=True)
    with fresh_ledger():
        made = read(as_csv(synthesize(table, schema, epsilon=EPSILON, delta=DELTA, dataset="own")), encoding="utf-8")
    seconds = time.perf_counter() - start
    wrong = []
    for name in table.column_names:
        if name not in made.column_names:
            wrong.append(f"{name} left out")
            continue
        real, cells = ({str(v) for v in t.column(name).drop_null().to_pylist()} for t in (table, made))
        shapes = {shape(v) for v in real}
        below = {s.replace(",0", "", 1) for s in shapes}  # 900 beside 1,000
        attribute = schema[name]
        if getattr(attribute, "by_prefix", False):
            continue
        words = {shape(attribute.other_text())} if attribute.listed and attribute.other else set()
        new = {shape(v) for v in cells if v and not (len(v.split(".")[0]) < 4 and shape(v) in below)} - shapes - words
        if new:
            wrong.append(f"{name} written otherwise, as {sorted(new)[0]}")
            continue
        odd = other_digits(*(t.column(name).drop_null().to_pylist() for t in (table, made)))
        if odd:
            wrong.append(f"{name} with other digits, as {odd[0]}")
    return seconds, table.num_columns, tuple(wrong)


def shape(text: str) -> str:
    """How a cell is written: digits as 0 without their number, groups of digits as one, letters unchanged."""
    return re.sub(r"(,0)+", ",0", re.sub(r"0+", "0", re.sub(r"\d", "0", text)))


def other_digits(real: list[object], made: list[object]) -> list[str]:
    """Cells of a synthetic column whose groups of digits are longer, shorter or padded where those of the real are not.

    A group with a zero in front (03), or that has one length in all real cells (2024, .50), has that length; another
    one (3, 12) has any. Shapes that the real column lacks are not looked at.
    """
    have = _digits(real)
    return [
        text
        for at, ways in _digits(made).items()
        for way, text in ways.items()
        if at in have and way not in have[at] and (way[0] == "0" or len({w.lstrip("0") for w in have[at]}) == 1)
    ]


def _digits(values: list[object]) -> dict[tuple[str, int], dict[str, str]]:
    """By shape and place of a group of digits: its lengths, with 0 before those that are padded, and a cell of each."""
    found: dict[tuple[str, int], dict[str, str]] = {}
    for text in dict.fromkeys(map(str, values)):
        if re.fullmatch(r"\D*\d{1,3}([,.' ]\d{2,3})*[,.' ]\d{3}([.,]\d+)?\D*", text):
            continue  # thousands, of which a smaller number has fewer groups
        groups = re.findall(r"\d+", text)
        decimal = re.fullmatch(r"\D*\d+[.,]\d+\D*", text) is not None
        for place, group in enumerate(groups):
            padded = len(group) > 1 and group[0] == "0" and not (decimal and place == len(groups) - 1)
            if len(groups) > 1 or padded:  # a whole number alone has the length that it needs
                found.setdefault((shape(text), place), {})[f"{'0' * padded}{len(group)}"] = text
    return found


def in_the_app(one: Foreign) -> tuple[int, int, int, float]:
    """From the upload until every column is decided: clicks, words in view of the guide and with folds, seconds."""
    from streamlit.testing.v1 import AppTest

    start = time.perf_counter()
    app = AppTest.from_file(str(Path(__file__).parents[1] / "app.py"), default_timeout=300).run()
    app.segmented_control(key="data_way").set_value("upload").run()
    app.file_uploader(key="upload").set_value((one.file, one.raw, "text/csv")).run()
    clicks, words = 3, [0, 0]
    app.button(key="quick_to_guide").click().run()
    for key in ("keep_rows", "guide_agree", ""):
        if not key or key in {b.key for b in app.button}:
            words = [n + written(app.main, folds) for n, folds in zip(words, (False, True), strict=True)]
        if key in {b.key for b in app.button}:
            app.button(key=key).click().run()
            clicks += 1
    if app.exception:
        msg = f"{one.name}: {app.exception[0].message}"
        raise RuntimeError(msg)
    return clicks, words[0], words[1], time.perf_counter() - start


def written(block: Any, folds: bool) -> int:
    """Words that stand on a part of a page, cells of tables included. folds: also what is folded away."""
    words = 0
    for part in block.children.values():
        if part.type in FOLDED:
            words += len(str(getattr(part, "label", None) or "").split()) + (written(part, folds) if folds else 0)
        elif hasattr(part, "children"):
            words += written(part, folds)
        elif part.type == "dataframe":
            words += sum(len(str(cell).split()) for row in part.value.to_numpy().tolist() for cell in row)
        elif part.type == "html":
            words += len(re.sub(STYLE, " ", part.proto.body).split())
        else:
            words += len(str(getattr(part, "label", None) or getattr(part, "value", None) or "").split())
    return words


def tried(one: Foreign) -> Tried:
    """Both walks of a foreign table."""
    seconds, columns, wrong = in_python(one)
    clicks, words, all_words, app_seconds = in_the_app(one)
    return Tried(clicks, words, all_words, app_seconds, seconds, columns, columns - len(wrong), wrong)


def main(argv: list[str] | None = None) -> None:
    """Prints the cases, or the walks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--walks", action="store_true", help="ten foreign tables in the app and in Python")
    parser.add_argument("--only", help="the one of this name")
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    if not args.walks:
        print("| table | at first | now |\n|---|---|---|")
        for case in (c for c in CASES if args.only in (None, c.name)):
            print(f"| {case.name} | {case.before} | {case.now if case.check() else 'WRONG'} |", flush=True)
        return
    print("| table | what is awkward | clicks | words in view | all | app, s | Python, s | columns right | others |")
    print("|---|---|---|---|---|---|---|---|---|")
    for one in (f for f in foreign() if args.only in (None, f.name)):
        found = tried(one)
        seconds = f"{found.app_seconds:.0f} | {found.seconds:.0f}"
        columns = f"{found.right} of {found.columns} | {'; '.join(found.wrong) or 'none'}"
        words = f"{found.clicks} | {found.words:,} | {found.all_words:,}"
        print(f"| {one.name} | {one.awkward} | {words} | {seconds} | {columns} |", flush=True)


if __name__ == "__main__":
    main()
