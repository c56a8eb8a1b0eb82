"""OUTSIDE the training process: launches it, watches it, reads the facts after its death."""
