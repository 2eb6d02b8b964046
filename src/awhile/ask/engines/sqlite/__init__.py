"""SQLite files, through worker processes that hold them read-only."""
