"""Only in a side run of `laststep prove`: the program's own fit, trained with and without one change."""
