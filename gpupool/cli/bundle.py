"""Options added to several commands, each list of options defined once."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeAlias

Command: TypeAlias = Callable[..., None]
Options: TypeAlias = Mapping[str, tuple[Any, Any]]
"""The annotation and the default of each option, by its name in Python."""


def add_options(command: Command, wrapper: Command, options: Options, *, replaced: str = "") -> Command:
    """Return a command's wrapper with the command's parameters and more options, as typer reads them.

    `replaced` is the parameter of the command that the wrapper sets itself.
    """
    own = [
        parameter
        for parameter in inspect.signature(command).parameters.values()
        if parameter.name != replaced
    ]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in options.items()
    ]
    wrapped = wraps(command)(wrapper)
    wrapped.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *added)}
    return wrapped


def bundle_options(
    parameter: str, options: Options, make: Callable[..., object]
) -> Callable[[Command], Command]:
    """Return a decorator that replaces a parameter of a command by options.

    `make` builds the parameter's value; it has a parameter for each option.
    """

    def decorate(command: Command) -> Command:
        def with_bundle(**values: Any) -> None:  # noqa: ANN401 - whatever options the command has
            value = make(**{name: values.pop(name) for name in options})
            command(**values, **{parameter: value})

        return add_options(command, with_bundle, options, replaced=parameter)

    return decorate
