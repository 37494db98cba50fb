"""The code of every finding: `GP` and four digits, never with another meaning and never used again.

The first digit is the layer that the finding belongs to.
"""

from enum import StrEnum


class Layer(StrEnum):
    """Who would refuse what a finding is about."""

    BLUEPRINT = "blueprint"
    """gpupool itself: it is about the blueprint's own words, or a file of gpupool's."""

    STRUCTURAL = "structural"
    """The API server, by the schema of the CRD."""

    CEL = "cel"
    """The API server, by a rule of the CRD over several values."""

    RUNTIME = "runtime"
    """Karpenter: the API server takes the object, and then it never gets Ready."""

    POISON = "poison"
    """Nobody: the value crashes or stalls Karpenter, or makes it select everything or nothing."""

    RULE = "rule"
    """Nobody: it is advice."""


def layer(code: str) -> Layer:
    """Give the layer that a finding's code belongs to."""
    return _LAYERS.get(code[2:3], Layer.RULE)


_LAYERS = dict(zip("01234", Layer, strict=False))


class Code(StrEnum):
    """What a finding is about; each member's meaning stands in `MEANINGS`."""

    UNREADABLE = "GP0001"
    NOT_YAML = "GP0002"
    KEY_TWICE = "GP0003"
    AMBIGUOUS_SCALAR = "GP0004"
    NOT_THE_KIND = "GP0005"
    UNKNOWN_KEY = "GP0010"
    MISSING = "GP0011"
    WRONG_TYPE = "GP0012"
    WRONG_VALUE = "GP0013"
    SAID_TWICE = "GP0014"
    OTHER_NAME = "GP0015"
    NEW_NAME = "GP0016"
    UNKNOWN_PROFILE = "GP0017"
    PROFILE_CYCLE = "GP0018"
    INEXACT_SIZE = "GP0020"
    ZONE = "GP0021"
    CAPACITY_ORDER = "GP0022"
    LABEL_KEY = "GP0023"
    ACCELERATOR = "GP0024"
    CPU_MACHINES_TOO = "GP0025"
    TAINT = "GP0026"
    LIMIT_SHARE = "GP0027"
    LIMIT_UNIT = "GP0028"
    LIMIT_KEY = "GP0029"
    LATEST_IMAGE = "GP0030"
    IMAGE = "GP0031"
    IDENTITY = "GP0032"
    USER_DATA = "GP0033"
    DISK = "GP0034"
    TWO_PLUGINS = "GP0035"
    TARGET = "GP0040"
    NO_POOLS = "GP0058"
    NO_MACHINES = "GP0041"
    UNKNOWN_CLASS = "GP0042"
    PROFILE_CLASS_UNUSED = "GP0043"
    CLASS_TWICE = "GP0044"
    UNUSED_CLASS = "GP0045"
    LONG_NAME = "GP0046"
    POOL_TWICE = "GP0047"
    SOFT_LIMIT = "GP0048"
    TOTAL_LIMIT = "GP0049"
    TIER_SUM = "GP0050"
    PROFILE_MISFIT = "GP0051"
    FEATURE_GATE = "GP0052"
    STATIC_POOL = "GP0053"
    ONE_TYPE_ONE_ZONE = "GP0054"
    SHARING = "GP0055"
    RESERVATIONS = "GP0057"
    CONSOLIDATE_AFTER = "GP0060"
    WINDOW = "GP0061"
    DAYLIGHT_SAVING = "GP0062"
    TIMEZONE = "GP0063"
    DAYS_OR_HOURS = "GP0064"
    CHART_BUG = "GP0070"
    CHART_DEFAULTS = "GP0071"
    IN_THE_WAY = "GP0080"
    UNWRITABLE = "GP0081"

    MANIFEST_UNREADABLE = "GP1001"
    MANIFEST_SYNTAX = "GP1002"
    MANIFEST_KEY_TWICE = "GP1003"
    PLACEHOLDER = "GP1004"
    NO_OBJECT = "GP1005"
    OLD_VERSION = "GP1006"
    UNKNOWN_VERSION = "GP1007"
    NO_KARPENTER_OBJECT = "GP1008"
    UNKNOWN_FIELD = "GP1010"
    MISSING_FIELD = "GP1011"
    FIELD_TYPE = "GP1012"
    FIELD_VALUE = "GP1013"
    NULL_FIELD = "GP1014"
    TOO_NEW = "GP1016"


MEANINGS: dict[Code, str] = {
    Code.UNREADABLE: "The file can't be read, is no UTF-8 text, or is too large.",
    Code.NOT_YAML: "The file is not YAML, or uses parts of YAML that a blueprint can't have.",
    Code.KEY_TWICE: "A key stands twice in one map.",
    Code.AMBIGUOUS_SCALAR: "A value without quotes means one thing here and another to kubectl and Helm.",
    Code.NOT_THE_KIND: "The file is of another kind (`apiVersion` or `kind` differs), or empty.",
    Code.UNKNOWN_KEY: "A key that the vocabulary does not have.",
    Code.MISSING: "A key that has to be there is not.",
    Code.WRONG_TYPE: "A value of another type than the key takes.",
    Code.WRONG_VALUE: "A value of the right type that the key does not take.",
    Code.SAID_TWICE: "Two words in one place say the same thing, one short and one in Karpenter's own form.",
    Code.OTHER_NAME: "A later file has another `metadata.name` than the first.",
    Code.NEW_NAME: "A later file names something that no earlier file has.",
    Code.UNKNOWN_PROFILE: "There is no profile of that name or path.",
    Code.PROFILE_CYCLE: "Profiles extend each other in a circle.",
    Code.INEXACT_SIZE: "A size that no machine can have exactly, where an exact one is wanted.",
    Code.ZONE: "A zone letter without a region, or a zone of another region.",
    Code.CAPACITY_ORDER: "Capacity types in an order that Karpenter does not follow.",
    Code.LABEL_KEY: "A label key that Karpenter refuses.",
    Code.ACCELERATOR: "An accelerator name that is not known, or several kinds in one pool.",
    Code.CPU_MACHINES_TOO: "A constraint on the GPU count that lets machines without a GPU in.",
    Code.TAINT: "A taint that is neither `value:Effect` nor `Effect`.",
    Code.LIMIT_SHARE: "A tier's share of limits that the pool does not have, or that can't be divided.",
    Code.LIMIT_UNIT: "A limit on `gpus` where the pool's chips are counted as another resource.",
    Code.LIMIT_KEY: "A limit on a resource that Karpenter does not count.",
    Code.LATEST_IMAGE: "An image that is not pinned: each release replaces every node.",
    Code.IMAGE: "A node class without a machine image, or one whose family is not known.",
    Code.IDENTITY: "A node class without a role, subnets or security groups, or with an ARN for a role.",
    Code.USER_DATA: "User data that can't be read, or with which a node can't join.",
    Code.DISK: "A disk that the image's family does not have, or whose device is not known.",
    Code.TWO_PLUGINS: "A label that would bring a second device plugin to nodes that have one.",
    Code.TARGET: "A Karpenter version that gpupool does not render for.",
    Code.NO_POOLS: "A blueprint without pools, which would remove all that was rendered before.",
    Code.NO_MACHINES: "A pool that says nothing about its machines.",
    Code.UNKNOWN_CLASS: "A node class that is declared nowhere.",
    Code.PROFILE_CLASS_UNUSED: "A profile's words for the class go unused: the class is a declared one.",
    Code.CLASS_TWICE: "A pool's own node class would have the name of a declared one.",
    Code.UNUSED_CLASS: "A declared node class that no pool refers to.",
    Code.LONG_NAME: "A name that is too long for a node label.",
    Code.POOL_TWICE: "Two words that make objects of the same kind and name.",
    Code.SOFT_LIMIT: "A limit on `nodes` alone, which Karpenter may overshoot.",
    Code.TOTAL_LIMIT: "The pools' limits do not keep the blueprint's cap.",
    Code.TIER_SUM: "What the tiers of a pool may hold together.",
    Code.PROFILE_MISFIT: "A pool whose accelerator is of another kind than its profile's.",
    Code.FEATURE_GATE: "A word that needs a Karpenter feature gate which is off.",
    Code.STATIC_POOL: "A pool with `replicas` that says what such a pool can't have.",
    Code.ONE_TYPE_ONE_ZONE: "A pool for EFA jobs that allows several instance types or zones.",
    Code.SHARING: "Time-slicing on a pool where it can't work.",
    Code.RESERVATIONS: "Reservations that the pool may not use, or a wish for them where none are selected.",
    Code.CONSOLIDATE_AFTER: "`disruption` without `consolidateAfter`, which Karpenter wants beside it.",
    Code.WINDOW: "A disruption window that can't be written as budgets.",
    Code.DAYLIGHT_SAVING: "A window that takes the safe side in the months in which the clocks change.",
    Code.TIMEZONE: "A window without a time zone.",
    Code.DAYS_OR_HOURS: "Days or hours of a window that can't be read.",
    Code.CHART_BUG: "Values on which this version of a chart breaks.",
    Code.CHART_DEFAULTS: "A chart version whose defaults do not fit EKS images.",
    Code.IN_THE_WAY: "A file that gpupool did not write stands where it has to write.",
    Code.UNWRITABLE: "A rendered file that the system does not let gpupool write, read or remove.",
    Code.MANIFEST_UNREADABLE: "A manifest that can't be read, is no UTF-8 text, or is too large.",
    Code.MANIFEST_SYNTAX: "A manifest that kubectl could not read as YAML or JSON.",
    Code.MANIFEST_KEY_TWICE: "A key stands twice in one map of a manifest; the API server refuses that.",
    Code.PLACEHOLDER: "A manifest with a placeholder of a template that was not rendered.",
    Code.NO_OBJECT: "A document that is no Kubernetes object: `apiVersion` or `kind` is missing.",
    Code.OLD_VERSION: "An object of a Karpenter API version that is no longer served.",
    Code.UNKNOWN_VERSION: "A Karpenter kind in an API version that there is not.",
    Code.NO_KARPENTER_OBJECT: "Nothing of Karpenter's was found in what was to be checked.",
    Code.UNKNOWN_FIELD: "A field that Karpenter's object does not have.",
    Code.MISSING_FIELD: "A required field of Karpenter's object is missing.",
    Code.FIELD_TYPE: "A field of Karpenter's object holds a value of another type.",
    Code.FIELD_VALUE: "A field of Karpenter's object holds a value that the schema does not allow.",
    Code.NULL_FIELD: "A null that `kubectl create` drops and server-side apply refuses.",
    Code.TOO_NEW: "A field, value or label key that the cluster's Karpenter version does not know yet.",
}
"""What each code means, in one sentence."""
