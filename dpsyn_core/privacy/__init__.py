"""Units, budgets, accounting, the ledger and the manifest. Knows nothing of tables."""
