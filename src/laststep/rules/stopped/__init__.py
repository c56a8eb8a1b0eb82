"""Training ended early and nobody raised an error that explains it."""
