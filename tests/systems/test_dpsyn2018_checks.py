"""Checks of a design: what just fits and what no longer does, which list a budget reaches, and sets that views hold."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from pydantic import ValidationError

from dpsyn_core.errors import SettingError, SizeError
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.others.dpsyn2018 import views
from dpsyn_core.systems.others.dpsyn2018.design import Bins, Design, ListedSet, check_design, with_schema_groups
from dpsyn_core.systems.others.dpsyn2018.parts import PartsBudget
from dpsyn_core.systems.steps import noise_of

DOMAIN = Domain(
    (CodedAttribute(name="a", size=6, ordered=True, special=1), CodedAttribute(name="b", size=6, special=1),
     CodedAttribute(name="c", size=3), CodedAttribute(name="d", size=4))
)  # fmt: skip
G = {"name": "g", "attributes": ["a", "b"]}
H = {"general": "c", "detailed": "d", "codes": [0, 1, 2, 0]}


def listed(*sets):
    return [{"epsilon": 0, "sets": list(sets)}]


@pytest.mark.parametrize(
    ("design", "wrong"),
    [
        ({}, None),
        ({"groups": [G]}, None),
        ({"groups": [{"name": "g", "attributes": ["a", "x"]}]}, "unknown attribute 'x'"),
        ({"unmeasured": ["x"]}, "unknown attribute 'x'"),
        ({"bins": [{"attribute": "x", "width": 2}]}, "unknown attribute 'x'"),
        ({"groups": [G, {"name": "h", "attributes": ["b", "c"]}]}, "'b' is used twice"),
        ({"groups": [G], "unmeasured": ["b"]}, "'b' is used twice"),
        ({"groups": [{"name": "c", "attributes": ["a", "b"]}]}, "the group name 'c' is taken"),
        ({"groups": [G], "patterns": [{"name": "g", "attributes": ["c"]}]}, "the group name 'g' is taken"),
        ({"patterns": [{"name": "p", "attributes": ["a", "b"], "shared": True}]}, None),
        ({"patterns": [{"name": "p", "attributes": ["a", "c"], "shared": True}]}, "have different values"),
        ({"patterns": [{"name": "p", "attributes": ["a", "c"]}]}, None),
        ({"hierarchies": [H]}, None),
        ({"hierarchies": [H | {"codes": [0, 1, 2]}]}, "needs 4 codes of 'c', each below 3"),
        ({"hierarchies": [H | {"codes": [0, 1, 3, 0]}]}, "each below 3"),
        ({"hierarchies": [H | {"codes": [0, 1, -1, 0]}]}, "each below 3"),
        ({"hierarchies": [H], "functional": [{"target": "a", "source": "c"}]}, "'c' is itself derived"),
        ({"hierarchies": [H], "unmeasured": ["d"]}, "'d' is itself derived"),
        ({"hierarchies": [H], "unmeasured": ["c"]}, "derived twice"),
        ({"functional": [{"target": "a", "source": "b"}]}, None),
        ({"bins": [{"attribute": "a", "edges": [1, 4]}]}, None),
        ({"bins": [{"attribute": "a", "edges": [1, 5]}]}, "must be below 5"),
        ({"bins": [{"attribute": "a", "codes": [0, 0, 1, 1, 2, 3]}]}, None),
        ({"bins": [{"attribute": "a", "codes": [0, 0, 1, 1, 2]}]}, "need 6 codes"),
        ({"bins": [{"attribute": "a", "width": 2}, {"attribute": "a", "width": 3}]}, "binned twice"),
        ({"groups": [G], "parts": [["g", "c"], ["d"]]}, None),
        ({"groups": [G], "parts": [["a", "c"], ["d"]]}, "'a' cannot be in a part"),
        ({"groups": [G], "parts": [["g", "c"]]}, "the parts leave out d"),
        ({"groups": [G], "marginals": listed(["a", "c"])}, None),
        ({"groups": [G], "marginals": listed(["g", "a"])}, "names an attribute twice"),
        ({"marginals": listed(["c", "c"])}, "names an attribute twice"),
        (
            {"patterns": [{"name": "p", "attributes": ["a", "b"]}], "marginals": listed(["a", "c"])},
            "'a' cannot be",
        ),
        ({"unmeasured": ["c"], "marginals": listed(["c", "d"])}, "'c' cannot be in a marginal"),
        ({"parts": [["a", "b"], ["c", "d"]], "marginals": listed(["a", "b"])}, None),
        ({"parts": [["a", "b"], ["c", "d"]], "marginals": listed(["a", "c"])}, "lies in no part"),
        ({"one_ways": ["a"]}, None),
        ({"unmeasured": ["a"], "one_ways": ["a"]}, "'a' cannot have a one-way"),
        ({"patterns": [{"name": "p", "attributes": ["a"]}], "one_ways": ["a"]}, None),
        ({"one_ways": ["a"], "marginals": listed(["b", "c"])}, "nothing is measured of d"),
        ({"one_ways": ["a", "d"], "marginals": listed(["b", "c"])}, None),
        ({"one_ways": ["c"], "marginals": listed(["b", "d"]), "unmeasured": ["a"]}, None),
        ({"groups": [G], "one_ways": ["c"], "marginals": listed(["b", "d"])}, None),
    ],
)
def test_a_design_fits_its_domain_or_says_what_does_not(design, wrong):
    made = Design.model_validate(design)
    if wrong is None:
        check_design(made, DOMAIN)
    else:
        with pytest.raises(SettingError, match=wrong):
            check_design(made, DOMAIN)


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        *(({"width": 1}, True), ({"width": 0}, False), ({"edges": (1,)}, True), ({"edges": (0, 1)}, False)),
        *(({"edges": (2, 2)}, False), ({"codes": (0, 1, 0)}, True), ({"codes": (0, 2)}, False), ({}, False)),
        *(({"codes": (1, 2)}, False), ({"width": 2, "edges": (1,)}, False), ({"edges": (1,), "codes": (0,)}, False)),
    ],
)
def test_bins_are_said_in_one_way(given, fits):
    if fits:
        assert Bins(attribute="a", **given).attribute == "a"
    else:
        with pytest.raises(ValidationError):
            Bins(attribute="a", **given)


@pytest.mark.parametrize(("weight", "fits"), [(1e-9, True), (1e6, True), (0.0, False), (1.01e6, False)])
def test_a_set_has_a_weight_above_zero_and_is_a_plain_list_at_one(weight, fits):
    if fits:
        made = ListedSet(attributes=("a",), weight=weight)
        assert made.model_dump() == {"attributes": ["a"], "weight": weight}
    else:
        with pytest.raises(ValidationError):
            ListedSet(attributes=("a",), weight=weight)
    plain = ListedSet.model_validate(["a", "b"])
    assert plain.weight == 1 and plain.model_dump() == ["a", "b"]


def test_a_budget_uses_the_list_of_the_largest_epsilon_that_it_reaches():
    lists = [{"epsilon": e, "sets": [[n]]} for e, n in ((2, "b"), (1, "a"), (4, "c"))]
    ranges = [{"epsilon": 3, "unmeasured": ["d"], "sets": [["a", "b"]]}, {"epsilon": 1.5, "one_ways": []}]
    design = Design.model_validate({"marginals": lists, "budgets": ranges, "unmeasured": ["c"]})
    for epsilon, name in ((0.5, "a"), (1, "a"), (1.99, "a"), (2, "b"), (3.9, "b"), (4, "c"), (99, "c")):
        assert design.sets_for(epsilon)[0].attributes == (name,)
        at = design.at(epsilon)
        assert at.budgets == () and len(at.marginals) == 1 and at.marginals[0].epsilon == 0
        if epsilon < 1.5:
            expected = (("c",), None, (name,))
        elif epsilon < 3:
            expected = (("c",), (), (name,))
        else:
            expected = (("d",), None, ("a", "b"))
        assert (at.unmeasured, at.one_ways, at.marginals[0].sets[0].attributes) == expected
    assert Design().sets_for(1.0) is None and Design().at(1.0).marginals == ()


def test_groups_of_the_schema_are_taken_over_where_two_columns_are_left_of_them():
    grouped = Domain(tuple(CodedAttribute(name=n, size=2, group=g) for n, g in zip("abcdef", "xxxyyz", strict=True)))
    found = with_schema_groups(Design(), grouped).groups
    assert [(g.name, g.attributes) for g in found] == [("x", ("a", "b", "c")), ("y", ("d", "e"))]
    used = Design.model_validate({"groups": [{"name": "g", "attributes": ["a", "f"]}], "unmeasured": ["d"]})
    assert [(g.name, g.attributes) for g in with_schema_groups(used, grouped).groups] == [
        ("g", ("a", "f")), ("x", ("b", "c")),
    ]  # fmt: skip


def test_views_inside_parts_are_all_pairs_and_triples_under_both_caps_each_in_its_first_part():
    raw = {"a": 9, "b": 4, "c": 3, "d": 2, "e": 2}
    sizes = {"a": 4, "b": 4, "c": 3, "d": 2, "e": 2}
    parts = [["b", "a", "c"], ["c", "a", "d", "e"]]
    for cells, most_raw in ((10**6, 10**6), (16, 10**6), (15, 10**6), (10**6, 36), (10**6, 35), (0, 0)):
        seen, expected = set(), []
        for part in parts:
            names = [n for n in raw if n in part]
            fits = [
                s
                for order in (2, 3)
                for s in itertools.combinations(names, order)
                if math.prod(sizes[n] for n in s) <= cells and math.prod(raw[n] for n in s) <= most_raw
            ]
            expected.append([s for s in [*[(n,) for n in names if n in "bc"], *fits] if s not in seen])
            seen |= {(n,) for n in names if n in "bc"} | set(fits)
        assert views.inside(parts, raw, sizes, cells=cells, most_raw=most_raw, alone=("b", "c")) == expected
    assert views.held(parts, (2, 3)) == 3 + 1 + 6 + 4 and views.held([["a"]], (2, 3)) == 0
    assert [views.part_of(names, parts) for names in (["a"], ["e", "c"], ["b", "d"], [])] == [0, 1, None, 0]


@pytest.mark.parametrize(("sizes", "refused"), [((200, 14, 4, 3), False), ((200, 14, 4, 3, 2), True), ((200,), False)])
def test_parts_hold_twenty_thousand_pairs_at_most(sizes, refused):
    parts = [[f"x{k}_{i}" for i in range(size)] for k, size in enumerate(sizes)]
    pairs = sum(math.comb(size, 2) for size in sizes)
    assert (pairs > 20_000) == refused
    if refused:
        with pytest.raises(SizeError, match=f"hold {pairs} pairs"):
            views.check_parts(parts)
    else:
        views.check_parts(parts)


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize(("cells", "most_raw"), [(10**6, 10**6), (16, 10**6), (10**6, 36), (3, 3)])
def test_drawn_views_are_different_and_leave_out_what_would_pass_a_cap(width, cells, most_raw):
    raw = {"a": 9, "b": 4, "c": 3, "d": 2, "e": 2}
    sizes = {"a": 4, "b": 4, "c": 3, "d": 2, "e": 2}
    for count in (1, 3, 40):
        rng, expected = np.random.default_rng(7), []
        for _ in range(10 * count):
            chosen = []
            for i in rng.permutation(5)[:width]:
                more = [*chosen, list(raw)[i]]
                if math.prod(sizes[n] for n in more) <= cells and math.prod(raw[n] for n in more) <= most_raw:
                    chosen = more
            view = tuple(n for n in raw if n in chosen)
            if chosen and view not in expected:
                expected.append(view)
            if len(expected) == count:
                break
        found = views.drawn(raw, sizes, count=count, width=width, cells=cells, most_raw=most_raw, seed=7)
        assert found == expected


@pytest.mark.parametrize(
    ("sure", "tried"),
    [([0, 0], [1, 0]), ([1, 0], [1, 2]), ([2, 3], [4, 3]), ([0, 0], [2, 5]), ([0, 0], [0, 0]), ([0, 1], [0, 1])],
)
def test_the_share_of_a_part_lies_between_its_fewest_sets_and_its_most(sure, tried):
    unit, whole = Unit(), Cost(rho=2.0)
    rest, names = whole.scaled(0.5), [["a", "b"], ["c", "d", "e"]]
    made = SimpleNamespace(parts=names, rest=rest, whole=whole, unit=unit, _attributes=tuple,
                           _cells=lambda s: {1: 4, 2: 16}[len(s)])  # fmt: skip
    sets = [[[("a", "b")] * k for k in counts] for counts in (sure, tried)]
    steps = PartsBudget.inside(made, *sets, cap=10)
    most = [t if any(sure) else max(t, len(p)) for t, p in zip(tried, names, strict=True)]
    expected = []
    for k, part in enumerate(names):
        if not most[k]:
            continue
        other = 1 - k
        low = 0.5 * sure[k] / max(1, sure[k] + most[other])  # the fewest of its own beside the most of the other
        high = 0.5 * most[k] / max(1, most[k] + sure[other])
        expected.append((tuple(part), (sure[k], most[k]), (pytest.approx(low), pytest.approx(high))))
    assert [(s.inside, s.parts, s.share) for s in steps] == expected
    for step, counts in zip(steps, [t for t, m in zip(tried, most, strict=True) if m], strict=True):
        noises = [noise_of(rest.scaled(1 / max(n, 1)), unit) for n in (sum(sure), sum(most))]
        assert step.sigma == (pytest.approx(noises[0]), pytest.approx(noises[1]))
        assert step.cells == (1, 10 if counts else 4) and step.kind == "chosen"
