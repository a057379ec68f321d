"""Attacks on a system by shadow runs: evidence beside the proved bound, for the owner of the table only."""
