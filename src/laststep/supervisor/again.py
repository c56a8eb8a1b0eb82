"""The environment variables by which a run that was restarted knows the one before."""

PREVIOUS = "LASTSTEP_PREVIOUS"  # the id of the run before
RESTARTS = "LASTSTEP_RESTARTS"  # how often it was restarted already
