"""Time zone names of the `tzdata` package, which are the same on every computer."""

from difflib import get_close_matches
from functools import lru_cache
from importlib import resources


@lru_cache(maxsize=1)
def timezone_names() -> frozenset[str]:
    """Return every name in the time zone database, including deprecated names."""
    return frozenset(resources.files("tzdata").joinpath("zones").read_text("utf-8").split())


def find_similar_timezones(name: str) -> tuple[str, ...]:
    """Return up to three time zone names that are similar to this one, or whose city is, closest first."""
    text = name.strip().lower().replace(" ", "_")
    names = {zone.lower(): zone for zone in sorted(timezone_names())}
    cities = {
        zone.lower().rpartition("/")[2]: zone
        for zone in sorted(timezone_names(), reverse=True)
        if "/" in zone
    }
    matches = [names[match] for match in get_close_matches(text, names, n=2, cutoff=0.8)]
    city = text.rpartition("/")[2]
    matches += [cities[match] for match in get_close_matches(city, cities, n=2, cutoff=0.8)]
    return tuple(dict.fromkeys(matches))[:3]
