"""Two replicas and two workers of one module, on this machine."""
