"""A large Excel file is made while a bar shows how far it is, and the browser takes it at the same press."""

from streamlit.delta_generator import DeltaGenerator

from dpsyn_core.tables import write
from tests.app.brought import project
from tests.app.test_brought_projects import keys_of, opened
from tests.app_driver import at_page
from ui.export import files


def test_a_bar_shows_how_much_of_an_excel_file_is_made(app, monkeypatch):
    seen = []
    shown = DeltaGenerator.progress

    def progress(self, value, text=None, **options):
        seen.append((value, text))
        return shown(self, value, text, **options)

    monkeypatch.setattr(files, "SEEN_CELLS", 0)
    monkeypatch.setattr(write, "TOLD_EVERY", 100)  # records, of some 400
    monkeypatch.setattr(DeltaGenerator, "progress", progress)
    opened(app, project())
    at_page(app, "export")
    assert "export_xlsx" not in keys_of(app), "the file is not made yet"
    app.button(key="export_xlsx_first").click().run()
    assert not app.exception
    values = [value for value, text in seen if text == files.t("export.making")]
    assert values == sorted(values) and len(set(values)) > 2 and 0.5 < values[-1] <= 1, values
    assert "export_xlsx" in keys_of(app), "the file can be taken"
