"""It grows with every step, epoch or fit."""
