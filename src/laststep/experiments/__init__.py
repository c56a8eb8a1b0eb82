"""Side runs from outside."""
