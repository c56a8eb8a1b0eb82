"""AFTERWARDS: pure functions Run → Finding, one file per cause; the folder is the symptom."""
