"""The starter blueprint that `gpupool init` writes."""

from dataclasses import asdict, dataclass

from gpupool.karpenter.versions import LATEST
from gpupool.rendering.templates import fill
from gpupool.yamlio.spelling import spell

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
    """Give the starter blueprint; each value stays a text on one line, whatever is in it.

    Raises:
        ValueError: for half a surrogate pair, which no file can hold.
    """
    return fill(TEMPLATE, {key: spell(value) for key, value in asdict(starter).items()})
