"""The labs of the Learn page: each file is one lab, pure functions first, then `show()` for the page."""

# groups of the shelf, by lesson: each lab with its minutes and how much it asks for, from 1 to 3
GROUPS = {
    "attacks": {"linkage": (8, 1), "reconstruction": (10, 1), "membership": (12, 2), "leak": (8, 1)},
    "means": {
        "count": (8, 1), "attacker": (8, 1), "asking": (10, 2), "family": (8, 1), "variants": (12, 3),
    },
    "spends": {
        "composition": (12, 2), "budgets": (10, 1), "clipping": (10, 2), "choosing": (12, 2), "sparse": (10, 3),
        "years": (8, 1), "records": (8, 1), "spending": (15, 1),
    },
    "tables": {
        "consistency": (10, 2), "growing": (8, 2), "sweeps": (8, 3), "views": (12, 3), "agreeing": (12, 3),
        "dependence": (12, 3), "rounds": (12, 3), "prior": (12, 3), "exposures": (12, 3), "race": (12, 1),
        "training": (15, 3), "phases": (12, 3),
    },
    "limits": {"effect": (12, 2), "groups": (10, 1), "logic": (8, 1), "hidden": (8, 1), "hardness": (10, 3)},
}  # fmt: skip
HOUR = ("reconstruction", "count", "family", "spending", "race", "records")  # a first hour, in this order
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
    "dependence",
    "agreeing",
    "rounds",
    "hardness",
    "phases",
    "exposures",
    "sweeps",
)
