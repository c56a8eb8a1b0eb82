"""One module per thing observed from inside; found on disk, installed when the host imports its library."""
