"""A run that is started again: how the next one learns which one it follows."""

PREVIOUS = "LASTSTEP_PREVIOUS"  # the run before
RESTARTS = "LASTSTEP_RESTARTS"  # how often it has been started again already
