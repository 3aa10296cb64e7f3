"""The shell: each pipeline is gather → ask → decide → apply."""
