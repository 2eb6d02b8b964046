"""Both eras' shapes, both directions. Decides nothing."""
