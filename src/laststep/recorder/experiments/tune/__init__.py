"""Only in a side run of `laststep tune`: the program's own pipeline with one change, trained on in turns."""
