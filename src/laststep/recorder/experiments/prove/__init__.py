"""In a side run of `laststep prove` only: the program's own fit, trained with and without one change."""
