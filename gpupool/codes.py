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

    STATIC_POOL_LIMITS = "GP2001"
    STATIC_POOL_WEIGHT = "GP2002"
    HALF_A_WINDOW = "GP2003"
    RESTRICTED_DOMAIN = "GP2004"
    RESERVED_LABEL = "GP2005"
    EMPTY_CLASS_REFERENCE = "GP2006"
    IN_WITHOUT_VALUES = "GP2007"
    COMPARISON_WITHOUT_NUMBER = "GP2008"
    TOO_FEW_VALUES = "GP2009"
    PRICE_TWICE = "GP2010"
    OVERLAY_CAPACITY = "GP2011"
    ROLE_OR_PROFILE = "GP2020"
    EMPTY_IDENTITY = "GP2021"
    OTHER_FAMILY = "GP2022"
    NO_FAMILY = "GP2023"
    NO_TERMS = "GP2024"
    SELECTS_NOTHING = "GP2025"
    MIXED_TERM = "GP2026"
    ALIAS_NOT_ALONE = "GP2027"
    ALIAS_FORM = "GP2028"
    ALIAS_FAMILY = "GP2029"
    WINDOWS_ALIAS = "GP2030"
    EMPTY_TAG = "GP2031"
    TWO_ROOT_VOLUMES = "GP2032"
    VOLUME_OF_NOTHING = "GP2033"
    RATE_WITHOUT_SNAPSHOT = "GP2034"
    NO_TIMEOUT = "GP2035"
    IMAGE_THRESHOLDS = "GP2036"
    SOFT_EVICTION = "GP2037"
    KUBELET_KEY = "GP2038"
    NEGATIVE_RESERVE = "GP2039"
    NO_PRIMARY_INTERFACE = "GP2040"
    INTERFACE_TWICE = "GP2041"
    PLACEMENT_GROUP = "GP2042"
    KARPENTERS_TAG = "GP2043"

    NOT_A_QUALIFIED_NAME = "GP3001"
    RESTRICTED_LABEL = "GP3002"
    NOT_A_LABEL_VALUE = "GP3003"
    NO_KNOWN_VALUE = "GP3004"
    TAINT_TWICE = "GP3005"
    OVERLAY_RESOURCE = "GP3006"
    USER_DATA_SIZE = "GP3007"

    ALIAS_CRASH = "GP4001"
    ENDLESS_DURATION = "GP4002"
    UNREADABLE_QUANTITY = "GP4003"
    UNREADABLE_GRACE = "GP4004"
    UNREADABLE_TIME = "GP4005"
    RESERVE_CRASH = "GP4006"
    DISK_CRASH = "GP4007"
    NO_SPEC = "GP4008"
    SELECTS_EVERYTHING = "GP4009"
    TAINT_WITH_SLASH = "GP4010"
    BUDGET_OVERFLOW = "GP4011"
    IGNORED_POOL = "GP4012"
    NAME_NO_LABEL = "GP4013"


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
    Code.STATIC_POOL_LIMITS: "A pool with `replicas` that limits more than `nodes`.",
    Code.STATIC_POOL_WEIGHT: "A pool with both `replicas` and `weight`.",
    Code.HALF_A_WINDOW: "A budget with only one of `schedule` and `duration`.",
    Code.RESTRICTED_DOMAIN: "A label or requirement in a domain that is Karpenter's own.",
    Code.RESERVED_LABEL: "A label or requirement that Karpenter or the kubelet sets itself.",
    Code.EMPTY_CLASS_REFERENCE: "An empty group, kind or name in `nodeClassRef`.",
    Code.IN_WITHOUT_VALUES: "A requirement with `In` (in a NodeOverlay also `NotIn`) and no values.",
    Code.COMPARISON_WITHOUT_NUMBER: "A requirement with `Gt`, `Lt`, `Gte` or `Lte` without one whole number.",
    Code.TOO_FEW_VALUES: "A requirement with fewer values than its `minValues`.",
    Code.PRICE_TWICE: "A NodeOverlay with both `price` and `priceAdjustment`.",
    Code.OVERLAY_CAPACITY: "A NodeOverlay that sets a resource which every machine has.",
    Code.ROLE_OR_PROFILE: "An EC2NodeClass with both or neither of `role` and `instanceProfile`.",
    Code.EMPTY_IDENTITY: "An empty `role` or `instanceProfile`.",
    Code.OTHER_FAMILY: "An `amiFamily` that does not fit the image alias.",
    Code.NO_FAMILY: "An EC2NodeClass with neither an image alias nor `amiFamily`.",
    Code.NO_TERMS: "An empty list of selector terms.",
    Code.SELECTS_NOTHING: "A selector term with nothing that selects.",
    Code.MIXED_TERM: "A selector term with words that exclude each other.",
    Code.ALIAS_NOT_ALONE: "An image alias beside other image terms.",
    Code.ALIAS_FORM: "An image alias that is not `family@version`.",
    Code.ALIAS_FAMILY: "An image alias of an unknown family.",
    Code.WINDOWS_ALIAS: "A Windows image alias with a version other than `latest`.",
    Code.EMPTY_TAG: "A tag with an empty key, or an empty value in a selector.",
    Code.TWO_ROOT_VOLUMES: "Several volumes with `rootVolume: true`.",
    Code.VOLUME_OF_NOTHING: "A volume without size and snapshot.",
    Code.RATE_WITHOUT_SNAPSHOT: "A `volumeInitializationRate` without a snapshot.",
    Code.NO_TIMEOUT: "`connectionTracking` without any timeout.",
    Code.IMAGE_THRESHOLDS: "Image thresholds of the kubelet that are the wrong way round.",
    Code.SOFT_EVICTION: "Soft eviction thresholds and grace periods that do not match.",
    Code.KUBELET_KEY: "An unknown signal or resource in the kubelet's settings.",
    Code.NEGATIVE_RESERVE: "A negative amount kept back for the system.",
    Code.NO_PRIMARY_INTERFACE: "Network interfaces without a primary one.",
    Code.INTERFACE_TWICE: "Two network interfaces in one place, or several for EFA on one card.",
    Code.PLACEMENT_GROUP: "A placement group with both or neither of `name` and `id`.",
    Code.KARPENTERS_TAG: "A tag that Karpenter sets itself.",
    Code.NOT_A_QUALIFIED_NAME: "A label, taint or requirement key that is no qualified name.",
    Code.RESTRICTED_LABEL: "A label that the CRD lets through and Karpenter refuses.",
    Code.NOT_A_LABEL_VALUE: "A value that no label can have.",
    Code.NO_KNOWN_VALUE: "A requirement with too few values that Karpenter knows.",
    Code.TAINT_TWICE: "The same taint twice: one key and effect.",
    Code.OVERLAY_RESOURCE: "A NodeOverlay that sets a resource which Karpenter counts itself.",
    Code.USER_DATA_SIZE: "User data that is larger than EC2 takes.",
    Code.ALIAS_CRASH: "An image alias with more than one `@`, which ends Karpenter's process.",
    Code.ENDLESS_DURATION: "A duration of more than 292 years, which Karpenter can't read.",
    Code.UNREADABLE_QUANTITY: "A quantity that the CRD lets through and Karpenter can't read.",
    Code.UNREADABLE_GRACE: "A grace period that is no duration.",
    Code.UNREADABLE_TIME: "A time that the CRD lets through and Karpenter can't read.",
    Code.RESERVE_CRASH: "A reserve or eviction threshold on which Karpenter crashes.",
    Code.DISK_CRASH: "A volume without `ebs` or `deviceName`, on which Karpenter crashes.",
    Code.NO_SPEC: "An EC2NodeClass without a spec.",
    Code.SELECTS_EVERYTHING: "A selector term without any tag, which selects everything in the region.",
    Code.TAINT_WITH_SLASH: "A taint value with `/`, with which no node can register.",
    Code.BUDGET_OVERFLOW: "A budget of more nodes than Karpenter can count, which then allows none.",
    Code.IGNORED_POOL: "A reference to a node class that no controller knows, so that all ignore the pool.",
    Code.NAME_NO_LABEL: "A name that is too long for the node label that Karpenter makes of it.",
}
"""What each code means, in one sentence."""
