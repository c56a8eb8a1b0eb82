"""The run folder: journal (events), steps (ring), samples and console; a killed writer loses nothing it wrote."""
