"""The labs of the Learn page: each file is one lab, pure functions first, then `show()` for the page."""

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
)
