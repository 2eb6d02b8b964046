"""Ask your database: a question becomes SQL, runs as a durable task, ends as an exact table."""
