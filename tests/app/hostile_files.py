"""Files as a stranger may hand them over: damaged, misnamed, empty, or odd and yet right; made once, in memory."""

import gzip
import io
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
from openpyxl import Workbook
from openpyxl.chart import BarChart

N = 60
FRAME = pd.DataFrame(
    {
        "age": [20 + i % 40 for i in range(N)],
        "sex": [1 + i % 2 for i in range(N)],
        "town": ["ab"[i % 2] for i in range(N)],
    }
)
LABELS = {"variable_value_labels": {"sex": {1: "Person", 2: "Person"}}, "column_labels": ["same", "same", "same"]}


def labelled(ending, frame=FRAME, **more):
    """The bytes of an SPSS, Stata or SAS transport file."""
    writer = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta, "xpt": pyreadstat.write_xport}[ending]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x.{ending}"
        writer(frame, path, **more)
        return path.read_bytes()


def book(*sheets, hide=(), chart=False):
    """The bytes of a workbook of sheets, each a list of rows."""
    made, out = Workbook(), io.BytesIO()
    made.remove(made.active)
    for number, rows in enumerate(sheets):
        page = made.create_sheet(f"s{number}")
        for row in rows:
            page.append(row)
        if number in hide:
            page.sheet_state = "hidden"
    if chart:
        made.create_chartsheet("chart").add_chart(BarChart())
        made.move_sheet("chart", -len(sheets))
    made.save(out)
    return out.getvalue()


def archive(**members):
    """The bytes of a zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, raw in members.items():
            made.writestr(name.replace("__", "."), raw)
    return out.getvalue()


def parquet(**columns):
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def with_macros():
    """A workbook of people to which a (false) macro was added, as .xlsm files have."""
    raw, out = book([["age", "town"], *([20 + i, "ab"[i % 2]] for i in range(N))]), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(out, "w") as new:
        for item in old.infolist():
            new.writestr(item, old.read(item))
        new.writestr("xl/vbaProject.bin", b"\xd0\xcf\x11\xe0" + bytes(200))
    return out.getvalue()


def csv(rows):
    return "\n".join(",".join(map(str, r)) for r in rows).encode() + b"\n"


ROWS = [["age", "town"], *([20 + i % 40, "ab"[i % 2]] for i in range(N))]
GOOD = csv(ROWS)


@cache
def refused():
    """Files that no table can be read from, by name."""
    sav, dta, xpt = (labelled(e) for e in ("sav", "dta", "xpt"))
    lying = labelled("sav", FRAME.assign(town=["Koeln", "Bonn"] * (N // 2))).replace(b"Koeln", b"K\xf6\xf6ln")
    return {
        "cut.sav": sav[: len(sav) // 2],
        "head.sav": sav[:8],
        "cut.dta": dta[: len(dta) // 2],
        "head.dta": dta[:30],
        "cut.xpt": xpt[:-40],
        "cut2.xpt": xpt[:400],
        "cut.sas7bdat": b"\0" * 12 + b"\xc2\xea\x81\x60" + bytes(300),
        "empty.sav": b"",
        "empty.dta": b"",
        "empty.xlsx": b"",
        "empty.parquet": b"",
        "csv.sav": GOOD,
        "csv.dta": GOOD,
        "csv.sas7bdat": GOOD,
        "zip.sav": archive(people__csv=GOOD),
        "zip.dta": archive(people__sav=sav),
        "noise.sav": np.random.default_rng(0).bytes(4000),
        "noise.sas7bdat": np.random.default_rng(1).bytes(4000),
        "norecords.sav": labelled("sav", FRAME.iloc[:0]),
        "norecords.dta": labelled("dta", FRAME.iloc[:0]),
        "lying.sav": lying,
        "old.dta": bytes([102, 1, 1, 0]) + bytes(300),
        "por.sav": b"ASCII SPSS PORT FILE" + b" " * 300,
        "codes.sas7bcat": b"\0" * 12 + b"\xc2\xea\x81\x63" + bytes(300),
        "emptysheet.xlsx": book([]),
        "headers.xlsx": book([["a", "b"]]),
        "docx.xlsx": archive(word__document__xml=b"<x/>"),
        "cut.xlsx": book(ROWS)[:900],
        "locked.xlsx": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
        "bomb.xlsx": archive(**{"xl/workbook__xml": b"<a/>", "xl/worksheets/sheet1__xml": bytes(90 << 20)}),
        "onlynul.csv": bytes(4000),
        "blankheader.csv": b"age,,town\n" + b"1,2,a\n" * N,
        "headeronly.csv": b"age,town\n",
        "newlines.csv": b"\n" * 300,
        "html.csv": b"<!DOCTYPE html><html><body><table></table></body></html>",
        "json.csv": b'[{"age": 1, "town": "a"}]',
        "cut.csv.gz": gzip.compress(GOOD * 50)[:80],
        "noise.csv.gz": b"\x1f\x8b" + np.random.default_rng(2).bytes(500),
        "list.parquet": parquet(age=[[1, 2], [3], []]),
        "cut.parquet": parquet(age=list(range(N)))[:-9],
        "norecords.parquet": parquet(age=pa.array([], pa.int64())),
        "nocolumns.parquet": parquet(),
        "pickle.parquet": b"\x80\x04\x95" + bytes(100),
        "codes.csv": csv([["code"], *([f"c-{i * 7919:08d}-{i}"] for i in range(4000))]),
        "photo.jpg": b"\xff\xd8\xff\xe0" + np.random.default_rng(3).bytes(900),
        "binary.exe": b"MZ\x90\x00" + np.random.default_rng(4).bytes(900),
        "db.csv": b"SQLite format 3\0" + bytes(500),
    }


@cache
def odd():
    """Files that look odd and are tables, by name."""
    latin = FRAME.assign(town=["Köln", "Bonn"] * (N // 2))
    return {
        "labels.sav": labelled("sav", **LABELS),
        "labels.dta": labelled("dta", **LABELS),
        "labels.xpt": labelled("xpt"),
        "spss.csv": labelled("sav", latin),
        "stata.sav": labelled("dta", latin),
        "book.sav": book(ROWS),
        "macros.xlsm": with_macros(),
        "hidden.xlsx": book([["secret", "x"], *([i, 1] for i in range(9))], ROWS, hide=(0,)),
        "second.xlsx": book(ROWS, []),
        "one.csv": b"age\n" + b"".join(b"%d\n" % (20 + i % 40) for i in range(N)),
        "duplicate.csv": b"age,age,age\n" + b"".join(b"%d,2,3\n" % (20 + i % 40) for i in range(N)),
        "wide.csv": csv([[f"c{i}" for i in range(3000)], *([[j % 2] * 3000 for j in range(30)])]),
        "latin.csv": b"age,town\n" + "30,Köln\n31,Bonn\n".encode("latin-1") * 30,
        "utf16.csv": GOOD.decode().encode("utf-16"),
        "bom.csv": b"\xef\xbb\xbf" + GOOD,
        "ragged.csv": GOOD + b"1,2,3,4\n5\n",
        "parquet.csv": parquet(age=[i % 9 for i in range(N)], town=["ab"[i % 2] for i in range(N)]),
        "csv.parquet": GOOD,
        "csv.xlsx": GOOD,
        "chart.xlsx": book(ROWS, chart=True),
        "blank.xlsx": book([["a", None], *([i, 2] for i in range(9))]),
        "nul.csv": b"age,town\n" + b"2\x000,a\n" * N,
        "nested.parquet": parquet(age=list(range(9)), home=[{"town": "a"}] * 9),
        "cut16.csv": GOOD.decode().encode("utf-16")[:-1],
        "<b>&[x](y)$z$.csv": GOOD,
        "x" * 200 + ".csv": GOOD,
        "noending": GOOD,
        "cr.csv": GOOD.replace(b"\n", b"\r"),
    }
