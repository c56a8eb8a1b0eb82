"""A plain console log → the same events that a recorder would have written."""
