"""PrivBasis: frequent itemsets from a few small tables of item patterns. A release of itemsets, not of records."""
