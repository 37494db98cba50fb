"""Blueprints of any size, the same for the same size: profiles, tiers and words mixed as a fleet would."""

from random import Random

from gpupool.yamlio.located import Plain
from gpupool.yamlio.write import dump

_SEED = 1
_CHIPS = {
    "training": ["h100", "h200", "a100"],
    "training-efa": ["h100", "h200"],
    "inference": ["l4", "a10g", "l40s"],
    "inference-spot": ["l4", "a10g"],
    "batch-spot": ["t4", "l4", "a10g"],
    "spot-tiered": ["l4", "l40s"],
    "neuron-inference": ["inferentia2"],
    "general": [],
}


def blueprint(pools: int) -> str:
    """Return a blueprint of so many pools as YAML; two in five have tiers."""
    random = Random(_SEED)  # noqa: S311 - it has to be the same each time
    return dump(
        {
            "apiVersion": "gpupool.dev/v1alpha1",
            "kind": "Blueprint",
            "metadata": {"name": "fleet"},
            "cluster": {"name": "fleet", "region": "us-east-1", "timezone": "Europe/Berlin"},
            "defaults": {"nodeClass": {"ami": "al2023@v20260810", "tags": {"team": "platform"}}},
            "pools": {f"pool-{number:04}": _pool(random) for number in range(pools)},
        }
    )


def _pool(random: Random) -> dict[str, Plain]:
    profile = random.choice(list(_CHIPS))
    words: dict[str, Plain] = {"profile": profile, "labels": {"team": f"team-{random.randrange(40)}"}}
    if _CHIPS[profile]:
        words["accelerator"] = random.choice(_CHIPS[profile])
    if random.random() < 0.3:
        words["nodeClass"] = {"disk": {"size": f"{random.randrange(100, 900)}Gi"}}
    if profile == "spot-tiered" or random.random() < 0.4:
        words["limits"] = {"nodes": random.randrange(2, 50)}
    if random.random() < 0.3:
        words["disruption"] = {
            "protect": {"days": "mon-fri", "hours": f"0{random.randrange(6, 10)}:00-18:00"}
        }
    if profile != "spot-tiered" and random.random() < 0.4:
        words["tiers"] = {"spot": {"capacity": "spot"}, "ondemand": {"capacity": "on-demand"}}
    return words
