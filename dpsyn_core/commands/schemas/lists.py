"""Public lists of values that a person names for `dpsyn schema draft`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any


def parse_lists(texts: Sequence[str]) -> dict[str, Any]:
    """COLUMN=LIST as public lists by column. Raises SettingError."""
    from dpsyn_core.errors import SettingError
    from dpsyn_core.schema import code_list

    out = {}
    for text in texts:
        column, _, name = text.rpartition("=")
        if not column or not name:
            msg = f"--list got '{text}'; it needs COLUMN=LIST, as in country=iso3166 or plz=digits:2"
            raise SettingError(msg)
        out[column] = code_list(name)
    return out


def below(wanted: Sequence[Any], lists: dict[str, Any]) -> list[Any]:
    """What is bought, with the public beginnings that its values stand below. Raises SettingError."""
    from dpsyn_core.errors import SettingError

    for one in (w for w in wanted if w.name in lists and not lists[w.name].by_prefix):
        msg = f"'{one.name}' has a whole public list, which leaves nothing to buy; leave out --buy or --list of it"
        raise SettingError(msg)
    return [replace(w, above=lists[w.name].values) if w.name in lists else w for w in wanted]


def with_more(schema: Any, lists: dict[str, Any], headers: Sequence[str]) -> Any:
    """The schema with columns of public lists beside those that were bought, in the order of the table."""
    from dpsyn_core.errors import SettingError
    from dpsyn_core.schema import Schema

    absent = [c for c in lists if c not in headers]
    if absent:
        msg = f"--list names '{absent[0]}', which the table does not have; name one of its columns"
        raise SettingError(msg)
    if not lists:
        return schema
    whole = schema.document()
    whole["attributes"] += [known.attribute(column) for column, known in lists.items()]
    whole["attributes"].sort(key=lambda a: list(headers).index(a["name"]))
    return Schema.of(whole)
