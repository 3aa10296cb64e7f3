"""The outside world: each file one technology behind a port; only the bootstrap imports them."""
