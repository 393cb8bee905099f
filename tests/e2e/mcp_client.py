"""The official Python client, in an environment that has it: mcp.py runs this and checks the rest.

Reads a job from stdin and prints what the client saw, both JSON:

  {"mode": "legacy", "command": [...], "environment": {...}, "calls": [[tool, arguments], ...],
   "cancel": [tool, arguments], "wait": seconds, "after": [tool, arguments]}

mode: legacy, auto, or a version without a handshake. In the place of command and environment may
stand url and headers, of a server that is reached over HTTP. cancel: a call that is given up once
its first progress has come. wait: how long its answer could still come. after: a call at the end.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # this folder's mcp.py must not be taken for the package
    sys.path[0] = str(Path(__file__).resolve().parents[2])

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

READ_TIMEOUT = 60.0  # seconds


def plain(value: Any) -> Any:
    """A model of the client as JSON data, with the names of the protocol."""
    return value.model_dump(mode="json", exclude_none=True, by_alias=True)


async def call(client: Client, name: str, arguments: Any) -> dict[str, Any]:
    """Call a tool; what the client returned or raised, and the progress before."""
    progress: list[Any] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        progress.append([done, total, message])

    seen: dict[str, Any] = {"tool": name, "progress": progress}
    try:
        seen["result"] = plain(
            await client.call_tool(name, arguments, progress_callback=on_progress)
        )
    except MCPError as error:
        seen["error"] = {"code": error.error.code, "message": error.error.message}
    return seen


async def cancel(client: Client, name: str, arguments: Any) -> bool:
    """Begin a call and give it up after its first progress; whether an answer came before."""
    async with anyio.create_task_group() as group:

        async def give_up(*_: Any) -> None:
            group.cancel_scope.cancel()

        with anyio.fail_after(READ_TIMEOUT):
            await client.call_tool(name, arguments, progress_callback=give_up)
        return True
    return False


async def wait_and_call(client: Client, seconds: float, name: str, arguments: Any) -> Any:
    """Call a tool later; what was seen."""
    await anyio.sleep(seconds)
    return await call(client, name, arguments)


def transport(job: dict[str, Any]) -> Any:
    """The way to the job's server."""
    if "url" in job:
        http_client = httpx2.AsyncClient(headers=job["headers"], timeout=READ_TIMEOUT)
        return streamable_http_client(job["url"], http_client=http_client)
    program, *words = job["command"]
    return stdio_client(StdioServerParameters(command=program, args=words, env=job["environment"]))


async def run(job: dict[str, Any]) -> dict[str, Any]:
    """Connect, list, call; return what was seen."""
    async with Client(
        transport(job), mode=job["mode"], read_timeout_seconds=READ_TIMEOUT, raise_exceptions=False
    ) as client:
        return {
            "version": client.protocol_version,
            "server": plain(client.server_info) if client.server_info else None,
            "capabilities": plain(client.server_capabilities),
            "instructions": client.instructions,
            "tools": [plain(tool) for tool in (await client.list_tools()).tools],
            "calls": [await call(client, name, given) for name, given in job["calls"]],
            "answered": await cancel(client, *job["cancel"]),
            "after": await wait_and_call(client, job["wait"], *job["after"]),
        }


if __name__ == "__main__":
    print(json.dumps(anyio.run(run, json.load(sys.stdin))))
