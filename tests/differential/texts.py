"""Texts at and beside the edges of the patterns that the CRDs name."""

import random

KEYS = (
    "a", "A", "a.b/c", "a/b", "A.b/c", "a/b/c", "/a", "a/", "a b", "a_b", "-a", "a-", ".a", "a.", "_a", "a..b/c", "a.-b/c", "a\n", "é",
    "\u0661", "a" * 63, "a" * 64, "x.y/" + "a" * 63, "x.y/" + "a" * 64, "x.y/" + "a" * 100, "a" * 253 + "/b", "a" * 254 + "/b", "a" * 316,
    "a" * 317, "a" * 64 + "/b", "karpenter.sh/x", "karpenter.sh/nodepool", "karpenter.sh/capacity-type", "karpenter.sh", "xkarpenter.sh/a",
    "a.karpenter.sh/b", "foo/karpenter.sh", "kubernetes.io/hostname", "kubernetes.io/arch", "karpenter.k8s.aws/ec2nodeclass",
    "karpenter.k8s.aws/instance-family", "karpenter.k8s.aws/instance-familyx", "karpenter.k8s.aws/instance-tenancy", "karpenter.k8s.aws",
    "karpenter.k8s.aws/capacity-reservation-id", "karpenter.k8s.aws/capacity-reservation-type", "karpenter.k8s.aws/placement-group-id",
    "x.karpenter.k8s.aws/a", "topology.k8s.aws/zone-id", "node.kubernetes.io/instance-type", "beta.kubernetes.io/arch",
    "failure-domain.beta.kubernetes.io/zone", "node-restriction.kubernetes.io/a", "karpenter.sh/disrupted", "nvidia.com/gpu", "nodes", "cpu",
    "memory", "pods", "ephemeral-storage", "pid", "gpu", "Name", "aws:x", "eks:eks-cluster-name", "kubernetes.io/cluster", "kubernetes.io/clusterX",
    "kubernetes.io/cluster/a", "karpenter.sh/nodeclaim", "memory.available", "nodefs.inodesFree", "imagefs.available", "containerfs.available",
)  # fmt: skip
SPANS = (
    "0s", "5", "0", "1h", "1m", "1s", "1h1m1s", "30m1h", "1h\n", "1d", "1.5h", "100ms", "1us", "-1h", "+1h", "Never", "never", "NEVER", "Never ",
    "720h", "1h 1m", "h", "1hh", "01h", "\u0661h", "1H", "1h0s", "1h0m0s", "0h0s", "8h30s", "1h30m0s", "30m0s", "1m1h", "90m", "0h", "0m", "1h\v",
    "99999999999h", "2562047h", "2562048h", "153722867m", "153722868m", "9223372036s", "9223372037s", "2562047h47m16s", "2562047h47m17s",
    "junk", "1m30s", "1h1h", "9" * 30 + "s", "0" * 30 + "1h", "",
)  # fmt: skip
CRONS = (
    "@daily", "@Daily", "@dailyX", "@reboot", "@every 1h", "@annually", "@hourly x", "0 9 * * 1-5", "60 25 * * *", "0\t9\t*\t*\t*", "TZ=UTC 0 9 * * *",
    "junk a b c d", "a b c d", "0 9 * *", "0 0 9 * * *", "\n0 9 * * *", "0 9 * * \n", "0\v9\v*\v*\v*", "0\xa09\xa0*\xa0*\xa0*", "0\f9\f*\f*\f*", "     ",
    "         ", "0  9  *  *  *", " @daily", "x@daily", "0\r9\r*\r*\r*",
)  # fmt: skip
SHARES = (
    "0", "1", "10%", "00%", "99%", "100%", "101%", "010%", "000%", "-1", "1.5%", "5.5", "%", "10 %", "10%\n", "\u0661%", "1" * 21, "2147483648", "+1", "1e3",
)  # fmt: skip
QUANTITIES = (
    "1", "0", "-1", "+5", "1K", "1k", "1Ki", "1gi", "1Gi", "1 Gi", "1e3", "1E3", "1E", "1e", "1e3.5", "1e-3", "1e+3", ".5", "5.", ".", "1.5", "100m", "5n", "1u",
    "1M", "1m", "1Mi", "1Ei", "9E", "10E", "1e400", "1e99999999999", "-", "+", "--1", "1GiB", "1i", "0x10", "1_0", "\u0661", "5\n", "5%", "100%", "100.0%", "100.01%",
    "101%", "99.99%", "99.999%", "100.00%", "+5%", "-5%", "5.%", ".5%", "%", "0%", "-1Gi", "1Pi", "9223372036854775807", "9223372036854775808", "9" * 40, "1" + "0" * 30 + "Ei",
    "-0", "1e.5", "1e3.", "1n", "1e-400",
)  # fmt: skip
SIZES = (
    "1Gi", "0Gi", "100", "59000Gi", "59001Gi", "58999Gi", "49999Gi", "9999Gi", "10000Gi", "050Gi", "64000G", "64001G", "59999G", "63999G", "1G", "0G", "Ti", "T", "1Ti",
    "0Ti", "9Ti", "10Ti", "17Ti", "18Ti", "19Ti", "27Ti", "28Ti", "57Ti", "58Ti", "59Ti", "60Ti", "1T", "19T", "59T", "60T", "63T", "64T", "65T", "1Mi", "1.5Gi", "20Gi\n", "gi",
    "20gi", "20GI", "\u0661Gi", "+1Gi", "-1Gi",
)  # fmt: skip
PRICES = (
    "1", "1.25", "+1", "-0.5", "+10%", "-10%", "-100%", "-101%", "-99.99%", "+250.5%", "+.5", "-.5", "-.5%", "+.5%", "+5.", "+5.%", "10%", "0", ".5", "5.", "1e10", "+", "-",
    "+%", "-100.0%", "--1", "\u0661", "1\n", "-5%\n", "+1,5", "-0%", "-00%", "-000%", "+0%",
)  # fmt: skip
ALIASES = (
    "al2023@latest", "al2023@v20260810", "al2@latest", "bottlerocket@1.10.0", "bottlerocket@v1.10.0", "windows2019@latest", "windows2022@latest", "windows2022@v1", "windows2025@latest",
    "windows2022@latest@x", "windows2022@", "AL2023@latest", "al2023", "al2023@", "@latest", "al2023@v1@x", "al2023@any thing", "al2023@\n", "al2023@a\nb", "ubuntu@latest", "al 2@x",
    "al2023@@", "@@", "al2023@" + "x" * 23, "al2023@" + "x" * 24, "al2023@" + "é" * 23, "al2023 @latest", "al2023@ ", "custom@latest",
)  # fmt: skip
NAMES = (
    "ami-1", "xami-1!!", "ami-", "ami-A", "AMI-1", "ami-1\n", "subnet-1", "xsubnet-1y", "subnet-", "sg-1", "x-sg-1", "sg-", "cr-1", "xcr-1", "cr-1\n", "cr-A", "cr-", "pg-1", "xpg-1", "pg-1 ",
    "123456789012", "12345678901", "1234567890123", "12345678901a", "\u0661" * 12, "karpenter.k8s.aws", "karpenter.k8s.aws/v1", "/", "é", " ", "\n", "x" * 300, "*", "self", "in", "IN", "Spot",
    "spot", "on-demand", "reserved", "007", "+1", "-1", "1.5", " 1", "1_0", "0x10", "9223372036854775807", "9223372036854775808", "\u0661", "1 ", "", "x" * 63, "x" * 64, "a b", "a/b", "-a",
    "true", "null", "~", "2026-08-20T12:00:00Z",
)  # fmt: skip
INSTANTS = (
    "2026-08-20T12:00:00Z", "2026-08-20T12:00:00.123Z", "2026-08-20T12:00:00,5Z", "2026-08-20T12:00:00+02:00", "2026-08-20t12:00:00z", "2026-08-20T12:00:00+24:00", "2026-08-20T12:00:00+25:00",
    "2026-08-20T12:00:00+23:60", "2026-08-20T12:00:00-99:99", "0000-01-01T00:00:00Z", "2028-02-29T00:00:00Z", "2026-02-29T00:00:00Z", "2026-08-20", "2026-08-20T12:00:00", "2026-08-20 12:00:00Z",
    "2026-13-20T12:00:00Z", "2026-00-20T12:00:00Z", "2026-08-32T12:00:00Z", "2026-08-20T24:00:00Z", "2026-08-20T23:59:60Z", "2026-08-20T12:00:00.Z", "2026-8-20T12:00:00Z", "2026-08-20T9:00:00Z",
    "2026-08-20T12:00:00Z\n", "2026-08-20T12:00:00+0200", "2026-08-20T12:00Z", "\u0662026-08-20T12:00:00Z", "9999-12-31T23:59:59Z", "10000-01-01T00:00:00Z", "2026-08-20T12:00:00.1234567891Z",
    "2026-06-31T00:00:00Z", "2026-08-20T12:00:00-00:00", "2026-08-20T12:00:00 02:00", "2026-08-20T12:00:0Z",
)  # fmt: skip
EVERY = (*KEYS, *SPANS, *CRONS, *SHARES, *QUANTITIES, *SIZES, *PRICES, *ALIASES, *NAMES, *INSTANTS)

_BY_FIELD = {
    "key": KEYS, "value": KEYS, "schedule": CRONS, "duration": SPANS, "nodes": SHARES, "consolidateAfter": SPANS, "expireAfter": SPANS, "terminationGracePeriod": SPANS, "timeAdded": INSTANTS,
    "volumeSize": SIZES, "price": PRICES, "priceAdjustment": PRICES, "alias": ALIASES, "limits": QUANTITIES, "capacity": QUANTITIES, "kubeReserved": QUANTITIES, "systemReserved": QUANTITIES,
    "evictionHard": QUANTITIES, "evictionSoft": QUANTITIES, "evictionSoftGracePeriod": SPANS, "labels": NAMES, "tags": NAMES,
}  # fmt: skip
MAPS = frozenset(
    {
        "limits",
        "capacity",
        "kubeReserved",
        "systemReserved",
        "evictionHard",
        "evictionSoft",
        "evictionSoftGracePeriod",
        "labels",
        "tags",
    }
)
"""Maps whose values are told by the name of the map."""
ODD = (
    "\n",
    "\v",
    "\t",
    " ",
    "\u0661",
    "é",
    "/",
    ".",
    "-",
    "_",
    "%",
    "@",
    "0",
    "1",
    "9",
    "a",
    "Z",
    "+",
    "e",
    "i",
    "m",
    "h",
    ",",
    ":",
    "\xa0",
    "\u2028",
    "😀",
)


def like(field: str) -> tuple[str, ...]:
    """Return the texts that are worth a try in a field of that name."""
    return _BY_FIELD.get(field, NAMES)


def edited(text: str, chance: random.Random) -> str:
    """Insert, delete or replace one character, or put one at the end."""
    at = chance.randint(0, len(text))
    odd = chance.choice(ODD)
    rest = chance.choice((text[at:], text[at + 1 :], text[at + 1 :]))
    return text[:at] + chance.choice((odd, odd, "")) + rest
