"""INSIDE the training process: standard library only, never raises, observes and does not conclude."""
