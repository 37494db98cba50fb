"""Answers to a shell that completes a command line of gpupool.

A shell's script (`completion.py`) runs gpupool with the line up to the cursor in $_GPUPOOL_COMPLETE. The
answer has a line for each candidate: the word, and its description after a tab. A line that begins with a tab
requests that the shell completes paths: `files` or `folders`, and after another tab the part of the word
before the path.

Typer's own scripts are not used: the one for zsh evaluates the answer as code, and names in it come from
files; the one for bash breaks words at `:` and `=`. Its parser is not used either, as it imports pydantic.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from gpupool.cli.options import DEFAULT_FILE

LINE = "_GPUPOOL_COMPLETE"
"""The environment variable with the command line up to the cursor."""

REPLACED = "_GPUPOOL_REPLACED"
"""The variable with the end of the word at the cursor, where the shell replaces only that."""

_UNSAFE = re.compile(r"[$`\"'\\!]")
"""Characters that a shell could evaluate when it inserts a name into a quoted word."""

_PATHS = {"FILE": "files", "PATH": "files", "PLAN": "files", "DIR": "folders"}
"""The paths that the shell completes, by a part of the option's metavar."""

_WIDTH = 80
"""The maximum length of a command's description."""


class Completion(NamedTuple):
    """A candidate for the word at the cursor."""

    word: str
    description: str = ""


class Paths(NamedTuple):
    """A request to the shell to complete a path."""

    kind: str
    prefix: str = ""
    """The part of the word before the path, as in `json=`."""


Answer = list[Completion] | Paths


@dataclass(slots=True)
class _TypedCommand:
    """The part of a command line before the word at the cursor."""

    options: dict[str, list[str]] = field(default_factory=dict)
    """The values of each option by its name in Python; for a flag, the flag itself."""

    arguments: list[str] = field(default_factory=list)
    pending: TyperOption | None = None
    """The option of which the next word is the value."""

    has_only_arguments: bool = False
    """Whether a `--` precedes, after which no word is an option."""


def write_answer(app: typer.Typer, environment: Mapping[str, str]) -> int:
    """Print the candidates for the word at the cursor, if there are any; return the exit code."""
    try:
        line = environment[LINE]
        text = "".join(
            f"{row}\n" for row in format_answer(complete(app, line), line, environment.get(REPLACED))
        )
    except Exception:  # noqa: BLE001 - a message would appear in the middle of the line that the user types
        return 0
    sys.stdout.write(text)
    return 0


def complete(app: typer.Typer, line: str) -> Answer:
    """Return the candidates for the end of a command line."""
    (_, *words), incomplete = split_line(line)
    group = get_command(app)
    if not isinstance(group, TyperGroup):
        return []
    while words and words[0].startswith("-"):
        words.pop(0)
    if not words:
        return _complete_option_name(group, _TypedCommand(), incomplete) or [
            Completion(name, command.get_short_help_str(_WIDTH))
            for name, command in group.commands.items()
            if name.startswith(incomplete)
        ]
    command = group.commands.get(words[0])
    return _complete_command(command, words[1:], incomplete) if isinstance(command, TyperCommand) else []


def split_line(line: str) -> tuple[list[str], str]:
    """Split a line into its complete words, unquoted as a shell does, and the incomplete one at its end."""
    import shlex

    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        words += lexer
    except ValueError:  # a quote is still open: its content is the incomplete word
        return words, lexer.token
    if not words or (line[-1:].isspace() and not line.endswith("\\ ")):
        return words, ""
    return words[:-1], words[-1]


def format_answer(answer: Answer, line: str, replaced_end: str | None) -> Iterator[str]:
    """Yield the lines of an answer, without the start of the word that the shell does not replace."""
    incomplete = split_line(line)[1]
    kept_start = (
        incomplete.removesuffix(replaced_end)
        if replaced_end is not None and incomplete.endswith(replaced_end)
        else ""
    )
    if isinstance(answer, Paths):
        yield f"\t{answer.kind}\t{answer.prefix.removeprefix(kept_start)}"
        return
    for word, description in answer:
        if word.isprintable() and not _UNSAFE.search(word):
            yield "\t".join(filter(None, (word.removeprefix(kept_start), " ".join(description.split()))))


def _complete_command(command: TyperCommand, words: Sequence[str], incomplete: str) -> Answer:
    context = typer.Context(command)
    parameters = command.get_params(context)
    options = {
        name: parameter
        for parameter in parameters
        if isinstance(parameter, TyperOption)
        for name in parameter.opts
    }
    arguments = [parameter for parameter in parameters if isinstance(parameter, TyperArgument)]
    typed = _parse(words, options)
    name, equals, value = incomplete.partition("=")
    is_option = incomplete.startswith("-") and not typed.has_only_arguments
    context.params = {"file": [DEFAULT_FILE]} | {
        option.name: values if option.multiple else values[-1]
        for option in options.values()
        if (values := typed.options.get(option.name))
    }
    if typed.pending is not None:
        return _complete_value(typed.pending, context, incomplete)
    if is_option and equals:
        return _complete_value(options[name], context, value, f"{name}=") if name in options else []
    if is_option:
        return _complete_option_name(command, typed, incomplete)
    position = len(typed.arguments)
    argument = next(
        (entry for index, entry in enumerate(arguments) if index == position or entry.nargs == -1), None
    )
    return [] if argument is None else _complete_value(argument, context, incomplete)


def _parse(words: Sequence[str], options: Mapping[str, TyperOption]) -> _TypedCommand:
    typed = _TypedCommand()
    for word in words:
        name, equals, value = word.partition("=")
        option = options.get(name)
        if typed.pending is not None:
            typed.options[typed.pending.name].append(word)
            typed.pending = None
        elif typed.has_only_arguments or not word.startswith("-") or word == "-":
            typed.arguments.append(word)
        elif word == "--":
            typed.has_only_arguments = True
        elif option is not None:
            typed.pending = None if equals or option.is_flag else option
            values = typed.options.setdefault(option.name, [])
            values += [] if typed.pending else [value or name]
    return typed


def _complete_value(
    parameter: TyperArgument | TyperOption, context: typer.Context, incomplete: str, prefix: str = ""
) -> Answer:
    """Return the values that a parameter can have, each after a prefix."""
    candidates = [
        Completion(f"{prefix}{item.value}", item.help or "")
        for item in parameter.shell_complete(context, incomplete)
    ]
    return candidates or _complete_paths(parameter.metavar or "", incomplete, prefix) or []


def _complete_paths(metavar: str, incomplete: str, prefix: str) -> Paths | None:
    """Return a request for paths if the metavar has a path: `FILE|DIR`, `FORMAT[=PATH]`."""
    if metavar.endswith("[=PATH]"):
        name, equals, _ = incomplete.partition("=")
        return Paths("files", f"{prefix}{name}=") if equals else None
    kinds = [_PATHS[word] for word in metavar.split("|") if word in _PATHS]
    return Paths(kinds[0], prefix) if kinds else None


def _complete_option_name(
    command: TyperCommand | TyperGroup, typed: _TypedCommand, incomplete: str
) -> list[Completion]:
    """Return the options that begin with the typed text, without those that cannot be set again."""
    if not incomplete.startswith("-"):
        return []
    return [
        Completion(name, option.help or "")
        for option in command.get_params(typer.Context(command))
        if isinstance(option, TyperOption) and not option.hidden
        if option.multiple or option.name not in typed.options
        for name in option.opts
        if name.startswith(incomplete)
    ]
