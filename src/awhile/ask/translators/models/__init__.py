"""SQL that a language model wrote: asked for with the schema card, mended, and marked as such."""
