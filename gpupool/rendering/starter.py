"""The starter blueprint that `gpupool init` writes."""

from dataclasses import asdict, dataclass

from gpupool.karpenter.versions import LATEST
from gpupool.rendering.templates import fill

TEMPLATE = "gpupool.yaml.j2"


@dataclass(frozen=True, slots=True)
class Starter:
    """What the starter blueprint is filled with; each field is a variable of its template."""

    name: str
    cluster: str
    region: str
    timezone: str
    karpenter: str = LATEST


def starter_text(starter: Starter) -> str:
    """Give the starter blueprint."""
    return fill(TEMPLATE, {key: _quoted(value) for key, value in asdict(starter).items()})


def _quoted(value: str) -> str:
    """Give a text as YAML that stays one, whatever is in it."""
    from gpupool.yamlio.write import dump

    return dump([value]).removeprefix("- ").rstrip("\n")
