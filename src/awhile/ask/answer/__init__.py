"""The order of steps from a question to its rows, and the read-only guard between them."""
