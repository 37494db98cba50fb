"""The starter blueprint that `gpupool init` writes."""

from dataclasses import asdict, dataclass

from jinja2 import Environment, FunctionLoader, StrictUndefined

from gpupool.assets import find_shipped_folder
from gpupool.karpenter.versions import LATEST
from gpupool.yamlio.quoting import format_string

TEMPLATE = "gpupool.yaml.j2"
_LEFT_OUT = ("context", "uid")
"""What the starter does not say unless it is known."""


@dataclass(frozen=True, slots=True)
class Starter:
    """What the starter blueprint is filled with; each field is a variable of its template."""

    name: str
    cluster: str
    region: str
    timezone: str
    karpenter: str = LATEST
    context: str = ""
    """The kubeconfig context; nothing is said of it where it is empty."""

    uid: str = ""
    """The uid of the cluster's kube-system namespace; likewise."""


def starter_text(starter: Starter) -> str:
    """Return the starter blueprint; each value stays a text on one line, whatever is in it.

    Raises:
        ValueError: for half a surrogate pair, which no file can hold.
    """
    return fill(TEMPLATE, {key: _spelt(key, value) for key, value in asdict(starter).items()})


def _spelt(name: str, value: str) -> str:
    return "" if name in _LEFT_OUT and not value else format_string(value)


def fill(template: str, variables: dict[str, str]) -> str:
    """Fill a shipped template; a variable that is missing is an error."""
    return environment().get_template(template).render(variables)


def environment() -> Environment:
    """Return the one jinja2 environment."""
    folder = find_shipped_folder("templates")
    return Environment(  # noqa: S701 - what is written is YAML and prose, not HTML
        loader=FunctionLoader(lambda name: folder.joinpath(name).read_text("utf-8")),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
