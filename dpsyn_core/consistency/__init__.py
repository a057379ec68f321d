"""Makes measurements agree on overlaps, non-negative and of one total; reads released values only."""
