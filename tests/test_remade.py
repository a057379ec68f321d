"""docs/evidence/remade: the tables of the documents are what the benchmark prints."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks.deep import from_file, published
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
