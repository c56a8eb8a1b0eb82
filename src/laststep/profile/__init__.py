"""AFTERWARDS: what TensorFlow's profiler kept → where the time and the memory of a step go."""
