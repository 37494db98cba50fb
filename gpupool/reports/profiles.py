"""Profiles as text: the list, and one profile's page."""

import textwrap
from collections.abc import Sequence

from gpupool.profiles.shown import Setting, Shown

_WIDTH = 100


def listing(profiles: Sequence[Shown]) -> str:
    """Give one line for each profile."""
    widest = max(len(profile.name) for profile in profiles)
    return "".join(f"{profile.name:<{widest}}  {profile.summary}\n" for profile in profiles)


def page(profile: Shown) -> str:
    """Give what a profile sets, and why."""
    prose = textwrap.fill(profile.description, _WIDTH)
    head = f"{profile.name}: {profile.summary}\n\n{prose}\n\n"
    return head + "".join(_setting(setting, profile.name) for setting in profile.settings)


def _setting(setting: Setting, profile: str) -> str:
    """Give one value; what comes from another profile, and the reason, stand behind it."""
    source = "" if setting.profile == profile else f"from {setting.profile}"
    behind = ": ".join(part for part in (source, setting.reason) if part)
    line = f"{setting.path}: {_shown(setting)}"
    return f"{line:<60}  # {behind}\n" if behind else f"{line}\n"


def _shown(setting: Setting) -> str:
    value = setting.value
    if isinstance(value, bool):
        return str(value).lower()
    return "(left out)" if value is None else str(value)
