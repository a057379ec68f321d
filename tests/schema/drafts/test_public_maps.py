"""Columns that name others, such as cities and countries: a draft asks whether that is public."""

import pyarrow as pa
import pytest

import dpsyn_core.schema.drafts.public_maps as maps
from dpsyn_core.commands.cli import main
from dpsyn_core.schema import misfit
from dpsyn_core.schema.drafts.draft import drafted
from dpsyn_core.schema.drafts.public_maps import public_maps


def towns(broken=0, times=4):
    """60 towns of 5 lands; broken: records in a wrong land."""
    rows = [(f"t{i % 60}", f"l{i % 60 % 5}", f"x{i * 7 % 11}") for i in range(60 * times)]
    rows[:broken] = [(t, "l4" if land != "l4" else "l0", x) for t, land, x in rows[:broken]]
    return pa.table({n: [r[k] for r in rows] for k, n in enumerate(("town", "land", "other"))})


@pytest.mark.parametrize(("broken", "times", "count"), [(0, 4, 1), (1, 4, 0), (0, 1, 0)])
def test_a_column_that_names_another_in_every_record_is_found_and_no_other(broken, times, count):
    table = towns(broken, times)
    schema, _ = drafted(table, "towns")
    found = [m for m in public_maps(schema, table) if m.column == "land"]
    assert [(m.of, m.values, m.named) for m in found] == [("town", 60, 5)] * count


def test_the_command_asks_whether_it_is_public_and_shows_no_value(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = towns().to_pylist()
    (tmp_path / "t.csv").write_text(
        "town,land,other\n" + "".join(f"{r['town']},{r['land']},{r['other']}\n" for r in rows)
    )
    assert main(["schema", "draft", "t.csv", "-o", "s.json"]) == 0
    (said,) = [line for line in capsys.readouterr().out.splitlines() if "is this public" in line]
    assert "60 values of 'town' name 5 of 'land'" in said and "for the owner only" in said
    assert "t17" not in said and "l3" not in said


def test_headers_of_a_wide_table_are_looked_up_once(monkeypatch):
    wide = pa.table({f"c{i}": ["a", "b"] * 20 for i in range(300)})
    schema, _ = drafted(wide, "t")
    asked = []
    for module in (maps, misfit):
        found = module.locate
        monkeypatch.setattr(
            module, "locate", lambda names, wanted, found=found: asked.append(1) or found(names, wanted)
        )
    assert public_maps(schema, wide) == [] and misfit.misfits(schema, wide) == []
    assert len(asked) == 2
