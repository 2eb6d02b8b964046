"""The command line: reading settings, choosing backends, and saying plainly what happened."""
