"""Named, repeatable measurements; each module prints a table when it is run."""
