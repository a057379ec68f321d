"""Helpers for tests of the app: going to a page, what stands on it, files to upload, edits of the schema's table."""

import json

from streamlit.proto.PlotlyChart_pb2 import PlotlyChart

from ui.schema.rows import Row
from ui.shared.state import workspaces


def at_page(app, name):
    """The app on one of its pages."""
    if not app._tree.children:
        app.run()
    return app.switch_page(f"pages/{name}.py").run()


def explored(app, view, *, links=False):
    """The Report page at one of the views that stand behind Explore."""
    key = "report_view_links" if links else "report_view"
    if app.segmented_control(key=key).value != "explore":
        app.segmented_control(key=key).set_value("explore").run()
    return app.segmented_control(key="report_explore").set_value(view).run()


def dialog(app, name):
    """The app with one of its dialogs open."""
    return app.button(key=f"open_{name}").click().run()


def words(app):
    """Everything that is written on the page and in the side panel, as one text."""
    parts = [
        e.value for kind in ("title", "header", "markdown", "error", "info", "warning") for e in getattr(app, kind)
    ]
    parts += [e.proto.body for e in app.get("html")]
    parts += [b.label for b in app.button]
    return "\n".join(str(p) for p in parts)


def rows_of(schema):
    """The rows of the editor for a schema, one an attribute."""
    return [Row(document, {}) for document in schema.document()["attributes"]]


def plots(app):
    """Every figure on the page, as its document."""
    out = []
    for element in app.get("plotly_chart"):
        proto = element.proto
        spec = proto.spec if isinstance(proto, PlotlyChart) else proto.figure.spec
        out.append(json.loads(spec))
    return out


def typed(app, **fields):
    """Types into fields by their keys."""
    for key, value in fields.items():
        app.text_input(key=key).set_value(value)
    return app.run()


# name of a file that no table can be read from: its bytes, and a word of the sentence that refuses it
BAD = {
    "empty.csv": (b"", "empty"),
    "header.csv": (b"a,b\n", "record"),
    "binary.csv": (b"\x00\x01\x02,b\n1,2\n", "binary"),
    "blank.csv": (b"a,,c\n1,2,3\n", "blank"),
    "torn.parquet": (b"PAR1 this is no table PAR1", "arquet"),
    "page.csv": (b"%PDF-1.4 x", "PDF"),
    "photo.png": (b"\x89PNG\r\n\x1a\n" + b"data\n" * 20, "image"),
    "locked.xlsx": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "password"),
    "book.xlsx": (b"PK\x03\x04 torn", "damaged"),
}


GOOD = b"name;age;town\nx1;10;Y\nx2;20;Z\nx3;30;Y\n"


def uploaded(app, name="people.csv", raw=GOOD):
    """The app with a file handed to the Data page."""
    app.run()
    app.segmented_control(key="data_way").set_value("upload").run()
    return app.file_uploader(key="upload").set_value((name, raw, "text/csv")).run()


def keys(elements):
    """Keys of the elements that have one."""
    return [e.key for e in elements if e.key]


def columns_of(app):
    """The table of all columns on the Schema page; the guide has another one above it."""
    return next(d for d in app.dataframe if d.key.startswith("schema_editor"))


def edited(app, edits):
    """Types into the schema's table: {row: {column: value}}."""
    key = columns_of(app).key
    app.session_state[key] = {"edited_rows": edits, "added_rows": [], "deleted_rows": []}
    return app.run()


def space_of(app):
    """The workspace of the visitor."""
    return workspaces().find(app.session_state["owner"])
