"""Measurements: retrieval and speed of the real engine, beside plain baselines of the same run."""
