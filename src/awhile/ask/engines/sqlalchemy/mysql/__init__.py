"""MySQL and MariaDB: what is known of them beyond what SQLAlchemy knows."""
