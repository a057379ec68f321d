"""Makes measurements agree on overlaps, non-negative and of one total. Blind: sees released values only."""
