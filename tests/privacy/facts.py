"""Public facts of nothing in particular, for manifests of tests."""

from dataclasses import fields

from dpsyn_core.privacy.manifest.statement import PublicFacts

FIELDS = {f.name for f in fields(PublicFacts)}


def facts(**changes):
    """Of a private run, but for what is named."""
    plain = {
        "name": "adult", "digest": "ab" * 32, "reasons": (), "bought": (), "query_vouched": False, "hanging": (),
        "public_table": None, "rules": (),
    }  # fmt: skip
    return PublicFacts(**plain | changes)


def split(changes):
    """What is named of the facts as facts, and the rest as it is."""
    named = {k: v for k, v in changes.items() if k in FIELDS}
    return {k: v for k, v in changes.items() if k not in named} | {"facts": facts(**named)}
