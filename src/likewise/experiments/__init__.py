"""Runs on data with known classes: the demo, and published tables and figures as they are built."""
