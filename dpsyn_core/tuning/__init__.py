"""Private choice among systems and settings: the best of a random number of runs, at a stated price."""
