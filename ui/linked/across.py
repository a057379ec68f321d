"""Rules across links: the list, what names propose, and a form for another one; no record is read."""

from typing import Any

import streamlit as st

from dpsyn_core.schema import (
    AnyLinkRule,
    CountRule,
    Link,
    LinkedSchema,
    LinkOrderRule,
    Rule,
    propose_linked_rules,
    spans_of,
)
from ui.schema import rules, tried
from ui.schema.rule_words import rule_words
from ui.shared.choices import one_of
from ui.shared.faults import refusals
from ui.shared.state import Linked, Workspace
from ui.shared.text import literal, t
from ui.shared.theme import note

KINDS = ("order", "count", "impossible")
MOST = 1000  # children that a rule may count, as in its document


def panel(space: Workspace) -> None:
    """The rules of all links, each with a button that takes it out, proposals, and the form for another one."""
    linked = space.linked
    schema = None if linked is None else linked.declared()
    if linked is None or schema is None:
        return
    tables = tried.of_linked(linked)
    proposed = [p for p in propose_linked_rules(schema) if p.across]
    count = sum(len(link.rules) for link in schema.links)
    told = {"count": count, "proposed": len(proposed)}
    with st.expander(t("linked.rules_proposed" if proposed else "linked.rules", **told), key="link_rules_expander"):
        note(t("linked.rules_lead"))
        if tried.confirm([rule for link in schema.links for rule in link.rules], key="link_rules"):
            _confirmed(linked, schema)
        for link in schema.links:
            for number, rule in enumerate(link.rules):
                said = f"{link.child}: {words(rule)}"
                if rules.line(said, t("rules.remove"), f"link_rule_remove_{link.child}_{number}"):
                    _take(linked, link, [r for i, r in enumerate(linked.rule_documents(link.child)) if i != number])
        if proposed:
            st.markdown(f"**{t('rules.proposed')}**")
            note(t("rules.proposed_note"))
        for number, one in enumerate(proposed):
            link = next(link for link in schema.links if link.child == one.table)
            if rules.line(f"{one.table}: {words(one.rule)}", t("rules.confirm"), f"link_rule_confirm_{number}"):
                agreed = tried.marked(tables, [one.document], proposed=True)
                _take(linked, link, [*linked.rule_documents(one.table), *agreed])
        _form(linked, schema)


def words(rule: Rule | AnyLinkRule) -> str:
    """A rule across a link in the visitor's language, as text without Markdown."""
    if isinstance(rule, LinkOrderRule):
        plain = str(rule.model_copy(update={"where": None}))
        return plain if rule.where is None else t("linked.rule_where", rule=plain, where=rule.where)
    if not isinstance(rule, CountRule):
        return rule_words(rule)
    if rule.most is None:
        how = t("linked.count_least", least=rule.least)
    elif rule.least == rule.most:
        how = t("linked.count_exactly", least=rule.least)
    else:
        how = t("linked.count_between", least=rule.least, most=rule.most)
    said = t("linked.rule_count", how=how, where=rule.where)
    return said if rule.given is None else t("linked.rule_given", rule=said, given=rule.given)


def _form(linked: Linked, schema: LinkedSchema) -> None:
    """An example and the fields of every kind of rule."""
    by_child = {link.child: link for link in schema.links}
    names = list(by_child)
    child = names[0]
    if len(names) > 1:
        child = st.selectbox(t("linked.rule_link"), names, key="link_rule_child", format_func=literal)
    link = by_child[child]
    key = f"link_rule_{child}"
    called = {k: t("linked.rule_kind_count" if k == "count" else f"rules.{k}") for k in KINDS}
    kind = one_of(t("rules.kind"), KINDS, key=f"{key}_kind", called=called.__getitem__, labelled=True)
    note(t(f"linked.rule_example_{kind}", parent=literal(link.parent)))
    asked = _fields(schema, link, kind, key)
    if st.button(t("rules.add"), key=f"{key}_add", disabled=asked is None) and asked is not None:
        added = tried.marked(tried.of_linked(linked), [{"kind": kind, **asked}])
        _take(linked, link, [*linked.rule_documents(child), *added])


def _fields(schema: LinkedSchema, link: Link, kind: str, key: str) -> dict[str, Any] | None:
    """The fields of one kind; None while one is open."""
    if kind == "order":
        return _order(schema, link, key)
    if kind == "count":
        return _count(key)
    where = rules.conditions(f"{key}_where", t("linked.rule_none"), "role = Head and age < 18")
    return {"where": where} if where else None


def _order(schema: LinkedSchema, link: Link, key: str) -> dict[str, Any] | None:
    named = schema.attributes_of(link)
    made = rules.order_fields([n for n, a in named.items() if not a.listed], key)
    apart = st.number_input(t("linked.rule_apart"), min_value=0.0, value=0.0, format="%g", key=f"{key}_apart")
    where = rules.conditions(f"{key}_of", t("linked.rule_children"), "role = Child")
    if made is None:
        return None
    made |= {"apart": apart} | ({"where": where} if where else {})
    return rules.lie_close(made, named, key) if _may_be_close(schema, link, made) else made


def _may_be_close(schema: LinkedSchema, link: Link, made: dict[str, Any]) -> bool:
    """Whether the time between would be measured, were the two dates of an order said to lie close together."""
    try:
        rule = LinkOrderRule.model_validate({**made, "close": True})
    except ValueError:  # what is wrong with it is said when it is added
        return False
    return bool(spans_of(schema, link.model_copy(update={"rules": (rule,)})))


def _count(key: str) -> dict[str, Any] | None:
    where = rules.conditions(f"{key}_counted", t("linked.rule_counted"), "role = Head")
    first, second = st.columns(2)
    least = first.number_input(t("linked.rule_least"), 0, MOST, value=1, key=f"{key}_least")
    open_end = t("linked.rule_any")
    most = second.number_input(t("linked.rule_most"), 0, MOST, None, key=f"{key}_most", placeholder=open_end)
    given = st.text_input(t("linked.rule_if"), key=f"{key}_given", placeholder="age < 18").strip()
    if not where:
        return None
    return {"where": where, "least": least, "most": most} | ({"given": given} if given else {})


def _confirmed(linked: Linked, schema: LinkedSchema) -> None:
    """All rules of links are known without the tables, a person says."""
    for link in schema.links:
        linked.set_rules(link.child, [rule.known.model_dump(mode="json") for rule in link.rules])
    linked.version += 1
    st.rerun()


def _take(linked: Linked, link: Link, documents: list[dict[str, Any]]) -> None:
    """Makes these the rules of a link, or says in one sentence why they cannot be."""
    with refusals():
        linked.set_rules(link.child, documents)
        linked.version += 1
        st.rerun()
