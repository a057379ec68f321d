"""Facts of a release in words, which several documents for readers outside share: mechanisms, composition, unit."""

from __future__ import annotations

from collections import Counter

from dpsyn_core.privacy import Manifest, Unit, individual

MECHANISMS = {
    "gaussian": "Gaussian mechanism, rounded to whole numbers",
    "geometric": "two-sided geometric mechanism (discrete Laplace)",
    "exponential": "exponential mechanism",
    "partition-selection": "noisy threshold for values that are not listed beforehand",
    "dirichlet": "draw from a Dirichlet-multinomial distribution",
    "sampled-gaussian": "Gaussian mechanism on Poisson samples of records",
}


def mechanisms(m: Manifest) -> list[str]:
    """One line for each mechanism and kind of released value, with how many releases."""
    counted = Counter((c.mechanism, c.kind) for c in m.charges)
    return [
        f"{MECHANISMS[mechanism]}: {many} release{'s' if many > 1 else ''}{f' of kind {kind}' if kind else ''}"
        for (mechanism, kind), many in counted.items()
    ]


def composition(m: Manifest) -> str:
    """How the charges add up, with the composed cost."""
    spent = m.recomputed_epsilon()
    if m.mu is not None and m.mu > 0:
        how = f"exact Gaussian composition of {len(m.charges)} releases: mu {m.mu:.6g}"
    elif m.rho:
        how = f"zero-concentrated composition of {len(m.charges)} releases: rho {m.rho:.6g}"
    else:
        how = f"the sum of {len(m.charges)} pure costs"
    return f"{how[0].upper()}{how[1:]}, which is epsilon {spent:.6g} at delta {m.delta:g}; {m.epsilon:g} was allowed."


def unit(m: Manifest) -> str:
    """What a neighbouring table differs by."""
    change = "has one individual more or less" if m.neighbours == "add-remove" else "has one individual exchanged"
    return f"A neighbouring table {change}: {individual(Unit.of(m), m.hanging)}."


def unprotected(m: Manifest) -> str:
    """What leaves without noise, because the run took it as public."""
    out = ["The schema (columns, values, ranges, groups, limits) is public and not protected"]
    if m.neighbours == "replace":
        out.append("the number of individuals is public")
    if m.questions is not None:
        out.append("the declared questions are public")
    if m.query is not None:
        out.append("that the query behind the records reads each one by itself is the owner's word")
    if m.bought:
        out.append(f"{len(m.bought)} parts of the schema were bought earlier with budget of their own")
    if m.public_table is not None:
        p = m.public_table
        use = "by which its system was chosen" if p.candidates else "from which the run learnt"
        out.append(
            f"the {p.n_records:,} records of the public table '{p.name}' (SHA-256 {p.sha256}), {use}, are not "
            f"protected: that they are public is the {p.vouched}"
        )
    return "; ".join(out) + "."


def made_from(m: Manifest) -> str:
    """A phrase for the source of the records."""
    return "released values and the public table" if learnt(m) else "released values alone"


def learnt(m: Manifest) -> bool:
    """Whether a public table entered the records, beyond the choice of the system."""
    return m.public_table is not None and not m.public_table.candidates
