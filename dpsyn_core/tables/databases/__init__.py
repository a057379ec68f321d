"""Tables of DuckDB, SQLite and PostgreSQL, over connections that only read."""
