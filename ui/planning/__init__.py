"""The Plan page: what a run would measure and how far off it would be, before there is a table."""
