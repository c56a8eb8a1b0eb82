"""The numbers of a training step: what is laid into it, and what the host makes of what it reads."""
