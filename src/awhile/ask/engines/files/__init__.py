"""Files as a database: Parquet, CSV, JSON and Excel, each a table, read and never written.

`finding` says which files there are, `catalog` what tables they make, `session` opens those in a
worker. A worker's DuckDB can reach no path at all: it reads through `reading`, which has no way to
write, and where the kernel has Landlock, that denies it to write anything but its temporary files.
"""
