"""Every other database that SQLAlchemy speaks with, through workers with a connection each.

MySQL and MariaDB have more than the others: a read-only transaction, limits, a check of the user's
privileges, a proven stop, exact values (`mysql`). Of a database that nobody has made these for,
only what SQLAlchemy and SQLGlot know is used.
"""
