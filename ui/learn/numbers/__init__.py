"""The numbers behind the labs of the Learn page: one file a lab, without a screen, for the app and for notebooks.

Everything here runs on invented people: toy numbers, or the bundled simulated sample. Draws come from seeded
generators, so that a class sees the same figures; noise that repeats protects nobody, and no function here takes a
table of the visitor's own. `results/` holds what takes too long to compute in a class, with the script that made it.
"""
