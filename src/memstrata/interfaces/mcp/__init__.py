"""The MCP door: the tools, resources and prompt of `server`, over stdio or streamable HTTP.

`mcp` takes over a second to import, so that nothing but this package imports it, on first use.
"""

from __future__ import annotations

from importlib.util import find_spec

from memstrata.errors import Invalid


def require() -> None:
    """Make sure that MCP can be spoken.

    Raises:
        Invalid: the extra is not installed.
    """
    if find_spec("mcp") is None:
        raise Invalid("mcp", "needs pip install 'memstrata[mcp]'")
