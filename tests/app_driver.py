"""Helpers for tests of the app: going to a page, and what stands on it."""


def at_page(app, name):
    """The app on one of its pages."""
    if not app._tree.children:
        app.run()
    return app.switch_page(f"pages/{name}.py").run()


def words(app):
    """Everything that is written on the page and in the side panel, as one text."""
    parts = [
        e.value for kind in ("title", "subheader", "markdown", "error", "info", "warning") for e in getattr(app, kind)
    ]
    parts += [e.proto.body for e in app.get("html")]
    parts += [b.label for b in app.button]
    return "\n".join(str(p) for p in parts)
