"""The inside half of tune, prove and replay: runs only in a side run."""
