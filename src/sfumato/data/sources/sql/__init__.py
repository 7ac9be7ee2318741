"""Tables in a database: PostgreSQL, DuckDB, SQLite. The database counts; values and codes with counts come up."""
