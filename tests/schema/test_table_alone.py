"""One table of linked ones by itself: a root is one individual there too, and as many of its records count."""

import pytest

from dpsyn_core.errors import SchemaError
from dpsyn_core.measure.sources.memory import MemorySource
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.progress import silent
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.linked import confirm_linked, draft_linked
from tests.runs.trees.small import DEEP, schema_of, tables


def test_a_child_table_is_bounded_by_the_root_that_its_records_name():
    tree = schema_of({}, theta=2, unit={"neighbours": "replace"})
    alone = tree.table_alone("kids")
    assert alone.unit.identifier == "root" and alone.unit.max_records == 2 and alone.unit.neighbours == "replace"
    assert alone.ledger_name == tree.ledger_name and Schema.of(alone.document()) == alone
    given = tables(60, 3, 1)["kids"]
    kept = {}
    for name in given.column("root").to_pylist():
        kept[name] = min(kept.get(name, 0) + 1, 2)
    with MemorySource(given).open(alone, progress=silent) as opened:
        assert opened.n_records == sum(kept.values())
    assert Unit.of(alone.unit).l1() == Unit.of(tree.unit.counting(2)).l1()
    root = tree.table_alone("roots")
    assert root.unit.identifier == "id" and root.unit.max_records == 1


def test_what_is_not_public_of_the_tree_is_not_public_of_its_table():
    tree = schema_of({}, unit={"source": "data"})
    assert tree.table_alone("kids").reasons and not schema_of({}).table_alone("kids").reasons


@pytest.mark.parametrize(("name", "told"), [("toys", "and not the 'roots'"), ("cats", "has no table 'cats'")])
def test_tables_that_do_not_name_their_root_are_refused(name, told):
    with pytest.raises(SchemaError, match=told):
        DEEP["plain"].table_alone(name)


def test_a_person_confirms_linked_tables_entry_by_entry():
    draft = draft_linked(tables(60, 3, 1), "small", links={"kids": ("root", "roots", "id")}, max_children={})
    draft = draft.model_copy(update={"unit": draft.unit.model_copy(update={"source": "data"})})
    some = confirm_linked(draft, ["kids.r"])
    assert not any("'r'" in reason for reason in some.reasons) and any("'t'" in reason for reason in some.reasons)
    assert any("keys, links or limits" in reason for reason in some.reasons)
    assert not any("keys, links or limits" in reason for reason in confirm_linked(some, unit=True).reasons)
    whole = confirm_linked(draft, everything=True)
    assert whole.private and Schema.of(whole.document()) == whole and not draft.private
    for names, told in ((["r"], "names no table"), (["kids.z"], "no attribute 'z'"), ([], "nothing is named")):
        with pytest.raises(SchemaError, match=told):
            confirm_linked(draft, names)


def test_rules_that_were_chosen_by_looking_are_confirmed_of_tables_and_of_links():
    rule = {"kind": "count", "where": "r = 0", "least": 1, "source": "data"}
    tree = schema_of({"rules": [rule]})
    assert tree.reasons and not confirm_linked(tree, rules=True).reasons
    assert confirm_linked(tree, unit=True).reasons
