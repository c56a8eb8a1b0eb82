"""Alive, and not getting anywhere, or far too slowly."""
