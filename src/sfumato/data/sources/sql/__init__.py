"""Tables in a database: PostgreSQL, DuckDB, SQLite. The database counts; values with counts and codes come up, no row."""
