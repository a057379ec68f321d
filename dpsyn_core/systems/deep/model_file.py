"""Saved models: what a deep system released, as a safetensors file. No code is stored in it, and none is run by it."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import InputError, MethodError
from dpsyn_core.schema import Domain
from dpsyn_core.systems.deep.decoder import layout_of
from dpsyn_core.systems.deep.discriminant import Head, Others
from dpsyn_core.systems.deep.features import CURVES, Block, Space
from dpsyn_core.systems.deep.mixture import Components, Mixture
from dpsyn_core.systems.deep.model import ReleasedModels, Trained
from dpsyn_core.systems.deep.network import EXTRA, Shape

VERSION = "1"
KEY = "dpsyn"  # of the JSON in the file's metadata
_ARRAYS = ("recode", "within", "shares", "scores", "features", "curves")
_OPTIONAL = {"scores", "curves"}
_SHAPE = ("latent", "hidden", "outputs", "inputs", "seen")
_LATER = ("facts", "felt")  # of the shape: files of earlier versions have none


@dataclass(frozen=True, kw_only=True)
class Saved:
    """A model that was read back. columns: of the source's table, in their order."""

    released: ReleasedModels
    columns: tuple[str, ...]


def savable(released: Any) -> bool:
    """Whether what a system released is a model."""
    return isinstance(released, ReleasedModels)


def require_safetensors() -> None:
    """Raises MethodError when the library is not installed."""
    if importlib.util.find_spec("safetensors") is None:
        msg = f"saved models need the library safetensors: install dpsyn-studio[{EXTRA}] (in a clone: make deep)"
        raise MethodError(msg)


def pack(released: ReleasedModels, *, columns: Sequence[str]) -> bytes:
    """The bytes of the file; the same for the same model."""
    require_safetensors()
    from safetensors.numpy import save

    first = released.models[0]
    arrays: dict[str, NDArray[Any]] = {"weights": np.stack([m.weights for m in released.models])}
    for i, block in enumerate(first.space.blocks):
        for name in _ARRAYS:
            value = getattr(block, name)
            if value is not None:
                arrays[f"block{i}.{name}"] = np.ascontiguousarray(value)
    for name in ("weights", "means", "variances"):
        arrays[f"prior.{name}"] = np.ascontiguousarray(getattr(first.prior, name))
    if first.components is not None:
        arrays["components.vectors"] = np.ascontiguousarray(first.components.vectors)
        arrays["components.deviations"] = first.components.deviations
    if first.head is not None:
        arrays["head.weights"] = first.head.weights
    document = {
        "version": VERSION,
        "columns": list(columns),
        "blocks": [{"name": b.name, "ranked": b.ranked, "weight": b.weight} for b in first.space.blocks],
        "dtype": first.space.dtype.name,
        "space_total": first.space.total,
        "shape": _told(first.shape),
        "noisy": first.noisy,
        "head": None if first.head is None else {"at": first.head.at, "shape": _told(first.head.shape)},
        "settled": first.settled,
        "losses": list(first.losses),
        "fixed": [None if m.fixed is None else [int(x) for x in m.fixed] for m in released.models],
        "shares": list(released.shares),
        "total": released.total,
        "passes": released.passes,
    }
    return bytes(save(arrays, {KEY: json.dumps(document, sort_keys=True)}))


def unpack(content: bytes, domain: Domain) -> Saved:
    """Reads a file back for the schema that it was trained with.

    Raises:
        InputError: the file is not a saved model, or was trained with another schema.
    """
    require_safetensors()
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        length = int.from_bytes(content[:8], "little")
        document = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][KEY])
        arrays = load(content)
        if not all(np.isfinite(a).all() for a in arrays.values()):
            raise ValueError
        saved = _read(document, arrays)
        _check(saved.released, domain)
    except (
        SafetensorError,
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        msg = f"this is no saved model of version {VERSION} for this schema; take the file that the run wrote"
        raise InputError(msg) from error
    return saved


def _read(document: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Saved:
    if document["version"] != VERSION:
        raise ValueError
    blocks = []
    for i, item in enumerate(document["blocks"]):
        kept: dict[str, Any] = {name: arrays.get(f"block{i}.{name}") for name in _ARRAYS}
        if any(kept[name] is None for name in _ARRAYS if name not in _OPTIONAL):
            raise ValueError
        kept["recode"] = np.asarray(kept["recode"], dtype=np.intp)
        blocks.append(Block(name=str(item["name"]), ranked=int(item["ranked"]), weight=float(item["weight"]), **kept))
    space = Space(tuple(blocks), float(document["space_total"]), np.dtype(document["dtype"]))
    components = None
    if "components.vectors" in arrays:
        components = Components(vectors=arrays["components.vectors"], deviations=arrays["components.deviations"])
    head = None
    if document.get("head") is not None:
        item = document["head"]
        head = Head(at=int(item["at"]), shape=_shape(item["shape"]), weights=arrays["head.weights"])
    prior = Mixture(**{name: arrays[f"prior.{name}"] for name in ("weights", "means", "variances")})
    models = tuple(
        Trained(
            space=space,
            shape=_shape(document["shape"]),
            weights=weights,
            prior=prior,
            components=components,
            noisy=bool(document["noisy"]),
            losses=tuple(map(float, document["losses"])),
            fixed=None if fixed is None else (int(fixed[0]), int(fixed[1])),
            settled=bool(document["settled"]),
            head=head,
        )
        for weights, fixed in zip(arrays["weights"], document["fixed"], strict=True)
    )
    released = ReleasedModels(
        models=models,
        shares=tuple(map(float, document["shares"])),
        total=float(document["total"]),
        passes=int(document["passes"]),
    )
    return Saved(released=released, columns=tuple(map(str, document["columns"])))


def _told(shape: Shape) -> dict[str, int]:
    later = {name: getattr(shape, name) for name in _LATER if shape.facts}
    return {name: getattr(shape, name) for name in _SHAPE} | later


def _shape(told: dict[str, Any]) -> Shape:
    return Shape(**{name: int(told[name]) for name in (*_SHAPE, *(n for n in _LATER if n in told))})


def _check(released: ReleasedModels, domain: Domain) -> None:
    """Raises ValueError where arrays do not fit each other or the domain, before anything is drawn with them."""
    first = released.models[0]
    space, shape, prior = first.space, first.shape, first.prior
    k = shape.latent
    fits = [
        [b.name for b in space.blocks] == list(domain.names),
        space.dtype == np.min_scalar_type(max(domain.sizes) - 1),
        len(released.shares) == len(released.models),
        min(released.shares) >= 0 and 0 < sum(released.shares) < np.inf,
        0 <= released.passes <= 10,
        0 <= released.total < 2**53 and 0 <= space.total < 2**53,
        min(shape.latent, shape.outputs) >= 1 and min(shape.hidden, shape.inputs, shape.seen) >= 0,
        shape.outputs == first.layout().outputs,
        all(m.weights.shape == (shape.size,) and np.isfinite(m.weights).all() for m in released.models),
        prior.means.shape == prior.variances.shape == (len(prior.weights), k),
        bool((prior.variances > 0).all() and ((prior.weights > 0) & (prior.weights < 2**53)).all()),
        shape.inputs in (0, space.width),
        shape.facts in (0, space.width) and (shape.felt > 0) == (shape.facts > 0),
        not (shape.facts and shape.inputs),
        (first.components is None) == bool(shape.inputs),
    ]
    if first.components is not None:
        parts = first.components
        fits += [
            parts.vectors.shape == (space.width, k),
            parts.deviations.shape == (k,),
            bool((parts.deviations > 0).all()),
        ]
    for block, size in zip(space.blocks, domain.sizes, strict=True):
        v = block.size
        fits += [
            block.recode.shape == block.within.shape == (size,),
            set(np.unique(block.recode)) == set(range(v)),
            bool((block.shares > 0).all() and (block.within >= 0).all() and np.isfinite(block.features).all()),
            block.features.ndim == 2 and len(block.features) == v,
            0 <= block.ranked <= v,
            block.curves is None or block.curves.shape == (v, CURVES),
            block.scores is None or block.scores.shape == (v,),
        ]
    for m in released.models:
        fits.append(
            m.fixed is None or (0 <= m.fixed[0] < len(domain) and 0 <= m.fixed[1] < space.blocks[m.fixed[0]].size)
        )
    if first.head is not None and all(fits):
        head = first.head
        fits += [0 <= head.at < len(domain)]
        if fits[-1]:
            fits += [
                head.shape.latent == len(Others.of(space, head.at).columns),
                head.shape.hidden >= 0 and head.shape.inputs == head.shape.seen == head.shape.facts == 0,
                head.shape.outputs == layout_of(space, [head.at]).outputs,
                head.weights.shape == (head.shape.size,) and bool(np.isfinite(head.weights).all()),
            ]
    if not all(fits):
        raise ValueError
