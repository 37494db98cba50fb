"""A chart's release: where it comes from, where it goes, and the values gpupool wrote for it."""

from typing import NamedTuple

from gpupool.helm.charts import Chart
from gpupool.yamlio.located import Located, plain, text_at
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
        """The values file's path inside the rendered folder."""
        return f"values/{self.chart}.yaml"

    def header(self) -> tuple[str, ...]:
        """Return the comment lines of the values file: what it is for, and the line that installs it."""
        where: tuple[str, ...] = (self.chart, "--repo", self.repository)
        if self.repository.startswith("oci://"):
            where = (f"{self.repository.rstrip('/')}/{self.chart}",)
        new_namespace = () if self.namespace == "kube-system" else ("--create-namespace",)
        command = (
            "helm", "upgrade", "--install", self.name, *where, "--version", self.version,
            "--namespace", self.namespace, *new_namespace,
            "--values", self.file,
        )  # fmt: skip
        return (f"Chart {self.chart} {self.version}, namespace {self.namespace}", " ".join(command))

    def text(self) -> str:
        """Return the values as YAML."""
        return dump(plain(self.values))


def build_release(chart: Chart, said: Located | None, values: Located) -> Release:
    """Return a chart's release as the blueprint's `stack` says, or as the chart's own defaults are."""

    def word(key: str, default: str) -> str:
        return text_at(said, key) or default

    return Release(
        chart=chart.name,
        repository=word("repository", chart.repository),
        version=word("version", chart.version),
        name=word("release", chart.release),
        namespace=word("namespace", chart.namespace),
        values=values,
    )
