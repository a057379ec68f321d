"""The diagram of linked tables: the root at the top, below it what hangs on it, with key and limit on each link."""

import streamlit as st

from ui.shared.state import Linked, Workspace
from ui.shared.text import counted, escaped, number, t


def draw(space: Workspace) -> None:
    """Boxes and lines made of a nested list, which a narrow window folds and a reader of screens reads.

    One table hangs on nothing, and is not drawn.
    """
    linked = space.linked
    if linked is None:
        return
    if linked.panel is not None:
        body = _panel(linked)
    else:
        body = _branch(linked, linked.root, set())
        lost = [n for n in linked.parts if n not in _reached(linked)]
        body += "".join(_box(linked, n, t("linked.unlinked")) for n in lost)
    st.html(f"<div class='dp-tree'><ul aria-label='{escaped(t('linked.diagram'))}'>{body}</ul></div>")


def _reached(linked: Linked) -> set[str]:
    """Tables that hang on the root, directly or not."""
    reached, size = {linked.root}, 0
    while size != len(reached):
        size = len(reached)
        reached |= {n for n, link in linked.links.items() if link.parent in reached and n in linked.parts}
    return reached


def _branch(linked: Linked, name: str, above: set[str]) -> str:
    """A table with all that hangs on it."""
    link = linked.links.get(name) if above else None
    said = ""
    if link is not None:
        said = t("linked.edge", column=link.key or t("linked.no_key"), most=number(link.max_children))
        said += f" · {t('linked.edge_order', order=link.order)}" if link.order else ""
        said += f" · {t('linked.edge_roles', roles=', '.join(link.single))}" if link.single else ""
    below = [n for n, x in linked.links.items() if x.parent == name and n not in above and n != linked.root]
    inner = "".join(_branch(linked, n, above | {name}) for n in below)
    return _box(linked, name, said, f"<ul>{inner}</ul>" if inner else "")


def _box(linked: Linked, name: str, edge: str, inner: str = "") -> str:
    key = linked.keys.get(name, "")
    parts = [t("linked.root_is")] if name == linked.root else []
    parts += [t("linked.key_is", column=key)] if key else []
    parts.append(counted("linked.columns", linked.width(name)))
    return _item(name, " · ".join(parts), edge, inner)


def _item(name: str, words: str, edge: str, inner: str = "") -> str:
    label = f"<span class='dp-edge'>{escaped(edge)}</span>" if edge else ""
    box = f"<span class='dp-box'><b>{escaped(name)}</b><small>{escaped(words)}</small></span>"
    return f"<li>{label}{box}{inner}</li>"


def _panel(linked: Linked) -> str:
    """A person with what never changes, and their rows."""
    panel, columns = linked.panel, linked.parts[linked.root].schema
    if panel is None or columns is None:
        return ""
    coded = [a.name for a in columns.coded if a.name != panel.person]
    most = t("linked.edge_waves") if panel.most is None else t("linked.edge_most", most=number(panel.most))
    edge = f"{panel.person or t('linked.no_key')} · {most}"
    order = t("linked.edge_order", order=panel.wave or "?")
    changing = counted("linked.columns", len([n for n in coded if n not in panel.constant]))
    rows = _item(t("linked.panel_rows"), f"{order} · {changing}", edge)
    words = f"{t('linked.root_is')} · {counted('linked.columns', len(panel.constant))}"
    return _item(t("linked.panel_persons"), words, "", f"<ul>{rows}</ul>")
