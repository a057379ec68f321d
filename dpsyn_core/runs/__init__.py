"""Runs: everything that opens an account on the ledger and lets a system through the gate."""
