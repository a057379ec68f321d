"""What a release answers to NIST SP 800-226, item by item, as a page that goes with its certificate.

Source: NIST Special Publication 800-226, Guidelines for Evaluating Differential Privacy Guarantees (2025). The wording
of the items is ours; docs/guarantee.md says what this program does about each.
"""

from __future__ import annotations

from dpsyn_core.privacy import Manifest
from dpsyn_core.report.publishing import facts

SOURCE = "https://doi.org/10.6028/NIST.SP.800-226"
OWNER = "The owner of the table has to answer this; no program can."


def nist_page(m: Manifest) -> str:
    """The page as Markdown: each item, what this release answers, and what stays open."""
    head = "# NIST SP 800-226, item by item" if m.private else "# NOT PRIVATE: no guarantee to evaluate"
    lines = [
        head,
        "",
        f"Release `{_plain(m.dataset)}`, run `{m.run_id}`. {_plain(m.guarantee)}",
        "",
        f"The items are those of [NIST Special Publication 800-226]({SOURCE}) in our words. The answers come from the "
        "manifest of the release, which `dpsyn verify` checks against the table.",
        "",
    ]
    if not m.private:
        lines += ["Why it is not private:", "", *(f"- {_plain(reason)}" for reason in m.not_private_because), ""]
    lines += ["| item | this release | open |", "|---|---|---|"]
    lines += [f"| {item} | {_plain(text)} | {_plain(left)} |" for item, text, left in _items(m)]
    return "\n".join(lines) + "\n"


def _items(m: Manifest) -> list[tuple[str, str, str]]:
    """Item, answer of this release, and what it leaves open."""
    bounded = (
        "the identifier names individuals, and their records were limited before counting"
        if m.identifier is not None
        else "every record is an individual of its own"
        if m.max_records == 1
        else "nothing limited the records of an individual: the number is the owner's word"
    )
    return [
        ("epsilon and delta", f"epsilon {m.epsilon:g}, delta {m.delta:g}", f"Which epsilon is small enough. {OWNER}"),
        ("variant of the definition", "approximate" if m.delta else "pure", ""),
        ("unit of privacy", facts.unit(m), f"Whether it is a person. {OWNER}"),
        ("bounded contributions", f"{bounded}: at most {m.max_records}", ""),
        ("composition", facts.composition(m), "Other runs on the same table: the ledger of the owner has their sum."),
        ("mechanisms", "; ".join(facts.mechanisms(m)) or "none", ""),
        (
            "correctness of the algorithm",
            f"system {m.method}; audited in the test suite of DPSyn Studio",
            "No audit by others exists.",
        ),
        ("utility and bias", "the report that goes with the release has both", "Uses that nobody thought of."),
        ("synthetic data", f"{m.n_records} records, made from {facts.made_from(m)}", "Models trained on them."),
        ("model of queries", "one release; nobody asks the private table further questions through it", ""),
        ("trust model", "central: the owner and the machine see the private table", f"Who has access. {OWNER}"),
        ("finite precision", "noise on whole numbers, exact at the boundaries of rounding", ""),
        ("randomness", "of the operating system; no seed", "That generator itself."),
        ("side channels", "no time of a step is published", "Time and memory of a shared machine."),
        ("hazards before the noise", facts.unprotected(m), f"That the schema was known without the table. {OWNER}"),
        ("security and access", "", f"Disks, backups, network. {OWNER}"),
        ("exposure in data collection", "", f"How the data was collected, and who else has it. {OWNER}"),
    ]


def _plain(text: str) -> str:
    """Text from a manifest that ends no cell of a table and begins no markup."""
    return " ".join(text.replace("|", "/").replace("`", "'").replace("<", "(").replace(">", ")").split())
