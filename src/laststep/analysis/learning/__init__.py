"""What the numbers of the steps say: does it learn, and if not, why."""
