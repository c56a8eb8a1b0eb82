"""Small broken programs, shipped with the package: each fails for one reason."""
