"""The HTTP door: `/v1` for every verb, events, health, metrics; its app takes the extra `server`."""
