"""The command line of every script: its words, its help, what it prints, how it ends.

The three single files carry a copy of the block; see common.py.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import sys

from websearch.core.common import (
    EXIT_CODES,
    VERSION,
    SearchError,
    dump_json,
    error_document,
    quoted,
    spell_hints,
)
from websearch.core.documents import error_markdown, fit_document, internal_error
from websearch.core.parameters import (
    COMMON_PARAMS,
    DEFAULT_MAX_CHARS,
    LEAST_MAX_CHARS,
    MAX_CHARS,
    MAX_INPUT_BYTES,
    OUTPUT_PARAMS,
    canonical_names,
    check_value,
    given_twice,
    nearest,
    spelled_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from websearch.core.common import Document, Fields

# ===== shared block: command line (edit websearch/core/command_line.py, then run `make sync`) =====

# Set by agents for the commands that they run, and by CI.
AGENT_VARIABLES = ("CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "OPENCODE", "CURSOR_AGENT", "CI")
SAME_COMMAND = {"search": "web", "web": "search"}  # where one of them exists
# Type of a parameter -> what stands for its value in the help.
METAVARS = {"int": "N", "float": "N", "since": "PERIOD", "csv": "A,B", "bool": ""}
MAX_CHOICES = 24  # that the help lists
CANNOT_PRINT = 74  # exit code if stdout is closed or its disk full: EX_IOERR of sysexits.h
# A signal that comes while a line is printed waits for its end; a second one does not.
_PRINTING = {"now": False, "signal": 0}


class Stopped(BaseException):
    """Raised by SIGINT or SIGTERM, whose number is args[0]; 0: nobody reads the output any more."""


def run_command_line(script: Fields, argv: list[str] | None) -> int:
    """Run one command of a script and print its document; return the exit code.

    script: name (of the file), description (its docstring), commands (the COMMANDS table, the
    first command is the default), others (further words that it starts), run (command -> function),
    to_markdown, errors_on_stderr to show errors there as well if stdout is no terminal, to_terminal
    (document, to_markdown -> text; "" where JSON is printed), and returns_everything if its
    functions cut no document by themselves. The function of a "batch" also gets the output options,
    among them names (parameter -> flag); one that prints JSON Lines returns its exit code. argv:
    the words after the program's name, None for sys.argv's.
    """
    has_stdout = open_closed_streams()
    stop_on_signals()
    arguments = sys.argv[1:] if argv is None else argv
    # The bytes of an argument are UTF-8, whatever the locale made of them.
    words = [os.fsencode(word).decode("utf-8", "surrogateescape") for word in arguments]
    command, is_named = find_command(script["commands"], words)
    names = flag_names(script["commands"][command])
    options: Fields = {"names": names}
    try:
        given = words[1:] if is_named else words
        params = parse_arguments(script, command, is_named, given, options)
        if not (has_stdout or "output" in options):
            sys.stderr.write(f"{script['name']}: stdout is closed.\n")
            raise SystemExit(CANNOT_PRINT)
        document = run_and_fit(script, command, params, options)
        if isinstance(document, int):
            return document
    except SystemExit as ended:  # the help or the version is printed, for example
        return int(ended.code or 0)
    except SearchError as error:
        document = error_document(error)
    except Stopped as stopped:
        if not stopped.args[0]:
            return 0
        kind = "interrupted" if stopped.args[0] == 2 else "terminated"
        document = error_document(SearchError(kind, f"{kind.capitalize()}."))
    except Exception as error:  # noqa: BLE001  a defect of ours: stdout still holds a document
        document = internal_error(error, "--verbose" in words)
    if script.get("errors_on_stderr") and not document["ok"] and not sys.stdout.isatty():
        sys.stderr.write(f"{script['name']}: {document['error']}\n")
    try:
        return print_document(spell_hints(document, names), options, script)
    except Stopped as stopped:  # what there is to print is printed
        return 128 + int(stopped.args[0])
    except OSError as error:  # a full disk, for example: no document can be printed
        sys.stderr.write(f"{script['name']}: stdout could not be written: {error.strerror}\n")
        return CANNOT_PRINT


def find_command(commands: Fields, words: list[str]) -> tuple[str, bool]:
    """Return the command, and whether the first word names it; else it is the default one.

    search and web are the same command where one of them exists.
    """
    first = words[0] if words else ""
    plain = [word for word in words[1:3] if word[:1] != "-"]
    # Several words without quotes are a query: web design trends.
    name = first if first in commands or len(plain) > 1 else SAME_COMMAND.get(first, "")
    return (name, True) if name in commands else (next(iter(commands)), False)


def run_and_fit(script: Fields, command: str, params: Fields, options: Fields) -> Any:
    """Return the document of a command; Markdown is measured as Markdown. Progress is shown."""
    is_shown = sys.stderr.isatty() and not options.get("quiet") and not is_agents()
    spec = script["commands"][command]
    batch = {"options": options} if spec.get("batch") else {}
    limit = 0
    if script.get("returns_everything") and not batch and options.get("format") == "markdown":
        limit, params["max_chars"] = check_value(MAX_CHARS, params["max_chars"]), 0
    try:
        document = script["run"][command](params, report_progress if is_shown else None, **batch)
    finally:
        if is_shown:
            sys.stderr.write(ERASE_LINE)
            sys.stderr.flush()
    if limit:
        expendable = spec.get("expendable", ())
        fit_document(document, limit, expendable, lambda cut: len(script["to_markdown"](cut)))
    return document


def open_closed_streams() -> bool:
    """Put the null device in the place of closed streams; return whether stdout was open.

    It gets their descriptors: else the next file that is opened would receive what is printed.
    """
    has_stdout = sys.stdout is not None
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    return has_stdout


def stop_on_signals() -> None:
    """Let SIGINT and SIGTERM raise Stopped, but not while a line of output is being written."""
    import signal

    def stop(number: int, _: Any) -> None:
        if _PRINTING["now"] and not _PRINTING["signal"]:
            _PRINTING["signal"] = number
        else:
            raise Stopped(number)

    try:
        signal.signal(signal.SIGINT, stop)
        signal.signal(signal.SIGTERM, stop)
    except ValueError:  # only the main thread may set handlers
        return


def is_agents() -> bool:
    """Return whether an agent or CI has started this process, or the terminal is a dumb one."""
    is_dumb = os.environ.get("TERM", "") == "dumb"
    return is_dumb or any(os.environ.get(name) for name in AGENT_VARIABLES)


ERASE_LINE = "\r\x1b[K"


def report_progress(text: str, done: int, total: int) -> None:
    """Show progress on a terminal's stderr, in one line that is written again each time."""
    sys.stderr.write(f"{ERASE_LINE}{text} ({done} of {total})")
    sys.stderr.flush()


# ----- arguments


class Parser(argparse.ArgumentParser):
    """Parses the flags of one command; its errors are SearchErrors.

    types: flag -> type of its parameter. help_text: what --help prints.
    """

    types: dict[str, str]
    help_text: str

    def format_help(self) -> str:
        """Return the help: argparse's own has columns, whose spaces a model pays for."""
        return self.help_text

    def error(self, message: str) -> NoReturn:
        """Raise SearchError (invalid_input)."""
        hint = f"{self.prog} --help lists the flags."
        raise SearchError("invalid_input", f"{message[0].upper()}{message[1:]}.", hint)

    def _print_message(self, message: str, _: Any = None) -> None:
        write_stdout(message.rstrip())


def flag_of(name: str) -> str:
    """Return the flag of a parameter."""
    return "--" + name.replace("_", "-")


def parameters_of(spec: Fields) -> list[Fields]:
    """Return all that the command line of a command takes."""
    options = [item for item in OUTPUT_PARAMS if spec.get("batch") or not item.get("batch")]
    return [*spec["params"], *COMMON_PARAMS, *options]


def flag_names(spec: Fields) -> dict[str, str]:
    """Return parameter -> flag of a command, for spell_hints."""
    return {item["name"]: flag_of(item["name"]) for item in parameters_of(spec)}


def make_parser(script: Fields, command: str) -> Parser:
    """Return the parser of a command's flags; values stay text: check_params checks them."""
    spec = script["commands"][command]
    parser = Parser(
        prog=f"{script['name']} {command}",
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,  # only what was given is in the namespace
    )
    parser.add_argument("--version", action="version", version=f"{script['name']} {VERSION}")
    parser.types = {}
    for parameter in parameters_of(spec):
        name, kind = parameter["name"], parameter["type"]
        flags = flags_of(parameter)
        parser.types |= dict.fromkeys(flags, str(kind))
        parser.add_argument(
            *flags,
            dest=name,
            action="append" if kind in ("list", "csv") else "store",
            type=functools.partial(read_argument, name=name) if "file" in parameter else str,
        )
        if kind == "bool" and parameter.get("wire"):  # the API's default may be on
            negation = flag_of(f"no_{name}")
            parser.add_argument(negation, dest=name, action="store_const", const="false")
    parser.help_text = help_text(script, command)
    return parser


def flags_of(parameter: Fields) -> list[str]:
    """Return the flags of a parameter, its second spellings included."""
    words = map(flag_of, (parameter["name"], *parameter.get("aliases", ())))
    return [*parameter.get("flags", ()), *words]


def help_text(script: Fields, command: str) -> str:
    """Return the help of a command; that of the default command is that of the script."""
    spec = script["commands"][command]
    usage, about = f"usage: {script['name']} {command} {usage_words(spec)} [options]", spec["help"]
    if command == next(iter(script["commands"])):
        listed = [f"  {name}: {item['help']}" for name, item in script["commands"].items()]
        about = "\n".join([(script["description"] or "").strip(), "", "commands (first: default):"])
        about = "\n".join([about, *listed])
    lines = map(flag_help, parameters_of(spec))
    return "\n".join([usage, "", about, "", "options:", *lines])


def usage_words(spec: Fields) -> str:
    """Return the parameters that a command takes without a flag as its usage shows them."""
    words = []
    for item in [item for item in spec["params"] if item.get("positional")]:
        word = f"'{item['name'].upper()}'"
        words.append(word if item.get("required") else f"[{word}]")
    return " ".join(words)


def flag_help(parameter: Fields) -> str:
    """Return the line of a parameter: flags, what it takes, help, choices, the API's default.

    The help itself names a default of the script. A switch that is off at the API needs no word.
    """
    kind, flags = parameter["type"], flags_of(parameter)
    has_own = {"default", "documented_default"} & parameter.keys()
    default = None if has_own else parameter.get("api_default")
    if kind == "bool" and parameter.get("wire") and default != "false":
        flags.append(flag_of(f"no_{parameter['name']}"))
    value = parameter.get("metavar") or METAVARS.get(kind, "TEXT")
    text = f"  {', '.join(flags)} {value}".rstrip() + f": {parameter['help']}"
    choices = parameter.get("choices", ()) if kind != "since" else ()
    notes = [", ".join(choices)] if 0 < len(choices) <= MAX_CHOICES else []
    notes += [f"default: {default}"] if default not in (None, "false") else []
    return f"{text} ({'; '.join(notes)})" if notes else text


def parse_arguments(
    script: Fields, command: str, is_named: bool, words: list[str], options: Fields
) -> Fields:
    """Return the parameters given by flags, words and params_json; a flag wins over JSON.

    is_named: whether the command's name was given. Output options go into options. Raises
    SearchError (invalid_input).
    """
    default, spec = next(iter(script["commands"])), script["commands"][command]
    flagged, words = parse_flags(script, command, words, options)
    is_query = is_named or words == [] or " " in words[0]
    if not is_query and (len(words) > 1 or "params_json" in options):
        same = [word for word, name in SAME_COMMAND.items() if name in script["commands"]]
        refuse_mistyped(words[0], [*script["commands"], *script.get("others", ()), *same])
    params: Fields = {}
    if "params_json" in options:
        params = canonical_names(command, spec, read_params_json(options["params_json"]))
    params |= flagged
    if words:
        take_words(spec, command, command == default, words, params)
    needed = next((item for item in spec["params"] if item.get("positional")), None)
    if needed and not params and is_named and command != default:
        hint = f"Give {needed['name']}: {needed['help']}. To search for the word: "
        hint += f"{script['name']} {default} '{command}'."
        raise SearchError("invalid_input", f"{command} needs {needed['name']}.", hint)
    if "output" in options:
        params.setdefault("max_chars", 0)  # a file costs no context
        check_output(options["output"])
    if 0 < check_value(MAX_CHARS, params.get("max_chars", 0)) < LEAST_MAX_CHARS:
        message = f"max_chars must be 0 or {LEAST_MAX_CHARS} or more, not {params['max_chars']}."
        raise SearchError("invalid_input", message, "Ask for fewer results with {count} instead.")
    if script.get("returns_everything"):
        params.setdefault("max_chars", DEFAULT_MAX_CHARS)
    return params


def parse_flags(
    script: Fields, command: str, words: list[str], options: Fields
) -> tuple[Fields, list[str]]:
    """Return (values of the flags, the words that are no flags); output options go into options.

    Every value is joined to its flag first, because argparse takes -33.8,151.2 for a flag, and the
    word after a switch for its value. Raises SearchError (invalid_input).
    """
    parser = make_parser(script, command)
    end = words.index("--") if "--" in words else len(words)
    joined = []
    rest = iter(words[:end])
    for word in rest:
        kind = parser.types.get(word)
        value = "true" if kind == "bool" else next(rest, None) if kind else None
        joined.append(word if value is None else f"{word}={value}")
    parsed, others = parser.parse_known_args(joined)
    values = vars(parsed)
    for parameter in OUTPUT_PARAMS:
        if parameter["name"] in values:
            options[parameter["name"]] = check_value(parameter, values.pop(parameter["name"]))
    if options.pop("md", False) and options.setdefault("format", "markdown") != "markdown":
        raise given_twice("format", "markdown", options["format"])
    if options.get("output") == "-":
        del options["output"]
    for word in others:
        flag = word.partition("=")[0]
        if flag.startswith("-") and flag != "-" and " " not in flag:
            hint = script["commands"][command].get("cannot", {}).get(spelled_name(flag))
            known = [one for one in parser.types if one[:2] == "--"]
            last = [one for one in known if flag.endswith(one[1:])]  # --output-format: --format
            hint = hint or nearest(flag, last or known, "flag")
            hint = hint or f"{parser.prog} --help lists them."
            hint += "" if flag[:2] == "--" else " Put -- before a query that begins with a dash."
            raise SearchError("invalid_input", f"{command} has no flag {quoted(flag)}.", hint)
    return values, [*others, *words[end + 1 :]]


def refuse_mistyped(word: str, names: list[str]) -> None:
    """Raise SearchError (invalid_input) for a word that is nearly a command's name."""
    import difflib

    matches = difflib.get_close_matches(word.lower()[:100], names, 1, 0.75)
    if matches and word not in names:
        message = f"{quoted(word)} is no command; did you mean {matches[0]}?"
        hint = f"The commands are {', '.join(names)}. Put a query in quotes."
        raise SearchError("invalid_input", message, hint)


def take_words(
    spec: Fields, command: str, is_default: bool, words: list[str], params: Fields
) -> None:
    """Put the words that are no flags into params; raises SearchError (invalid_input).

    A list takes every word; the default command joins unquoted words to one query.
    """
    positional = [item for item in spec["params"] if item.get("positional")]
    if "-" in words and positional and positional[0]["name"] != "input":  # which is a file's name
        words = [line for word in words for line in (stdin_lines() if word == "-" else [word])]
    if is_default and not any(" " in word for word in words):
        words = [" ".join(words)] if [item["type"] for item in positional] == ["str"] else words
    for parameter in positional:
        name = parameter["name"]
        if parameter["type"] in ("list", "csv"):
            params[name] = [*params.get(name, []), *words]
            return
        if words and name in params:
            raise given_twice(name, params[name], words[0])
        if words:
            params[name], *words = words
    if words:
        hint = "Put the query in single quotes." if positional else "It takes flags only."
        hint = hint if positional else spec.get("cannot", {}).get("query", hint)
        message = f"{command} does not take {quoted(words[0])}."
        raise SearchError("invalid_input", message, hint)


def stdin_lines() -> list[str]:
    """Return the lines of standard input that hold something; raises SearchError without any."""
    lines = [line.strip() for line in read_argument("@-", "-").splitlines() if line.strip()]
    if not lines:
        hint = "Give - only where something is piped in."
        raise SearchError("invalid_input", "Standard input held nothing.", hint)
    return lines


def read_params_json(text: str) -> Fields:
    """Return the object given as --params-json: JSON text, @FILE, or - for standard input."""
    content = read_argument("@-" if text == "-" else text, "params_json")
    try:
        params = json.loads(content)
    except (ValueError, RecursionError):
        params = None
    if isinstance(params, dict):
        return params
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
    check_is_text(data, name, path)
    return data.decode("utf-8-sig", "replace")


def check_is_text(data: bytes, name: str, path: str) -> None:
    """Raise SearchError (invalid_input) if a file begins as gzip or UTF-16 does."""
    if data.startswith(b"\x1f\x8b") or b"\0" in data:
        message = f"{name}: {path!r} is no UTF-8 text."
        raise SearchError("invalid_input", message, "Unpack it, or convert it to UTF-8.")


def file_name(path: str) -> bytes:
    """Return a path, ~ expanded, in UTF-8: the locale may not know its letters."""
    return os.path.expanduser(path).encode("utf-8", "surrogateescape")


# ----- output


def print_document(document: Document, options: Fields, script: Fields) -> int:
    """Print a document, or write it to --output and print a receipt; return its exit code."""
    to_markdown = script["to_markdown"]
    if options.get("format") == "markdown":
        try:
            text = to_markdown(document)
        except Exception as error:  # noqa: BLE001  a defect of ours: the caller gets a document
            document = internal_error(error, bool(options.get("verbose")))
            text = error_markdown(document)
    else:
        is_plain = "to_terminal" in script and not {"format", "output", "pretty"} & options.keys()
        text = script["to_terminal"](document, to_markdown) if is_plain else ""
        text = text or dump_json(document, bool(options.get("pretty")) or sys.stdout.isatty())
    if "output" in options and document["ok"]:
        path, data = options["output"], (text + "\n").encode("utf-8", "replace")
        try:
            write_whole(os.path.realpath(file_name(path)), data)
            document = {"ok": True, "output": path, "bytes": len(data), **batch_counts(document)}
        except OSError as error:  # what was paid for is printed
            document = error_document(cannot_write(path, error)) | {"document": document}
        text = dump_json(document)
    write_stdout(text)
    return 0 if document["ok"] else EXIT_CODES[document["details"]["kind"]]


def batch_counts(document: Document) -> Fields:
    """Return how many queries of a batch were answered, and what they have cost; {} of others."""
    results = document.get("results") or [{}]
    if "ok" not in results[0]:
        return {}
    answered = sum(result["ok"] for result in results)
    names = ("credits", "billed_queries")
    costs = {name: sum(result.get(name) or 0 for result in results) for name in names}
    return {"answered": answered, "failed": len(results) - answered} | {
        name: cost for name, cost in costs.items() if cost
    }


def write_stdout(text: str) -> bool:
    """Write text and a newline to stdout as UTF-8, whole; return False if its reader has gone."""
    _PRINTING["now"] = True
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
        _PRINTING["now"] = False
    if _PRINTING["signal"]:
        raise Stopped(_PRINTING["signal"])
    return reader_is_there


def check_output(path: str) -> None:
    """Raise SearchError (invalid_input) if no file can be written at a path."""
    import tempfile

    target = os.path.realpath(file_name(path))
    try:
        if os.path.isdir(target):
            raise IsADirectoryError(21, "it is a folder")
        if os.path.isfile(target) or not os.path.exists(target):  # else a device
            with tempfile.TemporaryFile(dir=os.path.dirname(target)):
                return
    except OSError as error:
        raise cannot_write(path, error) from None


def cannot_write(path: str, error: OSError) -> SearchError:
    """Return the error of a file that cannot be written."""
    message = f"--output {path!r} could not be written: {error.strerror}."
    return SearchError("invalid_input", message, "Name a file in a folder that is writable.")


def write_whole(target: bytes, data: bytes) -> None:
    """Write a file, whole or not at all; it keeps its mode. Raises OSError.

    A device such as /dev/null is written to.
    """
    import tempfile

    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as device:  # a rename would replace it by a file
            device.write(data)
        return
    with tempfile.TemporaryDirectory(dir=os.path.dirname(target)) as folder:
        part = os.path.join(folder, b"part")
        with open(part, "wb") as file:
            if os.path.exists(target):
                os.chmod(part, os.stat(target).st_mode & 0o7777)
            file.write(data)
        os.replace(part, target)


def end_process(code: int) -> None:
    """Flush the streams and end the process at once.

    The interpreter would first wait for the requests that the threads of a pool still send.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # noqa: PERF203  closed, or its reader has gone
            continue
    os._exit(code)


# ===== end of shared block: command line ==========================================================
