"""Inside a side run only (`laststep tune`): the program's own pipeline, changed in one place, trained on in turns."""
