"""DuckDB, in worker processes that can be killed."""
