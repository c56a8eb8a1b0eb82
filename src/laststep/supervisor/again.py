"""The environment variables by which a restarted run names the run before it."""

PREVIOUS = "LASTSTEP_PREVIOUS"  # the id of the run before
RESTARTS = "LASTSTEP_RESTARTS"  # how often it was restarted already
