"""The forecast of a run, computed without the data."""
