"""Running bodies: claiming them, keeping their lease, telling their progress, stopping them."""
