"""Systems of others, each run as its authors ship it, in an environment of its own."""
