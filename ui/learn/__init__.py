"""The labs of the Learn page: each file is one lab, pure functions first, then `show()` for the page."""

# groups of the shelf, by lesson: each lab with its number, its minutes and how much it asks for, from 1 to 3
GROUPS = {
    "attacks": {"linkage": (21, 8, 1), "reconstruction": (10, 10, 1), "membership": (11, 12, 2), "leak": (8, 8, 1)},
    "means": {
        "count": (1, 8, 1), "attacker": (2, 8, 1), "asking": (12, 10, 2), "family": (15, 8, 1), "variants": (23, 12, 3),
    },
    "spends": {
        "composition": (3, 12, 2), "budgets": (14, 10, 1), "clipping": (13, 10, 2), "choosing": (16, 12, 2),
        "sparse": (22, 10, 3), "years": (24, 8, 1), "records": (27, 8, 1), "spending": (20, 15, 1),
    },
    "tables": {
        "consistency": (4, 10, 2), "growing": (5, 8, 2), "sweeps": (34, 8, 3), "views": (6, 12, 3),
        "agreeing": (29, 12, 3), "dependence": (28, 12, 3), "rounds": (30, 12, 3), "prior": (7, 12, 3),
        "exposures": (33, 12, 3), "race": (9, 12, 1), "training": (19, 15, 3), "phases": (32, 12, 3),
    },
    "limits": {
        "effect": (17, 12, 2), "groups": (18, 10, 1), "logic": (26, 8, 1), "hidden": (25, 8, 1),
        "hardness": (31, 10, 3),
    },
}  # fmt: skip
HOUR = ("reconstruction", "count", "family", "spending", "race", "records")  # a first hour, in this order
_NUMBERS = {lab: known[0] for labs in GROUPS.values() for lab, known in labs.items()}
LABS = tuple(sorted(_NUMBERS, key=_NUMBERS.__getitem__))
