"""A receiver of Awhile's webhook."""
