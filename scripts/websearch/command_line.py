"""The command line of every script: its words, its help, what it prints, how it ends.

The three single files carry a copy of the block; see common.py.
"""

from __future__ import annotations

import json
import os
import re
import sys

from websearch.common import (
    COMMON_PARAMS,
    EXIT_CODES,
    MAX_INPUT_BYTES,
    OUTPUT_PARAMS,
    VERSION,
    SearchError,
    canonical_names,
    check_value,
    dump_json,
    error_document,
    error_markdown,
    given_twice,
    internal_error,
    nearest,
    quoted,
    spelled_name,
)

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.common import Document, Fields

# ===== shared block: command line (edit websearch/command_line.py, then run `make sync`) ==========


# Whether stdout is being written to, and the signal that came meanwhile: it must not cut a line.
_WRITING = {"now": False, "signal": 0}


class Stopped(BaseException):
    """Raised by SIGINT or SIGTERM, whose number is args[0]: the command ends with a document.

    The number 0 says that nobody reads the JSON Lines any more, which is not an error.
    """


def run_command_line(script: Fields, argv: list[str] | None) -> int:
    """Run one command of a script and print its document; return the exit code.

    script: name (of the file), description (its docstring), commands (the COMMANDS table, the
    first command is the default), run (command -> function; that of a "batch" also gets the output
    options), to_markdown, and errors_on_stderr to show errors there as well. argv: the words after
    the program's name, None for sys.argv's.
    """
    open_closed_streams()
    stop_on_signals()
    given = sys.argv[1:] if argv is None else argv
    # The bytes of an argument are UTF-8, whatever the locale made of them.
    words = [os.fsencode(word).decode("utf-8", "surrogateescape") for word in given]
    flags = words[: words.index("--")] if "--" in words else words
    options: Fields = {}
    if re.search(r"\0--format[=\0]markdown\0", "\0".join(["", *flags, ""])):
        options["format"] = "markdown"  # also for an error that is found while flags are parsed
    named = bool(words) and words[0] in script["commands"]
    command = words.pop(0) if named else next(iter(script["commands"]))
    try:
        if "-h" in flags or "--help" in flags:
            write_stdout(help_text(script, command))
            return 0
        if "--version" in flags:
            write_stdout(f"{script['name']} {VERSION}")
            return 0
        params = parse_arguments(script, command if named else "", words, options)
        report = report_progress if sys.stderr.isatty() else None
        batch = {"options": options} if script["commands"][command].get("batch") else {}
        document = script["run"][command](params, report, **batch)
    except SearchError as error:
        document = error_document(error)
    except Stopped as stopped:
        kind = "interrupted" if stopped.args[0] == 2 else "terminated"
        stop = error_document(SearchError(kind, f"{kind.capitalize()}."))
        document = stop if stopped.args[0] else {"ok": True}
    except Exception as error:  # noqa: BLE001  a defect of ours: stdout still holds a document
        document = internal_error(error, "--verbose" in flags)
    if script.get("errors_on_stderr") and not document["ok"]:
        sys.stderr.write(f"{script['name']}: {document['error']}\n")
    try:
        return print_document(document, options, script["to_markdown"])
    except Stopped as stopped:  # what there is to print is printed
        return 128 + int(stopped.args[0])
    except OSError as error:  # a full disk, for example: no document can be printed
        sys.stderr.write(f"{script['name']}: stdout could not be written: {error.strerror}\n")
        return EXIT_CODES["internal"]


def open_closed_streams() -> None:
    """Replace stdin, stdout and stderr by the null device if the caller has closed them.

    The null device gets the lowest free descriptor, which is that of the closed stream: else the
    next file that is opened would be read as input, or receive what is printed.
    """
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def stop_on_signals() -> None:
    """Let SIGINT and SIGTERM raise Stopped, but not while a line of output is being written."""
    import signal

    def stop(number: int, _: Any) -> None:
        if _WRITING["now"] and not _WRITING["signal"]:  # a second signal ends a slow write
            _WRITING["signal"] = number
            return
        raise Stopped(number)

    try:
        signal.signal(signal.SIGINT, stop)
        signal.signal(signal.SIGTERM, stop)
    except ValueError:  # only the main thread may set handlers
        return


# ----- arguments


def parse_arguments(script: Fields, command: str, words: list[str], options: Fields) -> Fields:
    """Return the parameters given by flags, words and params_json; a flag wins over JSON.

    command: "" if none was named; then it is the default. Output options go into options. Raises
    SearchError (invalid_input).
    """
    default = next(iter(script["commands"]))
    named, command = bool(command), command or default
    spec = script["commands"][command]
    values, rest = parse_flags(script, command, words)
    for parameter in OUTPUT_PARAMS:
        if parameter["name"] in values:
            options[parameter["name"]] = check_value(parameter, values.pop(parameter["name"]))
    given: Fields = {}
    if "params_json" in options:
        given = read_params_json(options["params_json"])
        if rest and not named:
            refuse_mistyped_command(script, rest[0], given)
        given = canonical_names(command, spec, given)
    take_words(script, command, rest, values, given)
    merged = {**given, **values}
    positional = any(parameter.get("positional") for parameter in spec["params"])
    if not merged and command != default and positional:
        needed = [item for item in spec["params"] if item.get("required")]
        wanted = " and ".join(item["name"] for item in needed) or "parameters"
        give = "".join(f"Give {item['name']}: {item['help']}. " for item in needed)
        hint = f"{give}To search for the word {command!r}: {script['name']} {default} '{command}'."
        raise SearchError("invalid_input", f"{command} needs {wanted}.", hint)
    if "output" in options:
        merged.setdefault("max_chars", 0)  # a file costs no context
        if options["output"] == "-":
            del options["output"]
    return merged


def refuse_mistyped_command(script: Fields, word: str, given: Fields) -> None:
    """Raise SearchError if a word beside JSON is nearly a command: it would be searched for.

    take_words names both if the JSON has a query, too.
    """
    similar = nearest(word, script["commands"], "command") if " " not in word else ""
    if similar and not {"query", "q"} & {spelled_name(name) for name in given}:
        hint = f"{similar} To search for {quoted(word)}, put it into the JSON."
        raise SearchError("invalid_input", f"{quoted(word)} is no command.", hint)


def take_words(
    script: Fields, command: str, words: list[str], values: Fields, given: Fields
) -> None:
    """Put the words that are no flags into values; given holds the parameters of the JSON.

    A word for a parameter that has a value already is an error: it may be a mistyped command.
    """
    commands = script["commands"]
    named = [one for one in commands[command]["params"] if one.get("positional")]
    for parameter in named:
        name = parameter["name"]
        if words and parameter["type"] in ("list", "csv"):  # takes every word that is no flag
            values[name] = [*values.get(name, []), *words]
            return
        if words and (name in values or name in given):
            error = given_twice(name, values.get(name, given.get(name)), words[0])
            similar = nearest(words[0], commands, "command")
            error.details["hint"] = f"{error.details['hint']} {similar}".strip()
            raise error
        if words:
            values[name] = words.pop(0)
    if words:
        hint = "Put the query in single quotes." if named else "It takes flags only."
        if words[0] in commands:
            hint = f"The command comes first: {script['name']} {words[0]} ..."
        raise SearchError("invalid_input", f"{command} does not take {quoted(words[0])}.", hint)


def parse_flags(script: Fields, command: str, words: list[str]) -> tuple[Fields, list[str]]:
    """Return (values by parameter name, the other words); values stay text, the table checks them.

    argparse would add 5 ms of start-up to every call.
    """
    table = flag_table(script["commands"][command])
    values: Fields = {}
    rest: list[str] = []
    while words:
        word = words.pop(0)
        flag, equals, value = word.partition("=")
        if word == "--":
            return values, rest + words
        if not word.startswith("-") or word == "-" or " " in flag:
            rest.append(word)
            continue
        parameter = table.get(flag, {"name": ""})
        name = parameter["name"]
        negated = flag.startswith("--no-") and flag[2:].replace("-", "_") != name
        if not name or (equals and negated):
            raise unknown_flag(script, command, word if name else flag)
        if parameter["type"] == "bool":
            values[name] = value if equals else not negated
            continue
        if not equals and not words:
            raise SearchError("invalid_input", f"{flag} needs a value.", parameter["help"])
        value = value if equals else words.pop(0)
        value = read_argument(value, name) if "file" in parameter else value
        many = parameter["type"] in ("list", "csv")
        values[name] = [*values.get(name, []), value] if many else value
    return values, rest


def flag_table(spec: Fields) -> dict[str, Fields]:
    """Return the flags of a command: --count, -n, --no-spellcheck, ... -> parameter."""
    table = {}
    for parameter in [*spec["params"], *COMMON_PARAMS, *OUTPUT_PARAMS]:
        if parameter.get("batch") and not spec.get("batch"):
            continue
        names = [parameter["name"], *parameter.get("aliases", ())]
        flags = ["--" + name.replace("_", "-") for name in names]
        if parameter["type"] == "bool" and parameter.get("wire"):  # the API's default may be on
            flags.append("--no-" + flags[0][2:])
        table.update(dict.fromkeys([*parameter.get("flags", ()), *flags], parameter))
    return table


def unknown_flag(script: Fields, command: str, flag: str) -> SearchError:
    """Return the error for a flag that the command does not know."""
    spec = script["commands"][command]
    hint = spec.get("cannot", {}).get(spelled_name(flag), "")
    hint = hint or nearest(flag, flag_table(spec), "flag")
    hint = hint or f"{script['name']} {command} --help lists the flags."
    if not flag.startswith("--"):
        hint += " Put -- before a query that begins with a dash."
    return SearchError("invalid_input", f"{command} has no flag {quoted(flag)}.", hint)


def read_params_json(text: str) -> Fields:
    """Return the object given as --params-json: JSON text, @FILE, or - for standard input."""
    content = read_argument("@-" if text == "-" else text, "params_json")
    try:
        given = json.loads(content)
    except (ValueError, RecursionError):
        given = None
    if isinstance(given, dict):
        return given
    hint = """Give an object such as '{"query": "..."}', @FILE, or - for standard input."""
    message = f"params_json is not a valid JSON object: {quoted(content.strip())}."
    raise SearchError("invalid_input", message, hint)


def read_argument(value: str, name: str) -> str:
    """Return an argument's text; for @FILE, the content of the file (@- is standard input)."""
    if not value.startswith("@"):
        return value
    path = value[1:]
    try:
        with open(0 if path == "-" else file_name(path), "rb") as file:
            data = file.read(MAX_INPUT_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with NUL
        message = f"{name}: {path!r} could not be read: {getattr(error, 'strerror', error)}."
        raise SearchError("invalid_input", message, "Name a readable file after the @.") from None
    if len(data) > MAX_INPUT_BYTES:
        message = f"{name}: {path!r} is over {MAX_INPUT_BYTES} bytes long."
        raise SearchError("invalid_input", message, "Split it.")
    return data.decode("utf-8-sig", "replace")


def file_name(path: str) -> bytes:
    """Return a path, ~ expanded, in UTF-8: the locale may not know its letters."""
    return os.path.expanduser(path).encode("utf-8", "surrogateescape")


def help_text(script: Fields, command: str) -> str:
    """Return a command's help; that of the default command is the script's."""
    commands = script["commands"]
    spec = commands[command]
    flags: dict[str, list[str]] = {}
    table = flag_table(spec)
    for flag, parameter in table.items():
        flags.setdefault(parameter["name"], []).append(flag)
    lines = []
    for same in flags.values():
        parameter = table[same[0]]
        listed = parameter.get("choices", ()) if parameter["type"] != "since" else ()
        choices = f" ({', '.join(listed)})" if 0 < len(listed) <= 16 else ""
        unsent = None if "default" in parameter else parameter.get("api_default")
        default = "" if unsent is None else f" (API default: {unsent})"
        lines.append(f"  {', '.join(same)}:  {parameter['help']}{choices}{default}")
    usage = f"{script['name']} {command}"
    for item in [item for item in spec["params"] if item.get("positional")]:
        word = f"'{item['name'].upper()}'"
        usage += f" {word}" if item.get("required") else f" [{word}]"
    head = spec["help"]
    if command == next(iter(commands)):
        names = "\n".join(f"  {name:<13}{item['help']}" for name, item in commands.items())
        head = f"{(script['description'] or '').strip()}\n\ncommands (first: default):\n{names}"
    return "\n".join([head, "", f"usage: {usage} [options]", "", "options:", *lines])


def report_progress(text: str, done: int, total: int) -> None:
    """Show progress on a terminal's stderr."""
    sys.stderr.write(f"{text} ({done} of {total})\n")


# ----- output


def print_document(document: Document, options: Fields, to_markdown: Callable[..., str]) -> int:
    """Print a document, or write it to --output and print a receipt; return its exit code."""
    kind = "" if document["ok"] else document["details"]["kind"]
    lines = bool(options.get("lines")) or ("lines" in options and document["ok"])
    if lines:  # --jsonl: each item is a document of its own; without --output it is printed already
        text = "\n".join(options["lines"]) if "output" in options else ""
        text = dump_json(document) if EXIT_CODES.get(kind, 0) >= 70 and not text else text
    elif options.get("format") == "markdown":
        try:
            text = to_markdown(document)
        except Exception as error:  # noqa: BLE001  a defect of ours: the caller gets a document
            document = internal_error(error, bool(options.get("verbose")))
            kind, text = "internal", error_markdown(document)
    else:
        text = dump_json(document, bool(options.get("pretty")) or sys.stdout.isatty())
    code = EXIT_CODES[kind] if kind else 0
    if "output" in options and (document["ok"] or lines):
        receipt = write_output(options["output"], text, document)
        text, code = dump_json(receipt), code if receipt["ok"] else EXIT_CODES["invalid_input"]
    if text:
        write_stdout(text)
    return code


def write_stdout(text: str) -> bool:
    """Write text and a newline to stdout as UTF-8, whole; return False if its reader has gone."""
    _WRITING["now"] = True
    reader_is_there = True
    try:
        sys.stdout.buffer.write((text + "\n").encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
    except OSError as error:
        if error.errno not in (22, 32):  # EPIPE; Windows says EINVAL
            raise
        # Without this the interpreter complains on stderr when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        reader_is_there = False
    finally:
        _WRITING["now"] = False
    if _WRITING["signal"]:
        raise Stopped(_WRITING["signal"])
    return reader_is_there


def write_output(path: str, text: str, document: Document) -> Document:
    """Write text to path, whole or not at all; return the receipt to print.

    If that fails, the error document carries the result: what was paid for is not lost.
    """
    data = (text + "\n").encode("utf-8", "replace")
    target = os.path.realpath(file_name(path))
    # A device such as /dev/null is written to: a rename would replace it by a file.
    device = os.path.exists(target) and not os.path.isfile(target)
    written = target if device else target + f".{os.getpid()}.part".encode()
    try:
        with open(written, "wb") as file:
            file.write(data)
        os.replace(written, target)
        if not device:
            remove_leftovers(target)
    except OSError as error:
        if not device and os.path.exists(written):
            os.unlink(written)
        message = f"--output {path!r} could not be written: {error.strerror}."
        hint = "Name a file in a folder that exists and is writable. The result is in document."
        return error_document(SearchError("invalid_input", message, hint)) | {"document": document}
    return {"ok": True, "output": path, "bytes": len(data)}


def remove_leftovers(target: bytes) -> None:
    """Remove what runs that were killed while they wrote to the same target have left beside it."""
    folder, base = os.path.split(target)
    try:
        for name in os.listdir(folder):
            found = re.fullmatch(re.escape(base) + rb"\.(\d+)\.part", name)
            if found and not is_running(int(found[1])):
                os.unlink(os.path.join(folder, name))
    except OSError:  # the folder cannot be read, or another run was faster
        return


def is_running(process_id: int) -> bool:
    """Return whether a process runs. Windows, which asks otherwise, removes no file in use."""
    if os.name == "nt":
        return False
    try:
        os.kill(process_id, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # it is another user's
        return True
    return True


def end_process(code: int) -> None:
    """Flush the streams and end the process at once.

    The interpreter's own clean-up, object by object, would cost every call some 8 ms.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # noqa: PERF203  closed, or its reader has gone
            continue
    os._exit(code)


# ===== end of shared block: command line ==========================================================
