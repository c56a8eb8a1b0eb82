"""The numbers of a training step: the operations inserted into it, and what the host computes from their results."""
