"""What has to hold between words: each row is a blueprint, and the one thing to be said about it."""

from pathlib import Path

import pytest

from gpupool.api import render_files
from gpupool.codes import Code
from gpupool.errors import InputError
from gpupool.findings import Finding, Severity

HEAD = """\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
metadata: {name: lab}
"""
CLUSTER = "cluster: {name: lab, region: us-east-1, timezone: Europe/Berlin%s}\n"
AMI = "defaults: {nodeClass: {ami: al2023@v20260810}}\n"


def said(tmp_path: Path, pools: str, cluster: str = "", rest: str = AMI) -> list[Finding]:
    """Return what is said about a blueprint with these pools, one a line."""
    file = tmp_path / "gpupool.yaml"
    lines = "".join(f"  {line}\n" for line in pools.splitlines())
    file.write_text(f"{HEAD}{CLUSTER % cluster}{rest}pools:\n{lines}", "utf-8")
    try:
        return list(render_files([str(file)]).findings)
    except InputError as problem:
        return list(problem.findings)


GPU = "accelerator: l4, limits: {gpus: 8}"
ROWS = {
    "a resource nobody counts": ("a: {accelerator: l4, limits: {gpu: 8}}", Code.LIMIT_KEY, "did you mean `gpus`?"),
    "a typo of an extended resource": ("a: {accelerator: l4, limits: {nvidia.com/gpus: 8}}", Code.LIMIT_KEY, "did you mean `nvidia.com/gpu`?"),
    "a typo in its domain": ("a: {accelerator: l4, limits: {nvida.com/gpu: 8}}", Code.LIMIT_KEY, "did you mean `nvidia.com/gpu`?"),
    "gpus of Neuron": ("a: {accelerator: trainium2, limits: {gpus: 8}}", Code.LIMIT_UNIT, "aws.amazon.com/neuron: 8"),
    "gpus of Gaudi": ("a: {accelerator: gaudi-hl-205, limits: {gpus: 8}}", Code.LIMIT_UNIT, "habana.ai/gaudi: 8"),
    "gpus of Qualcomm": ("a: {accelerator: qualcomm-ai100, limits: {gpus: 8}}", Code.LIMIT_UNIT, "set `nodes`"),
    "a share of nothing": ("a: {accelerator: l4, tiers: {x: {limits: 25%}}}", Code.LIMIT_SHARE, ""),
    "a share of a fraction": (
        "a: {accelerator: l4, limits: {cpu: 500m}, tiers: {x: {limits: 25%}}}", Code.LIMIT_SHARE, "set the tier's limits",
    ),
    "a soft limit": ("a: {accelerator: l4, limits: {nodes: 2}}", Code.SOFT_LIMIT, "add a limit on `gpus`"),
    "a limit above the other one": (
        "a: {accelerator: l4, limits: {gpus: 64, usdPerHour: 34}}", Code.LIMIT_WITHOUT_EFFECT, "or raise `usdPerHour`",
    ),
    "a window that loosens its profile": (
        "a: {profile: training, accelerator: a100, disruption: {maintenance: {days: sat, hours: '22:00-04:00'}}}",
        Code.LOOSER_WINDOW, "set `nodes: 10%` in the window",
    ),
    "no pools": ("", Code.NO_POOLS, "add a pool, as in `pools: {train: {profile: training}}`"),
    "no machines": ("a: {limits: {gpus: 8}}", Code.NO_TYPE_SELECTOR, "set one of `profile`"),
    "a misspelt accelerator": (f"a: {{{GPU.replace('l4', 'h10O')}}}", Code.MISSPELT_NAME, "did you mean `h100`?"),
    "a new accelerator": (f"a: {{{GPU.replace('l4', 'zzzz')}}}", Code.UNKNOWN_NAME, "to a newer catalogue"),
    "g7 in a profile without it": (
        "a: {profile: inference, accelerator: rtx-pro-4500}", Code.PROFILE_MISFIT, "set `instances: {families: null}`",
    ),
    "two kinds at once": ("a: {accelerator: [l4, trainium]}", Code.ACCELERATOR, "create a pool for each"),
    "none beside GPUs": ("a: {accelerator: none, instances: {families: g5}}", Code.ACCELERATOR, "remove one of the two"),
    "Neuron in a GPU profile": ("a: {profile: training, accelerator: trainium2}", Code.PROFILE_MISFIT, "`profile: neuron-training`"),
    "a GPU in a Neuron profile": ("a: {profile: neuron-inference, accelerator: l4}", Code.PROFILE_MISFIT, "`profile: inference`"),
    "a GPU in a CPU profile": ("a: {profile: general, accelerator: l4}", Code.PROFILE_MISFIT, "`profile: inference`"),
    "no GPU in a GPU profile": ("a: {profile: inference, accelerator: none}", Code.PROFILE_MISFIT, "`profile: general` or"),
    "not and a bound on GPUs": (
        "a: {accelerator: l4, instances: {gpus: {not: 2, min: 1}}}", Code.CPU_TYPES_TOO, "gpus: [1, 4, 8]",
    ),
    "a size that is none": ("a: {accelerator: l4, instances: {gpuMemory: 24GB}}", Code.INEXACT_SIZE, "{min: 24GB}"),
    "a zone elsewhere": ("a: {accelerator: l4, zones: eu-west-1a}", Code.ZONE, ""),
    "a taint without effect": ("a: {accelerator: l4, taints: {x: NoSchedul}}", Code.TAINT, "did you mean `NoSchedule`?"),
    "a taint with an empty value": ("a: {accelerator: l4, taints: {x: ':NoSchedule'}}", Code.TAINT, "set `NoSchedule` for"),
    "a label of Karpenter's": ("a: {accelerator: l4, labels: {karpenter.sh/nodepool: x}}", Code.LABEL_KEY, ""),
    "a requirement of Karpenter's": (
        "a: {accelerator: l4, requirements: {karpenter.sh/nodepool: x}}", Code.LABEL_KEY, "",
    ),
    "disruption without a delay": (
        "a: {accelerator: l4, disruption: {consolidationPolicy: WhenEmpty}}", Code.CONSOLIDATE_AFTER, "consolidateAfter: 5m",
    ),
    "hours in words": (
        "a: {accelerator: l4, disruption: {consolidateAfter: 1m, protect: {hours: 9-17}}}", Code.DAYS_OR_HOURS, "",
    ),
    "days in words": (
        "a: {accelerator: l4, disruption: {consolidateAfter: 1m, protect: {days: mondays}}}", Code.DAYS_OR_HOURS, "",
    ),
    "a zone nobody knows": (
        "a: {accelerator: l4, disruption: {consolidateAfter: 1m, protect: {timezone: Europe/Berln}}}", Code.TIMEZONE, "Europe/Berlin",
    ),
    "replicas without the gate": ("a: {accelerator: l4, replicas: 1}", Code.FEATURE_GATE, "features: [StaticCapacity]"),
    "sharing without the gate": ("a: {accelerator: l4, sharing: {timeSlicing: 2}}", Code.FEATURE_GATE, "features: [NodeOverlay]"),
    "reservations that may not be used": (
        "a: {accelerator: l4, nodeClass: {reservations: cr-1}}", Code.RESERVATIONS, "capacity: [reserved, on-demand]",
    ),
    "reserved without reservations": ("a: {accelerator: l4, capacity: reserved}", Code.RESERVATIONS, "reservations: [cr-"),
    "capacity in another order": ("a: {accelerator: l4, capacity: [on-demand, spot]}", Code.CAPACITY_ORDER, "use `tiers`"),
    "several types for EFA": (
        "a: {profile: training-efa, accelerator: h100, zones: a}", Code.ONE_TYPE_ONE_ZONE, "instances: {types: …}",
    ),
    "a long name": (f"{'a' * 60}: {{accelerator: l4, tiers: {{spot: {{}}}}}}", Code.LONG_NAME, "shorten it"),
    "a tier that meets a pool": ("a: {accelerator: l4, tiers: {b: {}}}\na-b: {accelerator: l4}", Code.POOL_TWICE, "rename"),
    "an ARN for a role": ("a: {accelerator: l4, nodeClass: {role: 'arn:aws:iam::1:role/x'}}", Code.IDENTITY, "role: x"),
    "a driver over a driver": (
        r'a: {accelerator: l4, nodeClass: {userData: "#!/bin/sh\ndnf install -y nvidia-driver"}}', Code.USER_DATA, "remove the line",
    ),
    "comments for a script": (r'a: {accelerator: l4, nodeClass: {userData: "#!/bin/sh\n# x"}}', Code.USER_DATA, "remove it"),
    "the latest image": ("a: {accelerator: l4, nodeClass: {ami: al2023@latest}}", Code.LATEST_IMAGE, "pin a release"),
    "an image of no family": ("a: {accelerator: l4, nodeClass: {ami: ami-1}}", Code.IMAGE, "amiFamily: AL2023"),
    "an image that is neither": ("a: {accelerator: l4, nodeClass: {ami: ubuntu}}", Code.IMAGE, "an id (`ami-"),
    "an osDisk elsewhere": ("a: {accelerator: l4, nodeClass: {osDisk: {size: 4Gi}}}", Code.DISK, "set `disk`"),
    "a label that brings a second plugin": (
        "a: {accelerator: l4, labels: {nvidia.com/gpu.present: 'true'}, nodeClass: {ami: bottlerocket@v1.52.0}}",
        Code.TWO_PLUGINS, "remove the label",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("pools", "code", "fix"), ROWS.values(), ids=ROWS)
def test_what_is_said(pools: str, code: Code, fix: str, tmp_path: Path) -> None:
    found = said(tmp_path, pools)

    about = [finding for finding in found if finding.code == code]
    assert about, found
    assert fix in about[0].fix
    assert about[0].at.file == str(tmp_path / "gpupool.yaml")
    assert about[0].at.line >= (6 if pools else 1)


FINE = {
    "a GPU": f"a: {{{GPU}}}",
    "a budget that is the pool's own": (
        "a: {accelerator: l4, limits: {gpus: 8}, disruption: {consolidateAfter: 1h, budgets: [{nodes: 0}],"
        " maintenance: {days: sat, timezone: UTC}}}"
    ),
    "a window that sets its number": (
        "a: {profile: training, accelerator: a100, limits: {gpus: 64},"
        " disruption: {maintenance: {days: sat, timezone: UTC, nodes: 10%}}}"
    ),
    "reserved with reservations": "a: {accelerator: l4, capacity: reserved, nodeClass: {reservations: cr-1}, limits: {gpus: 8}}",
    "a profile's own taint taken away": "a: {profile: general, arch: amd64, limits: {cpu: 8}}",
    "a guard that gives way": "a: {accelerator: l4, instances: {gpus: {min: 4}}, limits: {gpus: 8}}",
}


@pytest.mark.parametrize("pools", FINE.values(), ids=FINE)
def test_nothing_is_said(pools: str, tmp_path: Path) -> None:
    assert said(tmp_path, pools) == []


@pytest.mark.parametrize(
    "key",
    [
        "amd.com/gpu", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "example.com/dongle", "habana.ai/gaudi",
        "intel.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.5gb", "nvidia.com/pgpu", "vpc.amazonaws.com/efa",
    ],
)  # fmt: skip
def test_a_real_extended_resource(key: str, tmp_path: Path) -> None:
    assert said(tmp_path, f"a: {{accelerator: l4, limits: {{cpu: 8, {key}: 8}}}}") == []


STATIC = ", features: [StaticCapacity]"
STATIC_ROWS = {
    "a limit but nodes": ("limits: {gpus: 8}", "can limit only `nodes`"),
    "a weight": ("weight: 5", "`weight` conflicts"),
    "more replicas than nodes": ("limits: {nodes: 1}", "is less than"),
    "EFA without a layout": ("labels: {vpc.amazonaws.com/efa.present: 'true'}", "have no EFA"),
}


@pytest.mark.parametrize(("words", "message"), STATIC_ROWS.values(), ids=STATIC_ROWS)
def test_a_static_pool(words: str, message: str, tmp_path: Path) -> None:
    found = said(tmp_path, f"a: {{accelerator: l4, replicas: 2, {words}}}", STATIC)

    assert [finding for finding in found if finding.code == Code.STATIC_POOL and message in finding.message]


NEW = {
    "networkInterfaces": (
        "nodeClass: {networkInterfaces: [{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}]}", "1.11", "1.10",
    ),
    "placementGroupSelector": ("nodeClass: {placementGroupSelector: {name: x}}", "1.11", "1.10"),
    "connectionTracking": ("nodeClass: {connectionTracking: {udpTimeout: 30}}", "1.13", "1.12"),
    "cpuOptions": ("nodeClass: {cpuOptions: {nestedVirtualization: enabled}}", "1.13", "1.12"),
    "Balanced": ("disruption: {consolidationPolicy: Balanced, consolidateAfter: 1m}", "1.14", "1.13"),
    "a label key": ("requirements: {karpenter.k8s.aws/placement-group-id: {exists: true}}", "1.11", "1.10"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "since", "before"), NEW.values(), ids=NEW)
def test_what_the_cluster_does_not_know_yet(words: str, since: str, before: str, tmp_path: Path) -> None:
    pool = f"a: {{{GPU}, {words}}}"

    (found,) = said(tmp_path, pool, f', karpenter: "{before}"')
    assert (found.code, found.at.line) == (Code.TOO_NEW, 7)
    assert f"requires Karpenter {since}, but the target is {before}" in found.message
    assert said(tmp_path, pool, f', karpenter: "{since}"') == []


@pytest.mark.parametrize("version", ["1.8", "1.15"])
def test_a_karpenter_that_is_not_rendered_for(version: str, tmp_path: Path) -> None:
    (found,) = said(tmp_path, f"a: {{{GPU}}}", f', karpenter: "{version}"')

    assert (found.code, found.at.line) == (Code.TARGET, 4)
    assert found.fix == 'set `karpenter: "1.14"`, or another version from 1.9 on'


def test_caps_on_the_whole_blueprint(tmp_path: Path) -> None:
    pools = "a: {accelerator: l4, limits: {gpus: 8}}\nb: {accelerator: a10g, limits: {gpus: 8}}\nc: {arch: amd64, instances: {categories: c}}"

    assert said(tmp_path, pools, rest=f"{AMI}limits: {{gpus: 16}}\n") == []
    (over,) = said(tmp_path, pools, rest=f"{AMI}limits: {{gpus: 15}}\n")
    assert (over.code, over.severity) == (Code.TOTAL_LIMIT, Severity.ERROR)
    assert "add up to 16, more than the cap of 15: a 8, b 8" in over.message
    (unlimited,) = said(tmp_path, pools, rest=f"{AMI}limits: {{cpu: 15}}\n")
    assert "no such limit in a, b, c" in unlimited.message
    (unknown,) = said(tmp_path, pools, rest=f"{AMI}limits: {{nvidia.com/gpus: 15}}\n")
    assert (unknown.code, unknown.fix) == (Code.LIMIT_KEY, "did you mean `nvidia.com/gpu`?")


def test_a_cap_counts_physical_gpus(tmp_path: Path) -> None:
    pools = "a: {accelerator: l4, sharing: {timeSlicing: 4}, limits: {gpus: 8}}"

    assert said(tmp_path, pools, ", features: [NodeOverlay]", f"{AMI}limits: {{gpus: 8}}\n") == []


def test_one_profile_after_another_ends(tmp_path: Path) -> None:
    for index in range(30):
        (tmp_path / f"{index}.yaml").write_text(
            "apiVersion: gpupool.dev/v1alpha1\nkind: Profile\nmetadata: {name: p}\nsummary: s\ndescription: d\n"
            f"extends: ./{index + 1}.yaml\n", "utf-8",
        )  # fmt: skip

    (found,) = said(tmp_path, "a: {profile: ./0.yaml}")

    assert (found.code, found.message) == (Code.PROFILE_CYCLE, "more than 20 profiles extend each other")
    assert found.at.file == str(tmp_path / "19.yaml")


def test_user_data_that_ec2_refuses(tmp_path: Path) -> None:
    (tmp_path / "join.sh").write_text("#!/bin/sh\n" + "echo\n" * 4000, "utf-8")

    (found,) = said(tmp_path, f"a: {{{GPU}, nodeClass: {{userData: {{file: join.sh}}}}}}")

    assert (found.code, "more than 16 KiB" in found.message) == (Code.USER_DATA, True)


def test_a_driver_over_a_driver_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "join.sh").write_text("#!/bin/sh\ndnf install -y nvidia-driver\n", "utf-8")

    (found,) = said(tmp_path, f"a: {{{GPU}, nodeClass: {{userData: {{file: join.sh}}}}}}")

    assert (found.code, found.severity, found.at.line) == (Code.USER_DATA, Severity.WARNING, 7)
    assert "has one; two break the GPUs" in found.message


def test_two_overlays_of_one_name(tmp_path: Path) -> None:
    pools = "a: {accelerator: l4, sharing: {timeSlicing: 2}, instances: {gpus: 1}, limits: {gpus: 8}}"
    overlays = f"{AMI}nodeOverlays: {{a-gpus-1: {{requirements: [], price: '1'}}}}\n"

    (found,) = said(tmp_path, pools, ", features: [NodeOverlay]", overlays)

    assert (found.code, found.at.line, found.at.column) == (Code.POOL_TWICE, 6, 16)
    assert found.message == "`pools.a` and `nodeOverlays.a-gpus-1` both render NodeOverlay `a-gpus-1`"


def test_a_long_name_of_a_class(tmp_path: Path) -> None:
    name = "a" * 64
    classes = f"{AMI}nodeClasses: {{{name}: {{}}}}\n"

    (found,) = said(tmp_path, f"a: {{{GPU}, nodeClass: {name}}}", rest=classes)

    assert (found.code, found.at.line, found.at.column) == (Code.LONG_NAME, 6, 15)


def test_a_finding_about_a_profiles_value_stands_at_the_pool(tmp_path: Path) -> None:
    pool = "a: {profile: training, accelerator: h100, nodeClass: {ami: ami-1, amiFamily: Custom}, limits: {gpus: 8}}"

    (found,) = said(tmp_path, pool)

    assert (found.code, found.at.line, found.at.column) == (Code.DISK, 7, 16)
    assert found.message.startswith(
        "the root device of an image of family Custom is unknown (profile training, line "
    )


def test_every_mistake_in_a_pool_comes_at_once(tmp_path: Path) -> None:
    words = (
        "accelerator: [l4O, h10O], instances: {gpuMemory: 24GB, memory: 3GB}, zones: [eu-west-1a, eu-west-1b], "
        "requirements: {karpenter.sh/nodepool: x, karpenter.k8s.aws/foo: on}, taints: {a: x, b: z}, limits: {gpu: 4}"
    )

    found = said(tmp_path, f"a: {{{words}}}\nb: {{accelerator: l4, foo: 1}}")

    assert [(str(finding.code), finding.at.line) for finding in found] == [
        (Code.MISSPELT_NAME, 7), (Code.MISSPELT_NAME, 7),
        (Code.INEXACT_SIZE, 7), (Code.INEXACT_SIZE, 7),
        (Code.ZONE, 7), (Code.ZONE, 7),
        (Code.LABEL_KEY, 7), (Code.AMBIGUOUS_SCALAR, 7), (Code.LABEL_KEY, 7),
        (Code.TAINT, 7), (Code.TAINT, 7),
        (Code.LIMIT_KEY, 7),
        (Code.UNKNOWN_KEY, 8),
    ]  # fmt: skip
    assert [finding.at.column for finding in found[:-1]] == sorted(
        finding.at.column for finding in found[:-1]
    )
