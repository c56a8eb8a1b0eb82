"""AFTERWARDS: a trace of TensorFlow's profiler → where the time and the memory of a step go."""
