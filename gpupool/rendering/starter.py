"""Starter blueprint that `gpupool init` writes."""

from dataclasses import asdict, dataclass

from jinja2 import Environment, FunctionLoader, StrictUndefined

from gpupool.assets import find_shipped_folder
from gpupool.karpenter.versions import LATEST
from gpupool.yamlio.quoting import format_string

TEMPLATE = "gpupool.yaml.j2"
_OPTIONAL = ("context", "uid")
"""The variables that the starter omits where they are empty."""


@dataclass(frozen=True, slots=True)
class Starter:
    """The variables of the starter blueprint's template."""

    name: str
    cluster: str
    region: str
    timezone: str
    karpenter: str = LATEST
    context: str = ""
    """The kubeconfig context; omitted where it is empty."""

    uid: str = ""
    """The uid of the cluster's kube-system namespace; omitted where it is empty."""


def render_starter(starter: Starter) -> str:
    """Render the starter blueprint; each value is quoted as a text on one line.

    Raises:
        ValueError: for half a surrogate pair, which a file cannot contain.
    """
    return fill_template(TEMPLATE, {key: _quote(key, value) for key, value in asdict(starter).items()})


def _quote(name: str, value: str) -> str:
    return "" if name in _OPTIONAL and not value else format_string(value)


def fill_template(template: str, variables: dict[str, str]) -> str:
    """Render a shipped template; a missing variable is an error."""
    return build_environment().get_template(template).render(variables)


def build_environment() -> Environment:
    """Build the jinja2 environment of shipped templates."""
    folder = find_shipped_folder("templates")
    return Environment(  # noqa: S701 - templates are YAML and text, not HTML
        loader=FunctionLoader(lambda name: folder.joinpath(name).read_text("utf-8")),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
