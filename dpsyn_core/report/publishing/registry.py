"""The entry of a release for the registry of differential-privacy deployments, which the OpenDP project keeps.

Source: opendp/deployments-registry-data, schemas/deployments-schema.yaml as of July 2026. The manifest gives everything
that it states; what only a person knows is asked for and never guessed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from typing import Any

from dpsyn_core.errors import InputError
from dpsyn_core.privacy import Manifest
from dpsyn_core.report.publishing import facts
from dpsyn_core.report.publishing.choices import CURATORS, SECTORS

MODEL = {
    "model_name": "Central",
    "trust_assumptions": "The curator and the machine of the run see the private table. Readers see what was released.",
    "release_type": "One release",
    "release_type_details": "Further runs on the same table are charged to the curator's ledger, each with a manifest.",
    "data_source_type": "Static",
    "access_type": "Non-interactive",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """What only a person knows of a release.

    curator: who publishes the table, with its kind, one of `CURATORS`. use: what the table is for. region: that it
    describes, or whose law applies. author: of the entry. published: date of publication, YYYY-MM-DD. sector: one of
    `SECTORS`, or None.
    """

    curator: str
    kind: str
    use: str
    region: str
    author: str
    published: str
    sector: str | None = None

    def check(self) -> None:
        """Raises InputError for what the registry would refuse."""
        for name in ("curator", "use", "region", "author"):
            if not getattr(self, name).strip():
                msg = f"the entry needs its {name}, and got nothing; say it in a few words"
                raise InputError(msg)
        for name, value, allowed in (("kind of curator", self.kind, CURATORS), ("sector", self.sector, SECTORS)):
            if value is not None and value not in allowed:
                msg = f"the {name} is '{value}'; the registry knows {', '.join(allowed)}"
                raise InputError(msg)
        try:
            date.fromisoformat(self.published)
        except ValueError as error:
            msg = f"the date of publication is '{self.published}'; write it as 2026-07-31"
            raise InputError(msg) from error


def entry(m: Manifest, person: Person) -> dict[str, Any]:
    """The entry of a release.

    Raises:
        InputError: the manifest states no guarantee, contradicts itself, or the registry would refuse what was typed.
    """
    person.check()
    if not m.private:
        msg = f"the release is NOT PRIVATE ({m.not_private_because[0]}); the registry lists guarantees alone"
        raise InputError(msg)
    faults = m.promise_faults()
    if faults:
        msg = f"the manifest contradicts itself: {'; '.join(faults)}; get it again from whoever made it"
        raise InputError(msg)
    basic = {
        "name": m.dataset,
        "data_curators": [{"data_curator_name": person.curator, "data_curator_type": person.kind}],
        "description": f"A synthetic table of {m.n_records} records, made by the system {m.method}. {m.guarantee}",
        "intended_use": person.use,
        "data_product_type": "Synthetic data",
        "data_product_region": person.region,
    }
    basic |= {} if person.sector is None else {"data_product_sector": person.sector}
    return {
        "url_slug": _slug(m.dataset, person.curator, person.published[:4]),
        "deployment": {
            "basic": basic | {"publication_date": person.published},
            "dp_variant": {
                "variant_name": "Approximate DP" if m.delta else "Pure DP",
                "data_domain": f"Tables with the columns and values that the public schema {m.schema_name} declares "
                f"(SHA-256 {m.schema_hash}).",
                "unprotected_quantities": facts.unprotected(m),
            },
            "privacy_loss": {
                "privacy_unit": _level(m),
                "privacy_unit_details": facts.unit(m),
                "privacy_parameters": {"epsilon": float(m.epsilon)} | ({"delta": float(m.delta)} if m.delta else {}),
                "privacy_parameters_details": facts.composition(m),
            },
            "deployment_model": MODEL,
            "implementation": _implementation(m),
            "administrative": {"status": "Draft", "registry_authors": [person.author], "tier": 3},
        },
    }


def _implementation(m: Manifest) -> dict[str, str]:
    version = m.versions.get("dpsyn-studio", "of an unknown version")
    source = (
        f"DPSyn Studio {version}: noise on whole numbers from the randomness of the operating system, without a seed; "
        "no times of steps are published"
    )
    return {
        "preprocessing_and_hyperparameter_tuning": "Each record is encoded by itself, by the public schema. Settings: "
        f"{json.dumps(m.settings, ensure_ascii=False)}. That they were chosen without the data is the curator's word.",
        "mechanisms": "\n".join(f"- {line}" for line in (*facts.mechanisms(m), source)),
        "composition": facts.composition(m),
        "post_processing": f"Consistency, fitting and drawing of the records use {facts.made_from(m)}.",
        "justification": "Not stated in the manifest; ask the curator why this budget was chosen.",
        "additional_information": f"Run {m.run_id}. The manifest lists every charge; `dpsyn verify` checks it.",
    }


def _level(m: Manifest) -> str:
    if m.identifier is not None:
        return f"User-level (named by the column {m.identifier})"
    return "Record-level" if m.max_records == 1 else f"Group of at most {m.max_records} records"


def _slug(*parts: str) -> str:
    return "--".join(re.sub(r"[^a-z0-9]+", "-", p.lower()).strip("-") for p in parts)


def file_name(m: Manifest) -> str:
    """A name that the registry accepts: lowercase letters, digits and underscores."""
    return (re.sub(r"[^a-z0-9]+", "_", m.dataset.lower()).strip("_") or "release") + ".yaml"


def to_yaml(document: Any, indent: int = 0) -> str:
    """The entry as YAML: texts in double quotes, which JSON and YAML write alike, and of several lines as blocks."""
    pad = "  " * indent
    lines = []
    for name, value in document.items():
        if isinstance(value, dict):
            lines.append(f"{pad}{name}:\n{to_yaml(value, indent + 1)}" if value else f"{pad}{name}: {{}}\n")
        elif isinstance(value, list):
            lines.append(f"{pad}{name}:\n" + "".join(_item(v, indent + 1) for v in value))
        else:
            lines.append(f"{pad}{name}: {_scalar(value, indent + 1)}\n")
    return "".join(lines)


def _item(value: Any, indent: int) -> str:
    pad = "  " * indent
    if not isinstance(value, dict):
        return f"{pad}- {_scalar(value, indent + 1)}\n"
    return f"{pad}- " + to_yaml(value, indent + 1).removeprefix("  " * (indent + 1))


def _scalar(value: str | int | float, indent: int) -> str:
    if isinstance(value, float):  # YAML 1.1 wants a point before an exponent: 1e-09 would be a text
        text = repr(value)
        return text if "." in text or "e" not in text else text.replace("e", ".0e")
    if isinstance(value, int):
        return str(value)
    lines = value.split("\n")
    if len(lines) > 1 and all(line[:1].strip() and line.isprintable() for line in lines):
        return "|-\n" + "\n".join("  " * indent + line for line in lines)
    text = "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in value.replace("\\", "\\\\"))
    return '"' + text.replace('"', '\\"') + '"'
