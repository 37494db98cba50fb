"""Helm release of a chart: its repository, its namespace, and its rendered values."""

from typing import NamedTuple

from gpupool.helm.charts import Chart
from gpupool.helm.releases import ChartRelease
from gpupool.yamlio.located import Located, plain, text_of
from gpupool.yamlio.write import dump


class Release(NamedTuple):
    """One chart with its values."""

    chart: str
    repository: str
    version: str
    name: str
    namespace: str
    values: Located

    @property
    def file(self) -> str:
        """Return the values file's path inside the rendered folder."""
        return f"values/{self.chart}.yaml"

    def header(self) -> tuple[str, ...]:
        """Return the comment lines of the values file: the chart, and the command that installs it."""
        source: tuple[str, ...] = (self.chart, "--repo", self.repository)
        if self.repository.startswith("oci://"):
            source = (f"{self.repository.rstrip('/')}/{self.chart}",)
        new_namespace = () if self.namespace == "kube-system" else ("--create-namespace",)
        command = (
            "helm", "upgrade", "--install", self.name, *source, "--version", self.version,
            "--namespace", self.namespace, *new_namespace,
            "--values", self.file,
        )  # fmt: skip
        return (f"Chart {self.chart} {self.version}, namespace {self.namespace}", " ".join(command))

    def text(self) -> str:
        """Return the values as YAML."""
        return dump(plain(self.values))


def build_release(chart: Chart, settings: ChartRelease, values: Located) -> Release:
    """Build a chart's release from its settings in `stack`, and the chart's defaults."""
    return Release(
        chart=chart.name,
        repository=text_of(settings.repository) or chart.repository,
        version=text_of(settings.version) or chart.version,
        name=text_of(settings.release) or chart.release,
        namespace=text_of(settings.namespace) or chart.namespace,
        values=values,
    )
