"""Runs only in a side run of `laststep replay`: the first bad step once more, one operation at a time."""
