"""Engines: run one SELECT on a real database, report, really stop. The seam is `contract.py`."""
