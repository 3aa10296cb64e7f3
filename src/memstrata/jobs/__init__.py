"""Background work: a table of kinds and the loop that works it off."""
