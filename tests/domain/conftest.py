"""Laws are checked without a deadline: the machine that runs them may be busy with other things."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("domain", deadline=None)
settings.load_profile("domain")
