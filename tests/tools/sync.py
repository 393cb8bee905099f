"""Copy shared code and text into the files that repeat it: `make sync`.

- The package's kit, from its mark on, into the standalone scripts, with each section marked as a
  copy; into their docstrings, which lines are their own.
- The code that opencode's tool google_search shares with the plugin, into its file.
- The parameter tables made from each script's COMMANDS, into references/*.md.
- The table of engines and their filters, made from ENGINES, into references/*.md; the variables of
  their keys and addresses into references/*.md, server.json, assets/mcp and
  assets/secrets.example.yaml.

With --check, nothing is written, and the exit code is 1 if a copy differs.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
os.environ["WEB_SEARCH_SECRETS"] = os.devnull  # without the developer's own engines
KIT = ROOT / "scripts/websearch/kit.py"
KIT_MARK = "\n# ===== kit "  # below it the copy begins
SECTION = re.compile(r"(?m)^(# -----[^(\n]*)$")  # a section of the kit
COPIED = r"\1 (kit, copied: edit websearch/kit.py)"
OWN_LINES = re.compile(r"(?m)^(Lines 1 to )\d+( are this script's own)")
MAIN_GUARD = 'if __name__ == "__main__":\n'
STANDALONE = ("brave_search.py", "gemini_search.py", "serper_search.py")
TOOL_MARK = "// ===== google_search.ts contains a copy of the code above"
LONG_LIST = 12  # choices
# Type of a parameter in COMMANDS -> its name in the tables.
TYPES = {
    "str": "text", "int": "integer", "float": "number", "bool": "boolean", "since": "period",
    "list": "list or text", "csv": "comma-separated list",
}  # fmt: skip
KEY_TABLE = re.compile(r"(<!-- keys of engines -->\n).*?(<!-- end of keys -->)", re.DOTALL)
ADDRESSES = re.compile(r"(?m)^\| `BRAVE_SEARCH_BASE_URL`[^|]*(?=\|)")
# Addresses that do not belong to engines.
OTHER_ADDRESSES = (
    "SERPER_SCRAPE", "GEMINI", "VERTEX", "CODE_ASSIST", "GITHUB_RAW", "WAYBACK", "REDDIT", "X",
)  # fmt: skip
# Lines in a client's configuration, each with the variable of a key.
KEY_LINES = re.compile(r"(?m)(?:^[^\n]*\b[A-Z]+(?:_[A-Z]+)*_API_KEY\b[^\n]*\n)+")
EXAMPLE_KEYS = re.compile(r"(# More search engines[^\n]*\n).*?(?=# Higher limits)", re.DOTALL)
GEMINI = (
    "GEMINI_API_KEY",
    "Gemini answers with Google Search",
    "https://aistudio.google.com/apikey",
)
TABLE = re.compile(
    r"(<!-- parameters: (\w+) (\w+) -->\n).*?(<!-- end of parameters -->)", re.DOTALL
)
ENGINE_TABLE = re.compile(r"(<!-- engines -->\n).*?(<!-- end of engines -->)", re.DOTALL)


def synced_script(name: str) -> str:
    """Return a standalone script with a fresh copy of the kit at its end."""
    source = (ROOT / "scripts" / name).read_text(encoding="utf-8")
    kit = KIT.read_text(encoding="utf-8")
    own, guard = source[: source.index(KIT_MARK)], source[source.rindex(MAIN_GUARD) :]
    own = OWN_LINES.sub(rf"\g<1>{own.rstrip().count(chr(10)) + 1}\2", own, count=1)
    copy = SECTION.sub(COPIED, kit[kit.index(KIT_MARK) :].rstrip())
    return f"{own}{copy}\n\n\n{guard}"


def parameter_table(script: str, command: str) -> str:
    """Return a command's parameters as a Markdown table.

    Parameters shared with the default command are only named: an agent pays for every line.
    """
    commands = load_commands(script)
    default = next(iter(commands))
    known = commands[default]["params"] if command != default else []
    shared = [f"`{item['name']}`" for item in commands[command]["params"] if item in known]
    rows = []
    for parameter in commands[command]["params"]:
        if parameter in known:
            continue
        names = [parameter["name"], *parameter.get("aliases", ())]
        flags = [*parameter.get("flags", ()), "--" + names[0].replace("_", "-")]
        sent = parameter.get("wire") or parameter.get("header") or ""
        cells = [
            ", ".join(f"`{name}`" for name in names),
            (f"`{names[0].upper()}` or " if parameter.get("positional") else "")
            + f"`{', '.join(flags)}`",
            TYPES[parameter["type"]],
            allowed_values(parameter, brief=command != default),
            default_value(parameter),
            f"`{sent}`" if sent else "",
            parameter["help"],
        ]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    names = ("parameter", "flag", "type", "values", "default", "sent as", "meaning")
    head = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    table = "\n".join([*head, *rows]) + "\n" if rows else ""
    as_default = f"Same as for `{default}`: {', '.join(shared)}.\n" if shared else ""
    return table + ("\n" if rows and shared else "") + as_default


def allowed_values(parameter: dict[str, Any], brief: bool) -> str:
    """Return a parameter's allowed values; a long list appears only for the default command."""
    if brief and len(parameter.get("choices", ())) > LONG_LIST:
        return "same as for the default command"
    if parameter["type"] == "since":
        return ", ".join(parameter["choices"]) + ", range of dates"
    if "choices" in parameter:
        return ", ".join(parameter["choices"])
    if "min" in parameter:
        return f"{parameter['min']} to {parameter['max']}"
    return ""


def default_value(parameter: dict[str, Any]) -> str:
    """Return the default that a script sends or applies, and the API's own default."""
    if parameter.get("required"):
        return "required"
    own = parameter.get("default", parameter.get("documented_default"))
    api = parameter.get("api_default")
    own = (
        ", ".join(own)
        if isinstance(own, list)
        else str(own).lower()
        if isinstance(own, bool)
        else own
    )
    if own is None and api is None:
        return "false" if parameter["type"] == "bool" and not parameter.get("wire") else "none"
    if own is None:
        return f"API: {api}"
    return str(own) if api in (None, own) else f"{own} (API: {api})"


def engine_table() -> str:
    """Return a Markdown table of the engines: what they find, need and filter by."""
    from websearch.engines.base.engine import FILTERS
    from websearch.engines.table import ENGINES

    asked_by_auto = [name for name, engine in ENGINES.items() if engine.auto]
    filters = tuple(f"`{name}`" for name in FILTERS)
    names = ("engine", "finds", "needs", "`auto`", *filters, "`count`", "`query`")
    rows = [names, ("---",) * len(names)]
    for name, engine in ENGINES.items():
        own_server = [engine.address[0]] if engine.own_server else []
        needs = [*engine.keys[:1], *own_server]
        filters = tuple(filter_cell(engine.filters, one) for one in FILTERS)
        place = str(asked_by_auto.index(name) + 1) if name in asked_by_auto else "no"
        cells = [f"`{name}`", ", ".join(engine.sources), ", ".join(f"`{one}`" for one in needs)]
        rows.append((*cells, place, *filters, f"{engine.max_count}", f"{engine.max_query:,}"))
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def engine_keys() -> list[tuple[str, str, str]]:
    """Return (variable, purpose, where to get it) for each engine's key, in table order."""
    from websearch.engines.table import ENGINES

    keyed = [engine for engine in ENGINES.values() if engine.keys]
    return [(engine.keys[0], engine.title, engine.key_site) for engine in keyed]


def key_table() -> str:
    """Return a Markdown table of the keys for engines that do not have their own script."""
    from websearch.engines.table import ENGINES

    rows = ["| variable | engine | where the key comes from | without it |", "|---|---|---|---|"]
    for name, engine in ENGINES.items():
        if engine.keys and not engine.function:
            without = "available if you name it" if engine.keyless else "not available"
            rows.append(f"| `{engine.keys[0]}` | `{name}` | {engine.key_site} | {without} |")
    return "\n".join(rows) + "\n"


def address_cell() -> str:
    """Return the variables for all addresses, as the first cell of a table row."""
    from websearch.engines.table import ENGINES

    addresses = [engine.address for engine in ENGINES.values()]
    names = [variable for variable, default in addresses if default]
    names += [f"{name}_BASE_URL" for name in OTHER_ADDRESSES]
    return f"| {', '.join(f'`{name}`' for name in names)} "


def synced_client(path: Path) -> str:
    """Return a client's configuration that passes on every engine's key, and Gemini's."""
    text = path.read_text(encoding="utf-8")
    names = [name for name, _, _ in (*engine_keys(), GEMINI)]

    def lines(match: re.Match[str]) -> str:
        first, last = match[0].splitlines()[0], match[0].splitlines()[-1]
        made = [re.sub(r"\b[A-Z]+(_[A-Z]+)*_API_KEY\b", name, first) for name in names]
        made[-1] = made[-1].rstrip(",") + ("," if last.endswith(",") else "")
        return "".join(f"{line}\n" for line in made)

    return KEY_LINES.sub(lines, text)


def synced_registry_entry(path: Path) -> str:
    """Return the MCP registry's entry with a variable for every key."""
    entry = json.loads(path.read_text(encoding="utf-8"))
    entry["packages"][0]["environmentVariables"] = [
        {"name": name, "description": f"Key for {title}, from {site}", "isSecret": True}
        for name, title, site in (*engine_keys(), GEMINI)
    ]
    return json.dumps(entry, indent=2, ensure_ascii=False) + "\n"


def synced_example(path: Path) -> str:
    """Return the example of secrets.yaml with a line for every engine's key."""
    known = ("BRAVE_SEARCH_API_KEY", "SERPER_API_KEY")  # these have their own comments
    lines = [f'{name}: ""  # {site}' for name, _, site in engine_keys() if name not in known]
    text = path.read_text(encoding="utf-8")
    return EXAMPLE_KEYS.sub(lambda match: match[1] + "\n".join(lines) + "\n\n", text)


def filter_cell(filters: dict[str, Any], name: str) -> str:
    """Return the values of a filter that an engine accepts: yes (any value), no, or a list."""
    if name not in filters:
        return "no"
    return "yes" if filters[name] is None else ", ".join(filters[name])


def load_commands(script: str) -> dict[str, Any]:
    """Return a script's COMMANDS table."""
    path = ROOT / "scripts" / f"{script}.py"
    spec = importlib.util.spec_from_file_location(script, path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    commands: dict[str, Any] = module.COMMANDS
    return commands


def synced_tool() -> str:
    """Return opencode's tool google_search with a fresh copy of the code that it shares.

    The file must work when it is copied on its own; opencode would treat a second export as a tool.
    """
    folder = ROOT / "assets/opencode/tool"
    source = (folder / "shared/search_tools.ts").read_text(encoding="utf-8")
    shared = source[source.index("import ") : source.index(TOOL_MARK)].replace("\nexport ", "\n")
    own = (folder / "google_search.ts").read_text(encoding="utf-8")
    head = own[: own.index("import ")]
    return f'{head}{shared}export default makeTool("google_search", GOOGLE_SEARCH)\n'


def synced_reference(path: Path) -> str:
    """Return a reference with fresh tables of parameters and engines."""
    text = TABLE.sub(
        lambda match: match[1] + parameter_table(match[2], match[3]) + match[4],
        path.read_text(encoding="utf-8"),
    )
    text = ENGINE_TABLE.sub(lambda match: match[1] + engine_table() + match[2], text)
    text = KEY_TABLE.sub(lambda match: match[1] + key_table() + match[2], text)
    return ADDRESSES.sub(address_cell(), text)


OTHERS = {"server.json": synced_registry_entry, "assets/secrets.example.yaml": synced_example}


def main() -> int:
    """Write the copies, or with --check only compare them."""
    wanted = {ROOT / "scripts" / name: synced_script(name) for name in STANDALONE}
    wanted |= {path: synced_reference(path) for path in sorted(ROOT.glob("references/*.md"))}
    wanted |= {path: synced_client(path) for path in sorted(ROOT.glob("assets/mcp/*"))}
    for name, made in OTHERS.items():
        wanted[ROOT / name] = made(ROOT / name)
    wanted[ROOT / "assets/opencode/tool/google_search.ts"] = synced_tool()
    differing = [path for path, text in wanted.items() if path.read_text(encoding="utf-8") != text]
    for path in differing:
        print(f"{'differs' if '--check' in sys.argv else 'written'}: {path.relative_to(ROOT)}")
        if "--check" not in sys.argv:
            path.write_text(wanted[path], encoding="utf-8")
    return 1 if differing and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "scripts"))
    raise SystemExit(main())
