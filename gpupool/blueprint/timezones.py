"""Names of time zones: those of the `tzdata` package, the same on every machine."""

from difflib import get_close_matches
from functools import lru_cache
from importlib import resources


@lru_cache(maxsize=1)
def timezone_names() -> frozenset[str]:
    """Return every name of the database, old names included."""
    return frozenset(resources.files("tzdata").joinpath("zones").read_text("utf-8").split())


def find_similar_timezones(name: str) -> tuple[str, ...]:
    """Return up to three names that look like this one, as a whole or in the city; best first."""
    wanted = name.strip().lower().replace(" ", "_")
    whole = {known.lower(): known for known in sorted(timezone_names())}
    city = {
        known.lower().rpartition("/")[2]: known
        for known in sorted(timezone_names(), reverse=True)
        if "/" in known
    }
    found = [whole[match] for match in get_close_matches(wanted, whole, n=2, cutoff=0.8)]
    found += [city[match] for match in get_close_matches(wanted.rpartition("/")[2], city, n=2, cutoff=0.8)]
    return tuple(dict.fromkeys(found))[:3]
