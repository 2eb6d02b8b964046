"""Where tasks are kept: one atomic append-and-update, leases, and watching for change."""
