"""Questions whose answers are known, to measure translators by: `make eval` (docs/questions.md)."""
