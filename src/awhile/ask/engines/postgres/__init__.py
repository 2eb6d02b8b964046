"""PostgreSQL, through worker processes that hold one read-only connection each."""
