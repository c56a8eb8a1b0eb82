"""Small broken programs, shipped with the package: each dies of one thing."""
