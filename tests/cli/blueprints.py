"""Small blueprints that the tests of the command line start from."""

HEAD = "apiVersion: gpupool.dev/v1alpha1\nkind: Blueprint\n"
TOP = f"""\
{HEAD}metadata: {{name: demo}}
cluster: {{name: my-cluster, region: us-east-1, timezone: UTC}}
defaults: {{nodeClass: {{ami: al2023@v20260810}}}}
"""
SMALL = f"""\
{TOP}pools:
  train: {{profile: training, accelerator: h100}}
"""


def with_pool(words: str) -> str:
    """Return a blueprint of one pool, whose words (one line of YAML) are on line 7."""
    return f"{TOP}pools:\n  train: {{{words}}}\n"
