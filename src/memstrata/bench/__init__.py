"""Measures the engine on data whose answers are known; `memstrata bench` is its door."""
