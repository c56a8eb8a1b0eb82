"""An error, a signal or a kill ended it."""
