"""Answers to a shell that completes a command line of gpupool.

A shell's script (`completion.py`) runs gpupool with the line up to the cursor in $_GPUPOOL_COMPLETE. It gets
a line for each candidate: the word, and its description after a tab. A line that begins with a tab asks the
shell to complete paths itself: `files` or `folders`, and after another tab what of the word comes before the
path.

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
"""What a shell could act on when it inserts a name into a quoted word."""

_PATHS = {"FILE": "files", "PATH": "files", "PLAN": "files", "DIR": "folders"}
"""What the shell completes by itself, by a word of the option's metavar."""

_WIDTH = 80
"""The most letters of a command's description."""


class Completion(NamedTuple):
    """A word that may stand at the cursor."""

    word: str
    description: str = ""


class Paths(NamedTuple):
    """Paths may stand at the cursor."""

    kind: str
    before: str = ""
    """What of the word stands before the path, as in `json=`."""


Answer = list[Completion] | Paths


@dataclass(slots=True)
class _Typed:
    """What is typed of a command before the word at the cursor."""

    options: dict[str, list[str]] = field(default_factory=dict)
    """The values of each option by its name in Python; of a flag itself."""

    arguments: list[str] = field(default_factory=list)
    waiting: TyperOption | None = None
    """The option whose value the next word is."""

    has_only_arguments: bool = False
    """Whether a `--` came, after which nothing is an option."""


def write_answer(app: typer.Typer, environment: Mapping[str, str]) -> int:
    """Print what may stand at the cursor, nothing where that is not known; return the exit code."""
    try:
        line = environment[LINE]
        text = "".join(
            f"{each}\n" for each in format_answer(complete(app, line), line, environment.get(REPLACED))
        )
    except Exception:  # noqa: BLE001 - any message would land in the middle of what the user types
        return 0
    sys.stdout.write(text)
    return 0


def complete(app: typer.Typer, line: str) -> Answer:
    """Return what may stand at the end of a command line."""
    (_, *words), incomplete = split_line(line)
    group = get_command(app)
    if not isinstance(group, TyperGroup):
        return []
    while words and words[0].startswith("-"):
        words.pop(0)
    if not words:
        return _complete_option_name(group, _Typed(), incomplete) or [
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
    except ValueError:  # a quote is still open: what is in it is the incomplete word
        return words, lexer.token
    if not words or (line[-1:].isspace() and not line.endswith("\\ ")):
        return words, ""
    return words[:-1], words[-1]


def format_answer(answer: Answer, line: str, replaced: str | None) -> Iterator[str]:
    """Write an answer for the shell's script; without what stands before the part that the shell replaces."""
    incomplete = split_line(line)[1]
    kept = incomplete.removesuffix(replaced) if replaced is not None and incomplete.endswith(replaced) else ""
    if isinstance(answer, Paths):
        yield f"\t{answer.kind}\t{answer.before.removeprefix(kept)}"
        return
    for word, description in answer:
        if word.isprintable() and not _UNSAFE.search(word):
            yield "\t".join(filter(None, (word.removeprefix(kept), " ".join(description.split()))))


def _complete_command(command: TyperCommand, words: Sequence[str], incomplete: str) -> Answer:
    context = typer.Context(command)
    parameters = command.get_params(context)
    options = {name: each for each in parameters if isinstance(each, TyperOption) for name in each.opts}
    arguments = [each for each in parameters if isinstance(each, TyperArgument)]
    typed = _parse(words, options)
    name, equals, value = incomplete.partition("=")
    is_option = incomplete.startswith("-") and not typed.has_only_arguments
    context.params = {"file": [DEFAULT_FILE]} | {
        each.name: values if each.multiple else values[-1]
        for each in options.values()
        if (values := typed.options.get(each.name))
    }
    if typed.waiting is not None:
        return _complete_value(typed.waiting, context, incomplete)
    if is_option and equals:
        return _complete_value(options[name], context, value, f"{name}=") if name in options else []
    if is_option:
        return _complete_option_name(command, typed, incomplete)
    at = len(typed.arguments)
    argument = next((each for index, each in enumerate(arguments) if index == at or each.nargs == -1), None)
    return [] if argument is None else _complete_value(argument, context, incomplete)


def _parse(words: Sequence[str], options: Mapping[str, TyperOption]) -> _Typed:
    typed = _Typed()
    for word in words:
        name, equals, value = word.partition("=")
        option = options.get(name)
        if typed.waiting is not None:
            typed.options[typed.waiting.name].append(word)
            typed.waiting = None
        elif typed.has_only_arguments or not word.startswith("-") or word == "-":
            typed.arguments.append(word)
        elif word == "--":
            typed.has_only_arguments = True
        elif option is not None:
            typed.waiting = None if equals or option.is_flag else option
            values = typed.options.setdefault(option.name, [])
            values += [] if typed.waiting else [value or name]
    return typed


def _complete_value(
    parameter: TyperArgument | TyperOption, context: typer.Context, incomplete: str, before: str = ""
) -> Answer:
    """Return the values that a parameter can have, each behind `before`."""
    candidates = [
        Completion(f"{before}{each.value}", each.help or "")
        for each in parameter.shell_complete(context, incomplete)
    ]
    return candidates or _complete_paths(parameter.metavar or "", incomplete, before) or []


def _complete_paths(metavar: str, incomplete: str, before: str) -> Paths | None:
    """Return that paths may stand there, where the metavar says so: `FILE|DIR`, `FORMAT[=PATH]`."""
    if metavar.endswith("[=PATH]"):
        name, equals, _ = incomplete.partition("=")
        return Paths("files", f"{before}{name}=") if equals else None
    kinds = [_PATHS[word] for word in metavar.split("|") if word in _PATHS]
    return Paths(kinds[0], before) if kinds else None


def _complete_option_name(
    command: TyperCommand | TyperGroup, typed: _Typed, incomplete: str
) -> list[Completion]:
    """Return the options that begin as what is typed, without those that are there and count once."""
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
