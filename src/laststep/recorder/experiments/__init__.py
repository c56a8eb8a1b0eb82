"""The part of tune, prove and replay that runs inside the process, in a side run only."""
