"""The page for several people: who they are, and that each sees what is theirs alone."""
