"""How fast engines run, tell and stop a query: `python -m benchmarks.engines`."""
