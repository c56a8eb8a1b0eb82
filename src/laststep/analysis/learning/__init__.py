"""What the numbers of the steps show: does the model learn, and if not, why."""
