"""Inside a side run only (`laststep probe`): the program's own pipeline, changed in one place, trained on in turns."""
