"""The server that MCP's clients see: tools, resources, one prompt. Each request runs in a worker thread."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar, cast

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from memstrata import __version__
from memstrata.aio import Threads
from memstrata.domain.team_document import Visibility
from memstrata.errors import Denied, Internal, MemstrataError
from memstrata.interfaces import wire
from memstrata.interfaces.mcp import resources
from memstrata.interfaces.mcp.caller import Caller, client_name
from memstrata.interfaces.mcp.identity import Identify
from memstrata.interfaces.mcp.resources import KINDS, MARKDOWN, Kind
from memstrata.memory import Verbs
from memstrata.pipelines import offload
from memstrata.prompts import team_document
from memstrata.prompts.template import load
from memstrata.prompts.tools import TOOLS, Tool

NAME: Final = "memstrata"
PROMPT: Final = "memory_context"
ARGUMENT: Final = "message"
_INSTRUCTIONS: Final = "mcp_instructions"
_LOGGER: Final = logging.getLogger("memstrata")
_READS: Final = types.ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_WRITES: Final = types.ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)
_T = TypeVar("_T")
Context = ServerRequestContext[Any, Any]


class Door:
    """One memory as MCP offers it. `identify` says who sent a request; notes are in `language`.

    The memory stays its owner's to close; `threads` are the server's own.
    """

    def __init__(
        self, memory: Verbs, threads: Threads, identify: Identify, language: str = "en"
    ) -> None:
        self._memory = memory
        self._threads = threads
        self._identify = identify
        self._language = language

    def instructions(self) -> str:
        """What the client tells its model first, where one caller has the whole process."""
        parts = [load(_INSTRUCTIONS).render().user]
        caller = Caller(self._memory, self._identify({}), "", self._language)
        if caller.protocol is not None:
            with suppress(Denied):  # memory is switched off; the calls will say so
                guidance = caller.document.prompt()
                parts += [guidance.protocol, guidance.examples]
        return "\n\n".join(parts)

    def server(self, instructions: str | None = None) -> Server[Any]:
        """The server, to be run over any transport, with these `instructions` or those for everybody."""
        made: Server[Any] = Server(
            NAME,
            version=__version__,
            title="memstrata",
            description="What agents remember, local first.",
            instructions=instructions or load(_INSTRUCTIONS).render().user,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )
        made.middleware.append(_contained)
        return made

    async def _for(self, context: Context, work: Callable[[Caller], _T]) -> _T:
        """What `work` gives for whoever sent the request, in a worker thread."""
        scope = {} if context.request is None else context.request.scope
        known = context.session.client_params
        client = client_name(known.client_info.name if known else "")

        def run() -> _T:
            return work(Caller(self._memory, self._identify(scope), client, self._language))

        return await self._threads.run(run)

    # -- tools --------------------------------------------------------------------------------

    async def _list_tools(self, context: Context, _: object) -> types.ListToolsResult:
        def offered(caller: Caller) -> list[types.Tool]:
            archived = _ARCHIVED if caller.identity.offload is not None else ()
            protocol = caller.protocol
            return [*map(_offered, TOOLS), *archived, *([_update(protocol)] if protocol else [])]

        return types.ListToolsResult(tools=await self._for(context, offered))

    async def _call_tool(
        self, context: Context, call: types.CallToolRequestParams
    ) -> types.CallToolResult:
        arguments = {} if call.arguments is None else call.arguments
        if call.name in (tool.name for tool in TOOLS):
            found = await self._for(context, lambda one: one.tools.call(call.name, arguments))
            return _result(found.text, bool(found.error))
        if call.name in _TITLES:
            text = await self._for(context, lambda one: _archived(one, call.name, arguments))
            if text is not None:
                return _result(text, False)
        if call.name == team_document.TOOL:
            answer = await self._for(context, lambda one: _updated(one, arguments))
            if answer is not None:
                text = json.dumps(answer, ensure_ascii=False)
                return _result(text, answer["status"] == "error")
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {call.name[:64]}")

    # -- resources ----------------------------------------------------------------------------

    async def _list_resources(self, context: Context, _: object) -> types.ListResourcesResult:
        def listed(caller: Caller) -> list[types.Resource]:
            return [_resource(kind, name) for kind in KINDS for name in kind.listed(caller)]

        return types.ListResourcesResult(resources=await self._for(context, listed))

    async def _list_templates(self, _: Context, __: object) -> types.ListResourceTemplatesResult:
        kinds = [_template(kind) for kind in KINDS if kind.parameter]
        return types.ListResourceTemplatesResult(resource_templates=kinds)

    async def _read_resource(
        self, context: Context, asked: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        text = await self._for(context, lambda caller: resources.read(caller, asked.uri))
        found = types.TextResourceContents(uri=asked.uri, mime_type=MARKDOWN, text=text)
        return types.ReadResourceResult(contents=[found])

    # -- the prompt ---------------------------------------------------------------------------

    async def _list_prompts(self, _: Context, __: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_PROMPT])

    async def _get_prompt(
        self, context: Context, asked: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        message = (asked.arguments or {}).get(ARGUMENT)
        if asked.name != PROMPT:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {asked.name[:64]}")
        if message is None:
            raise MCPError(types.INVALID_PARAMS, f"{PROMPT} needs the argument {ARGUMENT}")
        text = await self._for(context, lambda caller: _told(caller, message))
        said = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=_PROMPT.description, messages=[said])


_TITLES: Final = {
    "recall_result": "Read an archived tool result",
    "list_tasks": "List the tasks",
    "open_task": "Show the graph of a task",
}
_ARCHIVED: Final = tuple(
    types.Tool(
        name=name,
        title=title,
        description=offload.TOOLS[name]["description"],
        input_schema=offload.TOOLS[name]["parameters"],
        annotations=_READS,
    )
    for name, title in _TITLES.items()
)
"""Offered where the caller named the agent session that they read."""
_PROMPT: Final = types.Prompt(
    name=PROMPT,
    title="What is remembered",
    description="What is remembered that bears on a message: for the model, before it answers.",
    arguments=[
        types.PromptArgument(name=ARGUMENT, description="What the user asks.", required=True)
    ],
)


async def _contained(ctx: Context, call_next: CallNext) -> HandlerResult:
    """The outermost door: an error is the table's, and of a bug no word goes out but that it is one."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise
    except MemstrataError as error:
        raise _protocol(error) from error
    except Exception as error:
        kind = type(error).__name__
        _LOGGER.error(
            "a bug: %s in %s", kind, ctx.method, exc_info=_LOGGER.isEnabledFor(logging.DEBUG)
        )
        raise _protocol(Internal(f"a bug: {kind}")) from error


def _protocol(error: MemstrataError) -> MCPError:
    about = cast("dict[str, Any]", wire.error(error))["error"]
    return MCPError(error.mcp_code, error.message, about)


def _result(text: str, failed: bool) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=failed)


def _offered(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        annotations=_READS,
    )


def _archived(caller: Caller, name: str, arguments: object) -> str | None:
    """What a tool for the caller's archived results answers; None where it is not offered."""
    session = caller.offload
    return None if session is None else session.call(name, arguments)


def _update(visibility: Visibility) -> types.Tool:
    offered = cast("Any", team_document.anthropic_tool(visibility))
    return types.Tool(
        name=offered["name"],
        title="Save the document",
        description=offered["description"],
        input_schema=offered["input_schema"],
        annotations=_WRITES,
    )


def _updated(caller: Caller, arguments: object) -> dict[str, Any] | None:
    """What a call of `update_memory` came to; None where it is not offered."""
    if caller.protocol is None:
        return None
    try:
        return cast("dict[str, Any]", caller.document.update_memory(arguments))
    except MemstrataError as error:
        return {"status": "error", "reason": error.code, "message": error.message}


def _told(caller: Caller, message: str) -> str:
    """What the prompt says: the context, and where the protocol is on the document and how to keep it."""
    parts = [caller.tools.memory_context(message).text]
    if caller.protocol is not None:
        document = caller.document
        parts += [document.prompt().protocol, document.block()]
    return "\n".join(filter(None, parts)) or "(nothing is remembered)"


def _resource(kind: Kind, name: str) -> types.Resource:
    return types.Resource(
        uri=resources.address(kind.host, name),
        name=f"{kind.host}/{name}" if name else kind.host,
        title=kind.title,
        description=kind.description,
        mime_type=MARKDOWN,
    )


def _template(kind: Kind) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        uri_template=kind.template,
        name=kind.host,
        title=kind.title,
        description=kind.description,
        mime_type=MARKDOWN,
    )
