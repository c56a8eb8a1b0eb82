"""Run → typed views that rules, supervisor and reports share."""
