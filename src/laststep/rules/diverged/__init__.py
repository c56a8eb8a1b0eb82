"""Runs, but learns nothing or nonsense."""
