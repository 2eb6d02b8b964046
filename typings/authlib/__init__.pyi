"""What of Authlib is used here; it brings no types of its own (1.9)."""
