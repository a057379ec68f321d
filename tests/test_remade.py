"""docs/remade: the tables of the documents are what the benchmark prints."""

from pathlib import Path

import pytest

from benchmarks.remade import DOCUMENTS

PAGES = Path(__file__).resolve().parents[1] / "docs" / "remade"
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
