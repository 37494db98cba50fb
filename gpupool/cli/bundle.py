"""Options that several commands share, given to them as one value: each list of options is written once."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeAlias

Command: TypeAlias = Callable[..., None]


def bundled(
    parameter: str, options: Mapping[str, tuple[Any, Any]], make: Callable[..., object]
) -> Callable[[Command], Command]:
    """Return a command, which takes `parameter`, the options that its value is made of.

    `options` has an annotation and a default for each name; `make` takes them by these names.
    """

    def give(command: Command) -> Command:
        @wraps(command)
        def with_bundle(**said: Any) -> None:  # noqa: ANN401 - whatever options the command has
            made = make(**{name: said.pop(name) for name in options})
            command(**said, **{parameter: made})

        own = [each for each in inspect.signature(command).parameters.values() if each.name != parameter]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, (annotation, default) in options.items()
        ]
        with_bundle.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
        with_bundle.__annotations__ = {each.name: each.annotation for each in (*own, *added)}
        return with_bundle

    return give
