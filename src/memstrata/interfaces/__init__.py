"""The doors: each parses, calls one verb and renders. No rules here; one wire format (`wire`)."""
