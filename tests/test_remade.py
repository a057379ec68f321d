"""docs/evidence/remade: the tables of the documents are what the benchmark prints."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks import deep
from benchmarks.deep import Convolutional, from_file, published, split
from benchmarks.plot import BOTTOM, HEIGHT, TOP, svg_lines, svg_pictures
from benchmarks.remade import DOCUMENTS
from benchmarks.remade_p3gm import PANELS, SHOWN, accounting, alone, best_auroc, figure_4, gaussians, published_apart
from dpsyn_core.errors import SettingError

PAGES = Path(__file__).resolve().parents[1] / "docs" / "evidence" / "remade"
NAMES = {"2020": "dpsyn-2020", "experiences": "experiences", "field-groups": "field-groups", "slides": "dirichlet"}


@pytest.mark.parametrize(("document", "part"), [(d, p) for d, parts in DOCUMENTS.items() for p in parts])
def test_a_page_has_the_tables_that_the_benchmark_prints(document, part):
    page = (PAGES / f"{NAMES[document]}.md").read_text(encoding="utf-8")
    for table in DOCUMENTS[document][part]().split("\n\n"):
        assert table in page, f"write the tables of python -m benchmarks.remade --document {document} into the page"


def test_every_document_has_a_page_and_the_index_names_all():
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    pages = {p.name for p in PAGES.glob("*.md")} - {"README.md"}
    assert pages == {f"{n}.md" for n in NAMES.values()} | {"p3gm.md"}
    assert all(f"]({name})" in index for name in pages)


def test_the_accounting_of_p3gm_is_what_the_benchmark_prints():
    page = (PAGES / "p3gm.md").read_text(encoding="utf-8")
    for table in accounting(1).split("\n\n"):
        assert table in page, "write the tables of python -m benchmarks.remade_p3gm --only accounting into the page"


def test_the_pictures_of_figure_4_are_those_of_the_table():
    page = (PAGES / "p3gm.md").read_text(encoding="utf-8")
    made = figure_4(page)
    assert len(made) == 2
    for name, text in made.items():
        assert (PAGES / name).read_text(encoding="utf-8") == text, "python -m benchmarks.remade_p3gm --only drawn"
        assert f"]({name})" in page


def test_figure_2_stands_on_its_page_with_a_row_a_system():
    assert "](p3gm-figure-2.svg)" in (PAGES / "p3gm.md").read_text(encoding="utf-8")
    drawn = ElementTree.fromstring((PAGES / "p3gm-figure-2.svg").read_text(encoding="utf-8"))
    rows = [e.text.split()[-1] for e in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert rows == ["real", *PANELS] and len(drawn.findall("{http://www.w3.org/2000/svg}g")) == len(rows) * SHOWN


@pytest.mark.parametrize(("dimensions", "best"), [(5, 0.9992), (10, 1.0), (100, 1.0)])
def test_two_gaussians_as_published_lie_further_apart_the_more_dimensions_there_are(dimensions, best):
    """Section VI-D of P3GM: means of ones and of minus ones, unit covariance."""
    assert best_auroc(published_apart(dimensions)) == pytest.approx(best, abs=5e-5)
    assert best_auroc(2.0) == pytest.approx(0.9214, abs=5e-5)
    data = gaussians(dimensions, published_apart(dimensions))
    *columns, label = data.codes.astype(float)
    centres = (np.array(columns) + 0.5) * 10 / 32 - 5  # of the bins of numbers from -5 to 5
    assert np.abs(centres[:, label == 1].mean(axis=1) - 1).max() < 0.06
    assert np.abs(centres[:, label == 0].mean(axis=1) + 1).max() < 0.06


def test_pictures_as_svg_have_a_mark_for_every_inked_point():
    picture = np.zeros((1, 3, 4), dtype=int)
    picture[0, 1, 1:3] = picture[0, 2, 0] = 1
    text = svg_pictures({"a": picture}, alt="a picture")
    assert "M1 1h2v1h-2z" in text and "M0 2h1v1h-1z" in text and text.count("<path") == 1
    assert alone(picture) == pytest.approx(1 / 3)
    ElementTree.fromstring(text)


def test_lines_on_an_even_axis_lie_in_proportion():
    text = svg_lines({"a": {1.0: 0.5, 10.0: 0.9}}, x="x", y="y", even=True)
    heights = [float(h) for h in re.findall(r'<circle cx="[\d.]+" cy="([\d.]+)"', text)]
    assert heights[0] == HEIGHT - BOTTOM and heights[1] == TOP
    ElementTree.fromstring(text)


def test_a_table_that_somebody_has_is_read_by_name_with_its_target_last(tmp_path):
    """As `benchmarks.deep --file`: numbers in bins, the rest as categories, positive values of the target together."""
    path = tmp_path / "letters.csv"
    path.write_text("class,f1,place\n" + "".join(f"{i % 5},{i / 7},{'ab'[i % 2]}\n" for i in range(100)), "utf-8")
    data = from_file(path, "class", ["1", "3"])
    assert data.domain.names == ("f1", "place", "class") and data.numbers == {"f1"}
    assert data.domain.sizes == (32, 2, 2)
    both = np.concatenate([data.codes, data.test], axis=1)
    assert both[-1].mean() == pytest.approx(0.4) and data.test.shape == (3, 10)
    assert from_file(path, "class").domain.sizes == (32, 2, 5)
    with pytest.raises(SettingError, match="no column 'label'"):
        from_file(path, "label")
    with pytest.raises(SettingError, match="no value"):
        from_file(path, "class", ["vowel"])


def test_published_figures_stand_next_to_the_table_and_its_stand_in():
    assert published("credit-like", "p3gm paper-credit") == ".8991 .6586 .2411 (credit)"
    assert published("adult", "real") == ".9119 .7844"
    assert published("mine", "dp-gm", "isolet").endswith("(isolet)") and published("wide", "p3gm") == ""


def credit(rng, n):
    """As Kaggle has it: names and classes in quotation marks, seconds since the first payment."""
    fraud = rng.random(n) < 0.1
    parts = rng.normal(size=(n, 5)) + 2 * fraud[:, None]
    yield '"Time","V1","V2","V3","V4","V5","Amount","Class"'
    yield from (f'{i},{",".join(map(repr, parts[i].tolist()))},{i % 97}.5,"{int(fraud[i])}"' for i in range(n))


def esr(rng, n):
    """As UCI has it: a first column without a name that names the record, five classes."""
    y = rng.integers(1, 6, n)
    x = rng.normal(90 * (y == 1)[:, None], 40, (n, 6)).astype(int)
    yield '"","X1","X2","X3","X4","X5","X6","y"'
    yield from (f'"X{i % 23}.V1.{i}",{",".join(map(str, x[i]))},{y[i]}' for i in range(n))


def isolet(rng, n):
    """As OpenML has it: numbers from -1 to 1, letters from 1 to 26."""
    y = rng.integers(1, 27, n)
    x = np.clip(rng.normal(0, 0.3, (n, 6)) + 0.5 * np.isin(y, [1, 5, 9, 15, 21])[:, None], -1, 1)
    yield "f1,f2,f3,f4,f5,f6,class"
    yield from (",".join(f"{v:.4f}" for v in x[i]) + f",{y[i]}" for i in range(n))


def mnist(rng, n):
    """As Kaggle has it: the class first, grey points row by row."""
    y = rng.integers(0, 10, n)
    x = (rng.random((n, 36)) < np.random.default_rng(1).random((10, 36))[y]) * rng.integers(1, 256, (n, 36))
    yield "label," + ",".join(f"pixel{i}" for i in range(36))
    yield from (f"{y[i]}," + ",".join(map(str, x[i])) for i in range(n))


def people(rng, n):
    """Adult: words, numbers, what is not known, classes with a sign."""
    yield "age,workclass,hours.per.week,income"
    for age, hours in rng.integers(17, 90, (n, 2)):
        word = ["Private", "?", "State-gov"][age % 3]
        yield f"{age},{word},{hours},{'>50K' if age + hours > 130 else '<=50K'}"


@pytest.mark.parametrize(
    ("form", "given", "columns"),
    [
        (credit, ["--target", "Class", "--without", "Time", "--row", "credit"], 7),
        (esr, ["--target", "y", "--positive", "1", "--row", "esr"], 7),
        (isolet, ["--target", "class", "--positive", "1,5,9,15,21", "--row", "isolet"], 7),
        (mnist, ["--target", "label", "--row", "mnist"], 37),
        (people, ["--target", "income", "--positive", ">50K", "--row", "adult"], 4),
    ],
)
def test_files_in_the_form_of_the_papers_tables_are_judged_next_to_its_figures(
    form, given, columns, tmp_path, monkeypatch, capsys
):
    """Small files with the names, types and classes of the tables that cannot be had."""
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(form(np.random.default_rng(0), 400)) + "\n", "utf-8")
    seen = []
    monkeypatch.setattr(deep, "split", lambda *a, **k: seen.append(a[1]) or split(*a, **k))
    fast = ["--systems", "rls", "--classifiers", "logistic", "--seeds", "1"]
    monkeypatch.setattr("sys.argv", ["deep", "--file", str(path), *given, *fast])
    deep.main()
    assert len(seen[0]) == columns and seen[0].names[-1] == given[1]
    ours = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| mine |")]
    assert [line.split(" | ")[1] for line in ours] == ["real", "drawn anew", "rls"]
    assert ("accuracy 0." in ours[0]) == (form is mnist), "ten classes are judged by accuracy first"
    real = float(ours[0].split(" | ")[3].split()[-1])
    assert real > 0.75 and (f"({given[-1]})" in ours[0] or form is mnist), "whose figures stand next to them"


def test_a_column_to_leave_out_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(credit(np.random.default_rng(0), 50)) + "\n", "utf-8")
    with pytest.raises(SettingError, match="no column 'Seconds'"):
        from_file(path, "Class", without=["Seconds"])
    assert from_file(path, "Class").domain.names[0] == "Time"


def test_records_that_are_no_squares_are_no_pictures():
    with pytest.raises(SettingError, match=r"records of 29 numbers .* leave out 'cnn'"):
        Convolutional().fit(np.zeros((3, 29), dtype=np.float32), np.zeros(3, dtype=np.int64))


@pytest.mark.deep
def test_the_network_for_pictures_finds_the_quarter_that_is_bright():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 600)
    x = rng.random((600, 8, 8), dtype=np.float32) / 4
    for picture, quarter in zip(x, y, strict=True):
        down, across = divmod(int(quarter), 2)
        picture[4 * down : 4 * down + 4, 4 * across : 4 * across + 4] += 0.5
    x = x.reshape(600, 64)
    chances = Convolutional().fit(x[:500], y[:500]).predict_proba(x[500:])
    assert chances.shape == (100, 4) and np.allclose(chances.sum(axis=1), 1, atol=1e-6)
    assert (chances.argmax(axis=1) == y[500:]).mean() > 0.9
