"""Independent programs the project is checked against."""
