"""The forecast of a run, made without the data."""
