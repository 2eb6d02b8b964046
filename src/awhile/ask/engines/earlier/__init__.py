"""Earlier results as tables: SQL over the Parquet files of runs, by DuckDB, beside any engine."""
