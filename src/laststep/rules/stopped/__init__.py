"""Training ended early, and no error explains it."""
