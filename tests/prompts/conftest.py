"""Laws are checked without a deadline: the machine that runs them may be busy with other things."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("prompts", deadline=None)
settings.load_profile("prompts")
