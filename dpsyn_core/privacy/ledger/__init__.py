"""The ledger: every charge of every run, written before the run counts."""
