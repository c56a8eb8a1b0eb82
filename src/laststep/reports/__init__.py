"""Diagnosis → page: what a person or a program reads."""
