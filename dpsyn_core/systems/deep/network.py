"""Networks of the deep systems, and the library that runs them.

The library torch (extra `deep`), which trains the networks; nothing else in the engine imports it.

The networks: what a batch of records says about the weights, in closed form, a record at a time.

All layers are linear, so that the gradient of one record is, layer by layer, the outer product of what went into the
layer and of the slope of the loss at what came out. Its length follows from theirs, and no gradient of a single record
is ever formed. Source of the norms: Goodfellow 2015, *Efficient per-example gradient computations*.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MethodError
from dpsyn_core.systems.deep.decoder import DecoderLayout, probabilities
from dpsyn_core.systems.deep.mixture import Mixture

EXTRA = "deep"


def installed() -> bool:
    """Whether torch can be imported; imports nothing."""
    return importlib.util.find_spec("torch") is not None


def require_torch(method: str) -> None:
    """Raises MethodError when the library is not installed."""
    if not installed():
        msg = (
            f"{method} trains a network and needs the library torch: install dpsyn-studio[{EXTRA}] (in a clone: make "
            "deep), or use the method 'rls'"
        )
        raise MethodError(msg)


def device(name: str, method: str) -> Any:
    """The torch device of a setting: cpu or cuda. Raises MethodError where CUDA is asked for and not there."""
    require_torch(method)
    import torch

    there = torch.cuda.is_available()
    if name == "cuda" and not there:
        msg = f"device is 'cuda', and torch finds no CUDA device here; set device to 'cpu' for {method}"
        raise MethodError(msg)
    return torch.device("cuda" if name == "cuda" else "cpu")


def single_blas() -> AbstractContextManager[Any]:
    """One thread for NumPy's products of matrices, which stand between those of torch.

    Both libraries keep threads that wait for work by spinning, and take the cores from each other: on two cores a run
    on Adult takes about twice as long without this.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return limits


Floats = NDArray[np.float64]
LEAST_LOG, MOST_LOG = -6.0, 1.0  # of the encoder's variances
MOST_LOGIT = 40.0  # either way: probabilities beyond are 0 or 1 to any purpose


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Sizes of a network.

    inputs: of a learned encoder, 0 when the encoder is fixed. facts: features of which the variances of a fixed
    encoder are a function, 0 when they are the same for all records; felt: hidden units of that function.
    """

    latent: int
    hidden: int
    outputs: int
    inputs: int = 0
    seen: int = 0  # hidden units of a learned encoder
    facts: int = 0
    felt: int = 0

    @property
    def parts(self) -> list[tuple[str, tuple[int, int]]]:
        """Weights by name; the last row of each is the constant."""
        parts = [
            ("out", (self.hidden + self.latent + 1, self.outputs)),
            ("log_variances", (self.felt + 1, self.latent)),
        ]
        if self.hidden:
            parts.append(("hidden", (self.latent + 1, self.hidden)))
        if self.inputs:
            parts.append(("means", (self.seen + self.inputs + 1, self.latent)))
            parts.append(("seen", (self.inputs + 1, self.seen)))
        if self.facts:
            parts.append(("felt", (self.facts + 1, self.felt)))
        return parts

    @property
    def size(self) -> int:
        """Number of weights."""
        return sum(a * b for _, (a, b) in self.parts)

    def split(self, flat: Any) -> dict[str, Any]:
        """Views of a flat array by name."""
        out, at = {}, 0
        for name, (rows, columns) in self.parts:
            out[name] = flat[at : at + rows * columns].reshape(rows, columns)
            at += rows * columns
        return out


def first_weights(shape: Shape, linear: Floats | None, seed: int) -> Floats:
    """Where training begins: random and public, but for the linear part, which released values may imply.

    linear: (latent + 1, outputs) or None. seed: public.
    """
    rng = np.random.default_rng(seed)
    flat = np.zeros(shape.size)
    w = shape.split(flat)
    if linear is not None:
        w["out"][shape.hidden :] = linear
    w["log_variances"][-1] = -2.0
    if shape.hidden:
        w["hidden"][:] = rng.normal(size=w["hidden"].shape) / np.sqrt(shape.latent)
    if shape.inputs:
        w["means"][shape.seen : -1] = rng.normal(size=(shape.inputs, shape.latent)) / np.sqrt(shape.inputs)
        w["seen"][:] = rng.normal(size=w["seen"].shape) / np.sqrt(shape.inputs)
    if shape.facts:
        w["felt"][:] = rng.normal(size=w["felt"].shape) / np.sqrt(shape.facts)
    return flat


def decoded(shape: Shape, weights: Floats, z: Floats) -> Floats:
    """Outputs of the decoder (records, outputs) for latent values (records, latent). Post-processing."""
    w = shape.split(weights)
    out: Floats = z @ w["out"][shape.hidden : -1] + w["out"][-1]
    if shape.hidden:
        out += np.maximum(z @ w["hidden"][:-1] + w["hidden"][-1], 0) @ w["out"][: shape.hidden]
    return out


def encoded(shape: Shape, weights: Floats, x: NDArray[np.floating]) -> tuple[Floats, Floats]:
    """Means (records, latent) of a learned encoder for inputs (records, inputs), and its variances (latent,)."""
    w = shape.split(weights)
    means = x @ w["means"][shape.seen : -1] + w["means"][-1]
    if shape.seen:
        means = means + np.maximum(x @ w["seen"][:-1] + w["seen"][-1], 0) @ w["means"][: shape.seen]
    return means, variances(shape, weights)


def variances(shape: Shape, weights: Floats, facts: NDArray[np.floating] | None = None) -> Floats:
    """The encoder's variances: (latent,), or of each record (records, latent) where they follow from its features."""
    w = shape.split(weights)
    logs = w["log_variances"][-1]
    if facts is not None and shape.facts:
        logs = logs + np.maximum(facts @ w["felt"][:-1] + w["felt"][-1], 0) @ w["log_variances"][:-1]
    kept: Floats = np.exp(np.clip(logs, LEAST_LOG, MOST_LOG))
    return kept


@dataclass(frozen=True, kw_only=True)
class Objective:
    """What is minimised, a record: reconstruction, and the divergence of the encoder from a prior.

    encoded: the encoder has variances; otherwise latent values are its means, and there is no divergence (P3GM(AE)).
    """

    shape: Shape
    layout: DecoderLayout
    prior: Mixture
    noisy: bool = True

    def prepared(self, device: Any) -> Any:
        """The arrays of the layout and the prior on a device."""
        import torch

        def put(array: Any, kind: Any = torch.float64) -> Any:
            return torch.as_tensor(np.asarray(array), dtype=kind, device=device)

        groups = []
        for g in self.layout.groups:
            sizes = g.real.sum(axis=1)
            if g.curves is None:  # the blocks' values side by side, and which block each belongs to
                member = np.repeat(np.eye(len(sizes)), sizes, axis=0)
                base, starts = g.logs[g.real], np.cumsum(sizes) - sizes
                groups.append((g, put(g.attributes, torch.int64), put(base), put(member), put(starts, torch.int64)))
            else:
                groups.append((g, put(g.attributes, torch.int64), put(g.logs), put(g.curves), None))
        p = self.prior
        return groups, (put(np.log(p.weights)), put(p.means), put(p.variances))


class Machine:
    """The networks on a device."""

    def __init__(self, objective: Objective, device: Any) -> None:
        """Puts the public arrays on the device."""
        self.objective, self.device = objective, device
        self._groups, self._prior = objective.prepared(device)

    def factors(
        self, weights: Any, latent: NDArray[np.float64], coarse: NDArray[np.intp], jitter: NDArray[np.float64] | None
    ) -> tuple[Any, list[tuple[Any | None, Any]]]:
        """Losses of records, and their gradients as pairs (inputs, slopes) whose outer products they are.

        Args:
            weights: flat tensor, float64, on the device.
            latent: fixed encodings (records, latent), with the features behind them where variances follow from
                these (records, latent + facts); or the inputs of a learned encoder (records, inputs).
            coarse: values (records, attributes).
            jitter: standard normal numbers (records, latent), of the encoder's noise; None without it.

        Returns:
            Losses (records,), and a pair a layer in the order of `Shape.parts`; inputs None stand for a column of ones.
        """
        import torch

        o, shape = self.objective, self.objective.shape
        w = shape.split(weights)
        x = torch.as_tensor(latent, device=self.device)
        values = torch.as_tensor(coarse, device=self.device)
        one = torch.ones((len(x), 1), device=self.device)
        if shape.inputs:
            x1 = torch.cat([x, one], 1)
            above = (x1 @ w["seen"]).relu_()
            into = torch.cat([above, x1], 1)
            means = into @ w["means"]
        else:
            means = x[:, : shape.latent]
        logs = w["log_variances"][0].clamp(LEAST_LOG, MOST_LOG)
        if shape.facts:
            facts1 = torch.cat([x[:, shape.latent :], one], 1)
            felt1 = torch.cat([(facts1 @ w["felt"]).relu_(), one], 1)
            raw = felt1 @ w["log_variances"]
            logs = raw.clamp(LEAST_LOG, MOST_LOG)
        if o.noisy and jitter is not None:
            shake = torch.as_tensor(jitter, device=self.device) * (logs / 2).exp()
            z = means + shake
        else:
            z = means
        z1 = torch.cat([z, one], 1)
        if shape.hidden:
            h = (z1 @ w["hidden"]).relu_()
            a = torch.cat([h, z1], 1)
        else:
            a = z1
        losses, slopes = self._reconstruction(a @ w["out"], values)
        back = slopes @ w["out"][: shape.hidden + shape.latent].T
        pairs: list[tuple[Any | None, Any]] = [(a, slopes)]
        to_z = back[:, shape.hidden :]
        hidden = None
        if shape.hidden:
            hidden = back[:, : shape.hidden] * (h > 0)
            to_z = to_z + hidden @ w["hidden"][:-1].T
        if o.noisy and jitter is not None:
            divergence, to_means, to_logs = self._divergence(means, logs)
            losses = losses + divergence
            to_logs = to_z * shake / 2 + to_logs
            if shape.facts:
                to_logs = to_logs * (raw == logs)
            pairs.append((felt1 if shape.facts else None, to_logs))
            to_z = to_z + to_means
        else:
            pairs.append((None, torch.zeros_like(z)))
        if hidden is not None:
            pairs.append((z1, hidden))
        if shape.inputs:
            pairs.append((into, to_z))
            pairs.append((x1, (to_z @ w["means"][: shape.seen].T) * (above > 0)))
        if shape.facts:
            pairs.append((facts1, (to_logs @ w["log_variances"][:-1].T) * (felt1[:, :-1] > 0)))
        return losses, pairs

    def _reconstruction(self, outputs: Any, values: Any) -> tuple[Any, Any]:
        """Softmax loss of each record (records,), and its slopes (records, outputs)."""
        import torch

        slopes = torch.empty_like(outputs)
        losses = torch.zeros(len(outputs), dtype=outputs.dtype, device=self.device)
        for g, attributes, base, table, starts in self._groups:
            mine, at = outputs[:, g.first : g.last], values[:, attributes]
            if starts is not None:
                e = (mine + base).clamp_(-MOST_LOGIT, MOST_LOGIT).exp_()
                p = e.div_((e @ table) @ table.T)
                place = at + starts
                losses -= p.gather(1, place).log_().sum(1)
                slopes[:, g.first : g.last] = p.scatter_add_(1, place, torch.full_like(place, -1, dtype=p.dtype))
            else:
                coefficients = mine.reshape(len(mine), len(attributes), -1)
                logits = base + torch.einsum("njc,jvc->njv", coefficients, table)
                logs, place = torch.log_softmax(logits, 2), at.unsqueeze(2)
                losses -= logs.gather(2, place).squeeze(2).sum(1)
                slope = logs.exp_().scatter_add_(2, place, torch.full_like(place, -1, dtype=logs.dtype))
                slopes[:, g.first : g.last] = torch.einsum("njv,jvc->njc", slope, table).reshape(len(mine), -1)
        return losses, slopes

    def _divergence(self, means: Any, logs: Any) -> tuple[Any, Any, Any]:
        """KL(N(mean, variance) to the prior), by the bound -log sum of weight e^-KL; slopes of means and of logs.

        Source: Hershey, Olsen 2007, section 7, with the numerator as it has to be.
        """
        import torch

        weights, centres, spread = self._prior
        variances = logs.exp()
        gap = means.unsqueeze(1) - centres  # (records, parts, latent)
        of_record = logs.dim() > 1  # each record has variances of its own
        each, apart = (variances.unsqueeze(1), logs.unsqueeze(1)) if of_record else (variances, logs)
        parts = 0.5 * (((each + gap**2) / spread).sum(2) - (apart - spread.log()).sum(-1) - logs.shape[-1])
        to = weights - parts
        whole = -torch.logsumexp(to, 1)
        share = torch.softmax(to, 1)
        to_means = (share.unsqueeze(2) * gap / spread).sum(1)
        to_logs = 0.5 * ((variances * (share @ (1 / spread)) if of_record else share @ (variances / spread)) - 1)
        return whole, to_means, to_logs


def clipped_sum(pairs: Sequence[tuple[Any | None, Any]], clip: float) -> tuple[Any, Any]:
    """Sum of the records' gradients, each shortened to `clip` as a whole; flat, with the lengths before (records,)."""
    import torch

    square = 0.0
    for inputs, slopes in pairs:
        squares = (slopes * slopes).sum(1)
        square = square + (squares if inputs is None else squares * (inputs * inputs).sum(1))
    lengths = square.sqrt()  # type: ignore[attr-defined]
    scale = (clip / lengths.clamp(min=clip))[:, None]
    sums = [
        (slopes * scale).sum(0) if inputs is None else (inputs.T @ (slopes * scale)).reshape(-1)
        for inputs, slopes in pairs
    ]
    return torch.cat(sums), lengths


__all__ = ["Machine", "Objective", "Shape", "clipped_sum", "decoded", "encoded", "first_weights", "probabilities"]
