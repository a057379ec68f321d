"""The labs of the Learn page: each file is one lab, pure functions first, then `show()` for the page."""

# groups of the list of all labs, by lesson, with their labs
GROUPS = {
    "attacks": ("linkage", "reconstruction", "membership", "leak"),
    "means": ("count", "attacker", "asking", "family", "variants"),
    "spends": ("composition", "budgets", "clipping", "choosing", "sparse", "years", "records", "spending"),
    "tables": ("consistency", "growing", "views", "prior", "race", "training"),
    "limits": ("effect", "groups", "logic", "hidden"),
}
LABS = (
    "count",
    "attacker",
    "composition",
    "consistency",
    "growing",
    "views",
    "prior",
    "leak",
    "race",
    "reconstruction",
    "membership",
    "asking",
    "clipping",
    "budgets",
    "family",
    "choosing",
    "effect",
    "groups",
    "training",
    "spending",
    "linkage",
    "sparse",
    "variants",
    "years",
    "hidden",
    "logic",
    "records",
)
