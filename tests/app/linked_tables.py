"""Linked tables for tests of the app: the sample, uploads of patients with visits, a panel."""

from tests.app_driver import space_of
from ui.questions import kept

PATIENTS = b"patient_id,sex\n" + b"".join(b"%d,%s\n" % (i, (b"f", b"m")[i % 2]) for i in range(40))
VISITS = b"patient_id,nr,ward\n" + b"".join(
    b"%d,%d,%s\n" % (i % 40, 1 + i // 40, (b"A", b"B", b"C")[i % 3]) for i in range(100)
)
PANEL = b"person,year,sex,job\n" + b"".join(
    b"%d,%d,%s,%s\n" % (i // 3, 2020 + i % 3, (b"f", b"m")[i // 3 % 2], (b"yes", b"no")[i % 2]) for i in range(300)
)


def with_sample(app):
    """The app with the sample of households loaded."""
    app.run()
    app.segmented_control(key="data_way").set_value("linked").run()
    return app.button(key="linked_sample").click().run()


def with_files(app, **files):
    """The app with files handed to the field for linked tables; a name becomes NAME.csv."""
    app.run()
    app.segmented_control(key="data_way").set_value("linked").run()
    given = [(f"{name}.csv", raw, "text/csv") for name, raw in files.items()]
    return app.file_uploader(key="linked_upload").set_value(given).run()


def with_panel(app, raw=PANEL):
    """The app with one file declared as a panel."""
    with_files(app, waves=raw)
    return app.button(key="linked_as_panel").click().run()


def linked(app):
    """The linked tables of the visitor."""
    return space_of(app).linked


def asked(app):
    """The questions about linked tables that the next run is told."""
    return kept.fitting(space_of(app)).across


def field(app, kind, label):
    """The field of a kind whose label begins so."""
    return next(e for e in getattr(app, kind) if e.label.lower().startswith(label))


def with_shop(app):
    """The app with customers, their orders and the lines of these."""
    customers = b"customer_id,kind\n" + b"".join(b"%d,%s\n" % (i, (b"new", b"old")[i % 2]) for i in range(60))
    orders = b"order_id,customer_id,way\n" + b"".join(
        b"%d,%d,%s\n" % (i, i % 60, (b"web", b"shop")[i % 2]) for i in range(120)
    )
    lines = b"line_id,order_id,item,pieces\n" + b"".join(
        b"%d,%d,%s,%d\n" % (i, i % 120, (b"pen", b"ink", b"pad")[i % 3], 1 + i % 4) for i in range(300)
    )
    return with_files(app, lines=lines, orders=orders, customers=customers)
