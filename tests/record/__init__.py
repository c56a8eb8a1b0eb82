"""Tests of the run folder: what is written survives any death, and any folder can be opened."""
