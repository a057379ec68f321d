"""The manifest of a release: what it promises, what it spent, and its certificate."""
