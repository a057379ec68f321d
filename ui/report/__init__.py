"""The Report page: one panel a question."""
