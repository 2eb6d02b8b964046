"""The commands of *ask your database*; here a concrete store, engine and translator are chosen."""
