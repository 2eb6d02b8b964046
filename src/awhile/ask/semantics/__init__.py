"""The semantic file: what the words of one database mean, put down by someone who knows."""
