"""The settings of a run as one file: schema, budget, system, its settings, size, seed and questions. All public."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpsyn_core.errors import DPSynError, SettingError
from dpsyn_core.files import RepeatedFieldError, fields_once, not_private_name, unfit_text, write_text
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema import Schema
from dpsyn_core.systems import validated

KIND = "dpsyn-settings"
VERSION = 1
LARGEST = 50_000_000  # bytes of a file: a schema of a hundred thousand columns has some 20 MB
# an owner's word is given for one table, so a file that may go elsewhere never has it: that a table is public, or (no
# field of a run) that a query reads each record by itself. Nor may such a file name a place on this machine to be read.
# `chosen_on` is a fact of the settings themselves, and a manifest that repeats it promises less, never more
FIELDS = tuple(name for name in RunSpec.model_fields if name != "public_table")


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """All that was chosen for a run but its tables and the places of files; a run of them spends budget anew.

    Attributes:
        schema: of the table, with the unit of privacy; without questions, which are in the run.
        run: budget, system, settings, size, seed, questions.
    """

    schema: Schema
    run: RunSpec

    @classmethod
    def of_run(cls, run: RunSpec, schema: Schema) -> RunSettings:
        """The settings of a run; questions that stand in the schema move into the run, where it has none."""
        fields = {name: getattr(run, name) for name in FIELDS}
        if run.questions is None and schema.questions is not None:
            fields["questions"] = run.asked(schema).document()
        plain = schema if schema.links else schema.model_copy(update={"questions": None})
        return cls(schema=plain, run=RunSpec(**fields))

    @classmethod
    def loads(cls, text: str | bytes) -> RunSettings:
        """Reads JSON text. Raises SettingError, SchemaError or QuestionError: one sentence on the first wrong field."""
        if len(text) > LARGEST:
            msg = f"the settings have {len(text)} bytes, above the cap of {LARGEST}; take a schema of fewer columns"
            raise SettingError(msg)
        try:
            document = json.loads(text, object_pairs_hook=fields_once)
        except (ValueError, RecursionError) as error:
            where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            twice = isinstance(error, RepeatedFieldError)
            why = f"name {error} twice in one object" if twice else f"are not JSON{where}"
            msg = f"the settings {why}; save them anew on a page of the app or with `dpsyn plan --save-settings`"
            raise SettingError(msg) from error
        return cls.of(document)

    @classmethod
    def of(cls, document: object) -> RunSettings:
        """From a parsed document. Raises as `loads`."""
        if not isinstance(document, Mapping) or document.get("kind") != KIND:
            msg = f'the file holds no settings of a run; such a file begins with {{"kind": "{KIND}", "version": 1}}'
            raise SettingError(msg)
        if document.get("version") != VERSION:
            msg = f"the settings have version {document.get('version')!r:.40}; this release reads version {VERSION}"
            raise SettingError(msg)
        if unfit := unfit_text(document):
            msg = f"the settings hold {unfit}"
            raise SettingError(msg)
        strange = sorted(set(document) - {"kind", "version", "schema", "run"})
        absent = [name for name in ("schema", "run") if not isinstance(document.get(name), Mapping)]
        if strange or absent:
            what = f"an unknown part '{strange[0]:.80}'" if strange else f"no part '{absent[0]}' that is an object"
            msg = f"the settings have {what}; they have the parts kind, version, schema and run"
            raise SettingError(msg)
        given = document["run"]
        unknown = sorted(set(given) - set(FIELDS))
        if unknown:
            msg = f"the settings of the run have an unknown field '{unknown[0]:.80}'; known are {', '.join(FIELDS)}"
            raise SettingError(msg)
        schema, run = Schema.of(document["schema"]), validated(RunSpec, "a run", dict(given))
        run.check()
        if schema.links:
            from dpsyn_core.runs.trees.release import TreePlan

            TreePlan.of(run, schema)
        else:
            run.config.calibrate(run.task(schema))  # a budget, setting or question that cannot be is refused here
        return cls(schema=schema, run=run)

    @classmethod
    def load(cls, path: str | Path) -> RunSettings:
        """Reads a file; what is wrong names it. Raises SettingError."""
        try:
            return cls.loads(Path(path).read_bytes())
        except OSError as error:
            msg = f"the file of settings '{path}' cannot be read ({error.strerror}); check the path"
            raise SettingError(msg) from error
        except DPSynError as error:
            msg = f"{path}: {error}"
            raise SettingError(msg) from error

    def document(self) -> dict[str, Any]:
        """Plain JSON values."""
        run = self.run.model_dump(mode="json", include=set(FIELDS), exclude_none=True)
        return {"kind": KIND, "version": VERSION, "run": run, "schema": self.schema.document()}

    def dumps(self) -> str:
        """JSON text that `loads` reads back to equal settings."""
        return json.dumps(self.document(), indent=2, ensure_ascii=False) + "\n"

    def dump(self, path: str | Path) -> Path:
        """Writes the file atomically, for the owner alone and with a name that says so where a run is NOT PRIVATE.

        Returns:
            Where it lies. Raises OutputError.
        """
        place = Path(path) if self.private else not_private_name(Path(path))
        write_text(place, self.dumps(), private=not self.private)
        return place

    @property
    def private(self) -> bool:
        """Whether a run of a table that is read as it lies would not be stamped NOT PRIVATE."""
        return not self.run.facts(self.schema, query_vouched=False).reasons

    @property
    def file_name(self) -> str:
        """What to call it; the name says so where a run would be stamped NOT PRIVATE."""
        return "settings.json" if self.private else not_private_name(Path("settings.json")).name
