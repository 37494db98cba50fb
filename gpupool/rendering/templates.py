"""The one door to jinja2: prose and scaffolds; structure never comes from a template."""

from jinja2 import Environment, FunctionLoader, StrictUndefined

from gpupool.assets import shipped


def fill(template: str, variables: dict[str, str]) -> str:
    """Fill a shipped template; a variable that is missing is an error."""
    return environment().get_template(template).render(variables)


def environment() -> Environment:
    """Give the one jinja2 environment."""
    folder = shipped("templates")
    return Environment(  # noqa: S701 - what is written is YAML and prose, not HTML
        loader=FunctionLoader(lambda name: folder.joinpath(name).read_text("utf-8")),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
