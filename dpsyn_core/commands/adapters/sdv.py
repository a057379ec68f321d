"""A synthesizer with `fit` and `sample`, as SDV's are, and as a class that SDGym's benchmark runs.

SDV's metadata declares kinds and keys, and neither values nor ranges. So the promise of differential privacy holds only
with a schema that was written without the data. Without one, a schema is drafted by reading the table, and every table
is stamped NOT PRIVATE.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.errors import InputError, MethodError, OutputError
from dpsyn_core.privacy import Manifest
from dpsyn_core.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

    from dpsyn_core.privacy import Ledger


class DPSynthesizer:
    """A synthesizer of one table. What it keeps after `fit` is what a run releases, and no record."""

    def __init__(
        self,
        metadata: Any = None,
        *,
        schema: Schema | Mapping[str, Any] | str | Path | None = None,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        method: str | None = None,
        settings: Mapping[str, Any] | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        """Nothing is read before `fit`.

        Args:
            metadata: SDV's, of one table, as an object or as the dict that it is written as; says which columns come
                back, in which order.
            schema: what is public about the table. None: drafted from the data, and NOT PRIVATE.
            epsilon: privacy budget.
            delta: of the budget.
            method: a system that releases tables; None is the default one.
            settings: of that system.
            ledger: None is the ledger in DPSYN_HOME.

        Raises:
            InputError: neither metadata nor a schema was given.
        """
        if metadata is None and schema is None:
            msg = "the synthesizer got neither metadata nor a schema; give SDV's metadata, or a schema for a promise"
            raise InputError(msg)
        self.metadata = metadata
        self._schema: Schema | None = None if schema is None else Schema.given(schema)
        self._run: dict[str, Any] = {
            "epsilon": epsilon,
            "delta": delta,
            "method": method,
            "settings": settings,
            "ledger": ledger,
        }
        self._release: bytes | None = None
        self._columns: tuple[str, ...] = ()

    def fit(self, data: pd.DataFrame) -> None:
        """Spends the budget on this table.

        Raises:
            InputError: before anything is spent, where table, schema, budget or system do not fit, or the system
                releases no tables from which more records can be synthesized.
        """
        from dpsyn_core.runs import SUFFIX, Places, check_reusable, synthesize, write_release
        from dpsyn_core.systems import DEFAULT, configure

        check_reusable(configure(self._run["method"] or DEFAULT, self._run["settings"] or {}))
        schema = self._schema or self._drafted(data)
        release = synthesize(data, schema, rng=None, **self._run)
        with tempfile.TemporaryDirectory() as folder:
            from dpsyn_core.estimate import pack_measurements

            places = Places.of(Path(folder) / "t.parquet", release=Path(folder) / f"t{SUFFIX}", private=True)
            packed = pack_measurements(release.released, schema=schema)
            write_release(release, places, measurements=packed, columns=list(data.columns))
            self._release = (Path(folder) / f"t{SUFFIX}").read_bytes()
        self._columns = tuple(data.columns)

    def sample(self, num_rows: int) -> pd.DataFrame:
        """Records synthesized from the release; at no privacy cost, however often it is called.

        A column that names individuals gets new names, the texts 0, 1, 2 and so on. A column that the schema leaves out
        is blank.

        Raises:
            MethodError: `fit` was not called.
        """
        from dpsyn_core.runs import refit

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.dpsyn"
            path.write_bytes(self._fitted())
            release = refit(path, rng=None, n_records=num_rows)
        table: pd.DataFrame = release.arrow.to_pandas()
        named = {a.name for a in (release.schema.attributes if release.schema else ()) if a.names_individuals}
        for name in self._columns:
            if name not in table.columns:
                table[name] = [str(i) for i in range(len(table))] if name in named else None
        return table[list(self._columns)]

    @property
    def manifest(self) -> Manifest:
        """What the run promises and what it spent. Raises MethodError before `fit`."""
        from dpsyn_core.runs import manifest_of

        return manifest_of(self._fitted(), "the fitted synthesizer")

    def save(self, path: str | Path) -> Path:
        """Writes the release file, of which `dpsyn refit` makes tables too.

        Without a promise it is for the owner alone, and its name says NOT-PRIVATE.

        Returns:
            Where it lies. Raises OutputError, MethodError.
        """
        from dpsyn_core.files import not_private_name, write_bytes
        from dpsyn_core.runs import SUFFIX

        if Path(path).suffix != SUFFIX:
            msg = f"'{Path(path).name}' is no name of a release file; end it with {SUFFIX}"
            raise OutputError(msg)
        private = self.manifest.private
        place = Path(path) if private else not_private_name(Path(path))
        write_bytes(place, self._fitted(), private=not private)
        return place

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and stored: no ledger, which stays where the budget was spent."""
        return self.__dict__ | {"_run": self._run | {"ledger": None}}

    def _fitted(self) -> bytes:
        if self._release is None:
            msg = "the synthesizer was not fitted; call fit(table) first"
            raise MethodError(msg)
        return self._release

    def _drafted(self, data: pd.DataFrame) -> Schema:
        """A schema that reads the table, with the kinds and the key of the metadata: NOT PRIVATE."""
        from dpsyn_core.schema import drafted, overlaid, read_sdv

        warnings.warn(
            "NOT PRIVATE: no schema was given, and one is drafted by reading the table; write one for a promise",
            UserWarning,
            stacklevel=3,
        )
        document = self.metadata if isinstance(self.metadata, Mapping) else self.metadata.to_dict()
        declared = read_sdv(json.loads(json.dumps(document)), name="table", what="metadata")
        return overlaid(drafted(data, declared.name)[0], declared, source="data")


def sdgym_synthesizer(name: str = "DPSyn", **options: Any) -> type:
    """A class for `benchmark_single_table(custom_synthesizers=[...])` of SDGym.

    Args:
        name: under which the benchmark lists it.
        options: of `DPSynthesizer`. Tables of the benchmark have no schema: their rows are NOT PRIVATE.

    Raises:
        ImportError: SDGym is not installed.
    """
    from sdgym.synthesizers import create_single_table_synthesizer

    def trained(data: Any, metadata: Any) -> DPSynthesizer:
        fitted = DPSynthesizer(metadata, **options)
        fitted.fit(data)
        return fitted

    created: type = create_single_table_synthesizer(
        name, get_trained_synthesizer_fn=trained, sample_from_synthesizer_fn=lambda fitted, n: fitted.sample(n)
    )
    return created
