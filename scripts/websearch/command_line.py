"""The command line of every script: its words, its help, what it prints, how it ends.

The three single files carry a copy of the block; see common.py.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import os
import sys

from websearch.common import (
    COMMON_PARAMS,
    DEFAULT_MAX_CHARS,
    EXIT_CODES,
    LEAST_MAX_CHARS,
    MAX_CHARS,
    MAX_INPUT_BYTES,
    OUTPUT_PARAMS,
    SPELLING,
    VERSION,
    SearchError,
    canonical_names,
    check_value,
    dump_json,
    error_document,
    error_markdown,
    fit_document,
    given_twice,
    internal_error,
    nearest,
    quoted,
    spelled_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

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
    options), to_markdown, errors_on_stderr to show errors there as well if stdout is no terminal,
    to_terminal (document, to_markdown -> text; "" where JSON is printed), and returns_everything if
    its functions cut no document by themselves. argv: the words after the program's name, None for
    sys.argv's.
    """
    open_closed_streams()
    stop_on_signals()
    SPELLING["parameter"] = flag_of
    arguments = sys.argv[1:] if argv is None else argv
    # The bytes of an argument are UTF-8, whatever the locale made of them.
    words = [os.fsencode(word).decode("utf-8", "surrogateescape") for word in arguments]
    flags = words[: words.index("--")] if "--" in words else words
    options: Fields = {}
    pairs = {*flags, *map("=".join, itertools.pairwise(flags))}
    if pairs & {"--format=markdown", "--format=md", "--markdown", "--md"}:
        options["format"] = "markdown"  # also for an error that is found while flags are parsed
    command, index = find_command(script["commands"], words)
    is_command = index >= 0
    if is_command:
        del words[index]
    try:
        if "-h" in flags or "--help" in flags:
            write_stdout(make_parser(script, command).format_help().rstrip())
            return 0
        if "--version" in flags:
            write_stdout(f"{script['name']} {VERSION}")
            return 0
        params = parse_arguments(script, command, is_command, words, options)
        document = run_and_fit(script, command, params, options)
    except SearchError as error:
        document = error_document(error)
    except Stopped as stopped:
        kind = "interrupted" if stopped.args[0] == 2 else "terminated"
        stop = error_document(SearchError(kind, f"{kind.capitalize()}."))
        document = stop if stopped.args[0] else {"ok": True}
    except Exception as error:  # noqa: BLE001  a defect of ours: stdout still holds a document
        document = internal_error(error, "--verbose" in flags)
    if script.get("errors_on_stderr") and not document["ok"] and not sys.stdout.isatty():
        sys.stderr.write(f"{script['name']}: {document['error']}\n")
    try:
        return print_document(document, options, script)
    except Stopped as stopped:  # what there is to print is printed
        return 128 + int(stopped.args[0])
    except OSError as error:  # a full disk, for example: no document can be printed
        sys.stderr.write(f"{script['name']}: stdout could not be written: {error.strerror}\n")
        return EXIT_CODES["internal"]


def flag_of(name: str) -> str:
    """Return the flag of a parameter."""
    return "--" + name.replace("_", "-")


def find_command(commands: Fields, words: list[str]) -> tuple[str, int]:
    """Return the command that the first word names, and its index; flags may stand before it.

    If no command is named, it is the default one, with the index -1. search and web are the same
    command where one of them exists.
    """
    parameters = [item for spec in commands.values() for item in spec["params"]]
    switches = {flag for flag, meaning in SYNONYMS.items() if "=" in meaning}
    for parameter in (*parameters, *COMMON_PARAMS, *OUTPUT_PARAMS):
        if parameter["type"] == "bool":
            switches |= {flag_of(parameter["name"]), *parameter.get("flags", ())}
    index = 0
    while index < len(words) and words[index] != "--":
        word = words[index]
        if not word.startswith("-") or word == "-":
            plain = [other for other in words[index + 1 : index + 3] if other[:1] != "-"]
            # Several words without quotes are a query: web design trends.
            same = SAME_COMMAND.get(word, "") if len(plain) < 2 else ""
            name = word if word in commands else same
            return (name, index) if name in commands else (next(iter(commands)), -1)
        index += 1 if "=" in word or word in switches or word.startswith("--no-") else 2
    return next(iter(commands)), -1


def run_and_fit(script: Fields, command: str, params: Fields, options: Fields) -> Document:
    """Return the document of a command; Markdown is measured as Markdown. Progress is shown."""
    report = report_progress if sys.stderr.isatty() and not options.get("quiet") else None
    spec = script["commands"][command]
    batch = {"options": options} if spec.get("batch") else {}
    limit = 0
    if script.get("returns_everything") and not batch and options.get("format") == "markdown":
        limit, params["max_chars"] = check_value(MAX_CHARS, params["max_chars"]), 0
    try:
        document: Document = script["run"][command](params, report, **batch)
    finally:
        if report:
            erase_progress()
    expendable = spec.get("expendable", ())
    fit_document(document, limit, expendable, lambda cut: len(script["to_markdown"](cut)))
    return document


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

# Flags of other tools -> ours, for commands that have ours and not theirs.
SYNONYMS = {
    **dict.fromkeys(("--limit", "--num", "--max-results", "--num-results", "-k"), "--count"),
    "--lang": "--language", "--region": "--country", "-o": "--output",
    "--json": "--format=json", "--markdown": "--format=markdown", "--md": "--format=markdown",
}  # fmt: skip
SAME_COMMAND = {"search": "web", "web": "search"}  # where one of them exists
# Type of a parameter -> what stands for its value in the help.
_METAVARS = {"int": "N", "float": "N", "since": "PERIOD", "csv": "A,B"}
MAX_CHOICES = 24  # that the help lists


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Shows "-n, --count N" with one N, as argparse itself does from Python 3.13 on."""

    def _format_action_invocation(self, action: argparse.Action) -> str:
        return f"{', '.join(action.option_strings)} {action.metavar or ''}".rstrip()

    def _split_lines(self, text: str, width: int) -> list[str]:
        from textwrap import wrap

        return wrap(text, width, break_on_hyphens=False)  # YYYY-MM-DD stays whole


class Parser(argparse.ArgumentParser):
    """Parses the flags of one command; its errors are SearchErrors.

    types: flag -> type of its parameter.
    """

    types: dict[str, str]

    def error(self, message: str) -> NoReturn:
        """Raise SearchError (invalid_input)."""
        hint = f"{self.prog} --help lists the flags."
        raise SearchError("invalid_input", f"{message[0].upper()}{message[1:]}.", hint)


def make_parser(script: Fields, command: str) -> Parser:
    """Return the parser of a command's flags. Values stay text, because check_params checks them.

    The help of the default command is that of the script.
    """
    spec = script["commands"][command]
    parser = Parser(
        prog=f"{script['name']} {command}",
        usage=f"%(prog)s {usage_words(spec)} [options]",
        description=spec["help"],
        formatter_class=HelpFormatter,
        add_help=False,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,  # only what was given is in the namespace
    )
    if command == next(iter(script["commands"])):
        listed = [f"  {name:<13}{item['help']}" for name, item in script["commands"].items()]
        head = f"{(script['description'] or '').strip()}\n\ncommands (first: default):"
        parser.description = "\n".join([head, *listed]).replace("%", "%%")
    parser.types = {}
    for parameter in [*spec["params"], *COMMON_PARAMS, *OUTPUT_PARAMS]:
        if parameter.get("batch") and not spec.get("batch"):
            continue
        name, kind = parameter["name"], parameter["type"]
        flags = [flag_of(word) for word in (name, *parameter.get("aliases", ()))]
        flags = [*parameter.get("flags", ()), *flags]
        parser.types.update(dict.fromkeys(flags, kind))
        parser.add_argument(
            *flags,
            dest=name,
            metavar=parameter.get("metavar")
            or _METAVARS.get(kind, "TEXT" if kind != "bool" else ""),
            action="append" if kind in ("list", "csv") else "store",
            type=functools.partial(read_argument, name=name) if "file" in parameter else str,
            help=flag_help(parameter).replace("%", "%%"),
        )
        if kind == "bool" and parameter.get("wire"):  # the API's default may be on
            negation = flag_of(f"no_{name}")
            parser.add_argument(negation, dest=name, action="store_const", const="false", help="")
    return parser


def usage_words(spec: Fields) -> str:
    """Return the parameters that a command takes without a flag as its usage shows them."""
    words = []
    for item in [item for item in spec["params"] if item.get("positional")]:
        word = f"'{item['name'].upper()}'"
        words.append(word if item.get("required") else f"[{word}]")
    return " ".join(words)


def flag_help(parameter: Fields) -> str:
    """Return the help of a parameter, with its choices and the API's default."""
    text: str = parameter["help"]
    choices = parameter.get("choices", ()) if parameter["type"] != "since" else ()
    if 0 < len(choices) <= MAX_CHOICES:
        text += f" ({', '.join(choices)})"
    if "default" not in parameter and parameter.get("api_default") is not None:
        text += f" (API default: {parameter['api_default']})"
    return text


def parse_flags(script: Fields, command: str, words: list[str]) -> tuple[Fields, list[str]]:
    """Return (values by the name that was given, the words that are no flags).

    Every value is joined to its flag first, because argparse takes -33.8,151.2 for a flag, and the
    word after a switch for its value. Raises SearchError (invalid_input).
    """
    parser = make_parser(script, command)
    end = words.index("--") if "--" in words else len(words)
    joined = []
    rest = iter(words[:end])
    for word in rest:
        flag, is_joined, text = word.partition("=")
        if flag not in parser.types and SYNONYMS.get(flag, "").partition("=")[0] in parser.types:
            word = f"{SYNONYMS[flag]}{is_joined}{text}"  # noqa: PLW2901
        kind = parser.types.get(word)
        value = "true" if kind == "bool" else next(rest, None) if kind else None
        joined.append(word if value is None else f"{word}={value}")
    values, others = parser.parse_known_args(joined)
    for word in others:
        flag = word.partition("=")[0]
        if flag.startswith("-") and flag != "-" and " " not in flag:
            hint = script["commands"][command].get("cannot", {}).get(spelled_name(flag), "")
            hint = hint or nearest(flag, parser.types, "flag")
            hint = hint or f"{parser.prog} --help lists the flags."
            hint += (
                "" if flag.startswith("--") else " Put -- before a query that begins with a dash."
            )
            raise SearchError("invalid_input", f"{command} has no flag {quoted(flag)}.", hint)
    named = as_given(script["commands"][command], vars(values), joined)
    return named, [*others, *words[end + 1 :]]


def as_given(spec: Fields, values: Fields, names: list[str]) -> Fields:
    """Return values under the aliases that stand in names, so that an error names them like that.

    names: flags, with or without =VALUE, or names of parameters.
    """
    given = {spelled_name(name.partition("=")[0]) for name in names}
    for parameter in spec["params"]:
        alias = next((name for name in parameter.get("aliases", ()) if name in given), "")
        is_text = parameter["type"] not in ("list", "csv")
        if alias and is_text and parameter["name"] in values:
            values[alias] = values.pop(parameter["name"])
    return values


def parse_arguments(
    script: Fields, command: str, is_named: bool, words: list[str], options: Fields
) -> Fields:
    """Return the parameters given by flags, words and params_json; a flag wins over JSON.

    is_named: whether the command's name was given. Output options go into options. Raises
    SearchError (invalid_input).
    """
    default = next(iter(script["commands"]))
    spec = script["commands"][command]
    values, words = parse_flags(script, command, words)
    for parameter in OUTPUT_PARAMS:
        if parameter["name"] in values:
            options[parameter["name"]] = check_value(parameter, values.pop(parameter["name"]))
    from_json: Fields = {}
    json_names: list[str] = []
    if "params_json" in options:
        from_json = read_params_json(options["params_json"])
        similar = nearest(words[0], command_names(script), "command") if words else ""
        has_query = {"query", "q"} & {spelled_name(name) for name in from_json}
        if similar and not (is_named or has_query or " " in words[0]):
            hint = f"{similar} To search for {quoted(words[0])}, put it into the JSON."
            raise SearchError("invalid_input", f"{quoted(words[0])} is no command.", hint)
        json_names = list(from_json)
        from_json = canonical_names(command, spec, from_json)
    if words:
        take_words(script, command, words, values, from_json)
    flagged = canonical_names(command, spec, values)
    merged = {name: from_json[name] for name in from_json if name not in flagged}
    merged = as_given(spec, merged, json_names) | values
    if not (merged or json_names) and command != default and usage_words(spec):
        needed = [item for item in spec["params"] if item.get("required")]
        wanted = " and ".join(item["name"] for item in needed) or "parameters"
        give = "".join(f"Give {item['name']}: {item['help']}. " for item in needed)
        hint = f"{give}To search for the word {command!r}: {script['name']} {default} '{command}'."
        raise SearchError("invalid_input", f"{command} needs {wanted}.", hint)
    if "output" in options:
        merged.setdefault("max_chars", 0)  # a file costs no context
        if options["output"] == "-":
            del options["output"]
        else:
            check_folder(options["output"])
    if 0 < check_value(MAX_CHARS, merged.get("max_chars", 0)) < LEAST_MAX_CHARS:
        message = f"max_chars must be 0 or {LEAST_MAX_CHARS} or more, not {merged['max_chars']}."
        raise SearchError("invalid_input", message, "Ask for fewer results with {count} instead.")
    if script.get("returns_everything"):
        merged.setdefault("max_chars", DEFAULT_MAX_CHARS)
    return merged


def check_folder(path: str) -> None:
    """Raise SearchError (invalid_input) if the folder of an output file does not exist."""
    folder = os.path.dirname(file_name(path)) or b"."
    if not os.path.isdir(folder):
        message = f"--output {path!r} could not be written: its folder does not exist."
        raise SearchError("invalid_input", message, "Name a file in a folder that exists.")


def take_words(
    script: Fields, command: str, words: list[str], values: Fields, from_json: Fields
) -> None:
    """Put the words that are no flags into values; given holds the parameters of the JSON.

    A list takes every word, and the default command joins unquoted words to one query. The error
    for a word too many names the nearest command, because the first word may be a mistyped one.
    """
    commands = script["commands"]
    positional = [item for item in commands[command]["params"] if item.get("positional")]
    if "-" in words and positional and positional[0]["name"] != "input":  # which is a file's name
        words = [line for word in words for line in (stdin_lines() if word == "-" else [word])]
    first = words[0]
    takes_query = [item["type"] for item in positional] == ["str"]
    if takes_query and command == next(iter(commands)):
        if len(words) > 1:
            refuse_mistyped(first, command_names(script))
        if not any(" " in word for word in words):
            words = [" ".join(words)]
    error = None
    for parameter in positional:
        name = parameter["name"]
        if parameter["type"] in ("list", "csv"):
            values[name] = [*values.get(name, []), *words]
            return
        if words and (name in values or name in from_json):
            error = given_twice(name, values.get(name, from_json.get(name)), words[0])
            break
        if words:
            values[name] = words.pop(0)
    if words:
        hint = "Put the query in single quotes." if positional else "It takes flags only."
        message = f"{command} does not take {quoted(words[0])}."
        error = error or SearchError("invalid_input", message, hint)
        similar = nearest(first, command_names(script), "command")
        error.details["hint"] = f"{error.details['hint']} {similar}".strip()
        raise error


def command_names(script: Fields) -> list[str]:
    """Return what a first word may be: commands, and what a script starts beside them."""
    names = [*script["commands"], *script.get("others", ())]
    return names + [word for word, same in SAME_COMMAND.items() if same in names]


def stdin_lines() -> list[str]:
    """Return the lines of standard input that hold something; raises SearchError without any."""
    lines = [line.strip() for line in read_argument("@-", "-").splitlines()]
    if not any(lines):
        hint = "Give - only where something is piped in."
        raise SearchError("invalid_input", "Standard input held nothing.", hint)
    return [line for line in lines if line]


def refuse_mistyped(word: str, names: list[str]) -> None:
    """Raise SearchError (invalid_input) for a first word that is nearly a command's name."""
    import difflib

    matches = difflib.get_close_matches(word.lower()[:100], names, 1, 0.75)
    if matches and word not in names:
        message = f"{quoted(word)} is no command; did you mean {matches[0]}?"
        hint = f"The commands are {', '.join(names)}. Put a query in quotes."
        raise SearchError("invalid_input", message, hint)


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
    return data.decode("utf-8-sig", "replace")


def file_name(path: str) -> bytes:
    """Return a path, ~ expanded, in UTF-8: the locale may not know its letters."""
    return os.path.expanduser(path).encode("utf-8", "surrogateescape")


def report_progress(text: str, done: int, total: int) -> None:
    """Show progress on a terminal's stderr, in one line that is written again each time."""
    sys.stderr.write(f"\r\x1b[K{text} ({done} of {total})")
    sys.stderr.flush()


def erase_progress() -> None:
    """Erase the line of progress."""
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()


# ----- output


def print_document(document: Document, options: Fields, script: Fields) -> int:
    """Print a document, or write it to --output and print a receipt; return its exit code."""
    to_markdown = script["to_markdown"]
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
        is_plain = "to_terminal" in script and not {"format", "output", "pretty"} & options.keys()
        text = script["to_terminal"](document, to_markdown) if is_plain else ""
        is_pretty = bool(options.get("pretty")) or sys.stdout.isatty()
        text = text or dump_json(document, is_pretty)
    code = EXIT_CODES[kind] if kind else 0
    if "output" in options and (document["ok"] or lines):
        receipt = write_output(options["output"], text, document)
        code = code if receipt["ok"] else EXIT_CODES["invalid_input"]
        failure = {} if document["ok"] else document  # a signal, or no item worked
        text = dump_json({**receipt, **failure} if receipt["ok"] else receipt)
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
    import tempfile

    data = (text + "\n").encode("utf-8", "replace")
    target = os.path.realpath(file_name(path))
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            # A device such as /dev/null: a rename would replace it by a file.
            with open(target, "wb") as device:
                device.write(data)
        else:
            with tempfile.TemporaryDirectory(dir=os.path.dirname(target)) as folder:
                whole = os.path.join(folder, os.path.basename(target))
                with open(whole, "wb") as file:
                    file.write(data)
                os.replace(whole, target)
    except OSError as error:
        message = f"--output {path!r} could not be written: {error.strerror}."
        hint = "Name a file in a folder that exists and is writable. The result is in document."
        return error_document(SearchError("invalid_input", message, hint)) | {"document": document}
    return {"ok": True, "output": path, "bytes": len(data)}


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
