"""The command line: `memstrata VERB …`, each command one verb of the facade."""
