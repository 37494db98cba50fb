"""Codes of findings: `GP` and four digits, which are never reused or given another meaning.

The first digit is the layer of the finding.
"""

from enum import StrEnum
from typing import Self


class Layer(StrEnum):
    """The check that would reject the value of a finding."""

    BLUEPRINT = "blueprint"
    """gpupool: a field of a blueprint, or another file of gpupool."""

    STRUCTURAL = "structural"
    """The API server, by the schema of the CRD."""

    CEL = "cel"
    """The API server, by a CEL rule of the CRD."""

    RUNTIME = "runtime"
    """Karpenter: the API server accepts the object, but it never becomes Ready."""

    CRASH = "crash"
    """No check: the value crashes or stalls Karpenter, or makes it select everything or nothing."""

    RULE = "rule"
    """No check: a lint rule."""


_LAYERS = dict(zip("01234", Layer, strict=False))


def layer(code: str) -> Layer:
    """Return the layer of a code."""
    return _LAYERS.get(code[2:3], Layer.RULE)


class Code(StrEnum):
    """The code of a finding, with its meaning in one sentence."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        """Create a code from its text and its meaning."""
        code = str.__new__(cls, value)
        code._value_ = value
        code.meaning = meaning
        return code

    UNREADABLE = "GP0001", "The file can't be read, is not UTF-8, or is too large."
    NOT_YAML = (
        "GP0002",
        "The file is not valid YAML, or uses a part of YAML that a blueprint does not support.",
    )
    KEY_TWICE = "GP0003", "A duplicate key in a map."
    AMBIGUOUS_SCALAR = (
        "GP0004",
        "An unquoted value that kubectl and Helm read differently from gpupool.",
    )
    NOT_THE_KIND = "GP0005", "An unexpected `apiVersion` or `kind`, or an empty file."
    UNKNOWN_KEY = "GP0010", "An unknown field."
    MISSING = "GP0011", "A required field is missing."
    WRONG_TYPE = "GP0012", "A value of the wrong type."
    WRONG_VALUE = "GP0013", "A value of the right type that the field does not accept."
    SET_TWICE = (
        "GP0014",
        "Two fields in one place set the same thing, one short and one in Karpenter's own form.",
    )
    OTHER_NAME = "GP0015", "A later file sets a different `metadata.name` than the first."
    NEW_NAME = "GP0016", "A later file adds a name that no earlier file declares."
    UNKNOWN_PROFILE = "GP0017", "A profile name or path that does not exist."
    PROFILE_CYCLE = "GP0018", "Profiles that extend each other in a cycle."
    PROFILE_OUTSIDE = "GP0019", "A profile's path that is outside the allowed folders."
    INEXACT_SIZE = "GP0020", "An exact size that no instance type has."
    ZONE = "GP0021", "A zone letter without a region, or a zone of another region."
    CAPACITY_ORDER = "GP0022", "Capacity types in an order that Karpenter does not follow."
    LABEL_KEY = "GP0023", "A label key that Karpenter rejects."
    ACCELERATOR = (
        "GP0024",
        "Several kinds of accelerator in one pool, or `none` beside instance types with one.",
    )
    CPU_TYPES_TOO = (
        "GP0025",
        "A constraint on the GPU count that also matches instance types without a GPU.",
    )
    TAINT = "GP0026", "A taint that is neither `value:Effect` nor `Effect`."
    LIMIT_SHARE = "GP0027", "A tier's share of limits that the pool does not set, or that can't be divided."
    LIMIT_UNIT = "GP0028", "A limit on `gpus` where the pool's chips are counted as another resource."
    LIMIT_KEY = "GP0029", "A limit on a resource that Karpenter does not count."
    LATEST_IMAGE = "GP0030", "An image that is not pinned, so each release replaces every node."
    IMAGE = "GP0031", "A node class without an image, or with an image of unknown family."
    IDENTITY = "GP0032", "A node class without a role, subnets or security groups, or with a role's ARN."
    USER_DATA = "GP0033", "User data that can't be read, or that keeps a node from working."
    DISK = "GP0034", "A disk that the AMI family does not have, or whose device is unknown."
    TWO_PLUGINS = "GP0035", "A label that starts a second device plugin on nodes that have one."
    TARGET = "GP0040", "An unsupported Karpenter version."
    NO_TYPE_SELECTOR = "GP0041", "A pool without a field that selects instance types."
    UNKNOWN_CLASS = "GP0042", "A node class that is not declared."
    PROFILE_CLASS_UNUSED = (
        "GP0043",
        "A profile's node class fields are ignored, because the pool uses a declared class.",
    )
    CLASS_TWICE = "GP0044", "A pool's own node class with the name of a declared one."
    UNUSED_CLASS = "GP0045", "A declared node class that no pool uses."
    LONG_NAME = "GP0046", "A name that is too long for a node label."
    POOL_TWICE = "GP0047", "Two parts of the blueprint that render objects of the same kind and name."
    SOFT_LIMIT = "GP0048", "A limit on `nodes` alone, which Karpenter can exceed."
    TOTAL_LIMIT = "GP0049", "Pools whose limits exceed the blueprint's cap, or that have no such limit."
    TIER_SUM = "GP0050", "The sum of the limits of a pool's tiers."
    PROFILE_MISFIT = "GP0051", "A profile that does not fit the pool's accelerator."
    FEATURE_GATE = "GP0052", "A field that requires a Karpenter feature gate that is off."
    STATIC_POOL = "GP0053", "A field that conflicts with `replicas`."
    ONE_TYPE_ONE_ZONE = "GP0054", "A pool for EFA jobs that allows several instance types or zones."
    SHARING = "GP0055", "Time-slicing on a pool where it can't work."
    RESERVATIONS = (
        "GP0057",
        "Reservations that the pool can't use, or reserved capacity without reservations.",
    )
    NO_POOLS = "GP0058", "A blueprint without pools, which would remove everything rendered before."
    LIMIT_WITHOUT_EFFECT = "GP0059", "A limit in GPUs or in USD per hour above the other one of the pool."
    CONSOLIDATE_AFTER = "GP0060", "`disruption` without `consolidateAfter`, which Karpenter requires."
    WINDOW = "GP0061", "A disruption window that can't be compiled to budgets."
    DAYLIGHT_SAVING = "GP0062", "A window that is longer or shorter in the months in which the clocks change."
    TIMEZONE = "GP0063", "An unknown time zone, or a window without a time zone."
    DAYS_OR_HOURS = "GP0064", "Invalid days or hours of a window."
    LOOSER_WINDOW = "GP0065", "A maintenance window that permits more than the profile's budget does."
    CHART_BUG = "GP0070", "Values that break this version of a chart."
    CHART_DEFAULTS = "GP0071", "A chart version whose defaults do not fit EKS images."
    IN_THE_WAY = "GP0080", "A file that gpupool did not write, at a path where it has to write."
    UNWRITABLE = "GP0081", "A rendered file that can't be written, read or removed."
    CATALOGUE = "GP0090", "A catalogue of instance types that can't be read, or is invalid."
    USD_LIMIT = (
        "GP0091",
        "A limit in USD per hour that can't become a number of accelerators, or is below one node.",
    )
    USD_REASONING = "GP0092", "How a limit in USD per hour becomes a number of accelerators."
    OTHER_PRICES = "GP0093", "A region without a price list, so the prices of us-east-1 are used."
    MISSPELT_NAME = (
        "GP0094",
        "A misspelt or invalid instance type, family, category, size or accelerator.",
    )
    UNKNOWN_NAME = (
        "GP0095",
        "An instance type, family, category, size or accelerator that is not in the catalogue.",
    )
    RETIRED_NAME = "GP0096", "An instance type, family or accelerator that EC2 no longer offers."
    UNKNOWN_ZONE = "GP0097", "A zone that is not in the catalogue's list for its region."
    PLAN_FILE = "GP0100", "A plan file that can't be read, is none, was cut off, or was changed by hand."

    MANIFEST_UNREADABLE = "GP1001", "A manifest that can't be read, is not UTF-8, or is too large."
    MANIFEST_SYNTAX = "GP1002", "A manifest that kubectl can't parse as YAML or JSON."
    MANIFEST_KEY_TWICE = "GP1003", "A duplicate key in a map of a manifest; the API server rejects it."
    PLACEHOLDER = "GP1004", "A manifest with an unrendered template placeholder."
    NO_OBJECT = "GP1005", "A document that is not a Kubernetes object: `apiVersion` or `kind` is missing."
    OLD_VERSION = "GP1006", "An object of a Karpenter API version that is no longer served."
    UNKNOWN_VERSION = "GP1007", "An unknown kind or version in one of Karpenter's API groups."
    NO_KARPENTER_OBJECT = "GP1008", "No Karpenter object and no blueprint in the files to check."
    UNKNOWN_FIELD = "GP1010", "An unknown field of a Karpenter object."
    MISSING_FIELD = "GP1011", "A required field of a Karpenter object is missing."
    FIELD_TYPE = "GP1012", "A field of a Karpenter object has a value of the wrong type."
    FIELD_VALUE = "GP1013", "A field of a Karpenter object has a value that the schema does not allow."
    NULL_FIELD = "GP1014", "A null that `kubectl create` drops and server-side apply rejects."
    TOO_NEW = "GP1016", "A field, value or label key that is newer than the target Karpenter version."
    NO_PODS = "GP1020", "No object that creates pods in the files to fit."
    POD_SPEC = "GP1021", "A part of a pod spec or pod template that Kubernetes can't read."
    PODS_ELSEWHERE = (
        "GP1022",
        "An object whose pods are created from something that its file does not contain.",
    )

    STATIC_POOL_LIMITS = "GP2001", "A NodePool with `replicas` that limits more than `nodes`."
    STATIC_POOL_WEIGHT = "GP2002", "A NodePool with both `replicas` and `weight`."
    HALF_A_WINDOW = "GP2003", "A budget with only one of `schedule` and `duration`."
    RESTRICTED_DOMAIN = "GP2004", "A label or requirement in a domain that is reserved for Karpenter."
    RESERVED_LABEL = "GP2005", "A label or requirement that Karpenter or the kubelet sets itself."
    EMPTY_CLASS_REFERENCE = "GP2006", "An empty group, kind or name in `nodeClassRef`."
    IN_WITHOUT_VALUES = "GP2007", "A requirement with `In` (in a NodeOverlay also `NotIn`) and no values."
    COMPARISON_WITHOUT_NUMBER = (
        "GP2008",
        "A requirement with `Gt`, `Lt`, `Gte` or `Lte` and not exactly one whole number.",
    )
    TOO_FEW_VALUES = "GP2009", "A requirement with fewer values than its `minValues`."
    PRICE_TWICE = "GP2010", "A NodeOverlay with both `price` and `priceAdjustment`."
    OVERLAY_CAPACITY = "GP2011", "A NodeOverlay that sets a resource which every instance type has."
    ROLE_OR_PROFILE = "GP2020", "An EC2NodeClass with both or neither of `role` and `instanceProfile`."
    EMPTY_IDENTITY = "GP2021", "An empty `role` or `instanceProfile`."
    OTHER_FAMILY = "GP2022", "An `amiFamily` that conflicts with the AMI alias."
    NO_FAMILY = "GP2023", "An EC2NodeClass with neither an AMI alias nor `amiFamily`."
    NO_TERMS = "GP2024", "An empty list of selector terms."
    SELECTS_NOTHING = "GP2025", "A selector term without a field that selects."
    MIXED_TERM = "GP2026", "A selector term with fields that exclude each other."
    ALIAS_NOT_ALONE = "GP2027", "An AMI alias beside other AMI terms."
    ALIAS_FORM = "GP2028", "An AMI alias that is not `family@version`."
    ALIAS_FAMILY = "GP2029", "An AMI alias of an unknown family."
    WINDOWS_ALIAS = "GP2030", "A Windows AMI alias with a version other than `latest`."
    EMPTY_TAG = "GP2031", "A tag with an empty key, or an empty value in a selector."
    TWO_ROOT_VOLUMES = "GP2032", "More than one volume with `rootVolume: true`."
    VOLUME_OF_NOTHING = "GP2033", "A volume with neither a size nor a snapshot."
    RATE_WITHOUT_SNAPSHOT = "GP2034", "A `volumeInitializationRate` without a snapshot."
    NO_TIMEOUT = "GP2035", "`connectionTracking` without any timeout."
    IMAGE_THRESHOLDS = "GP2036", "A high image GC threshold of the kubelet that is not above the low one."
    SOFT_EVICTION = "GP2037", "Soft eviction thresholds and grace periods that do not match."
    KUBELET_KEY = "GP2038", "An unknown signal or resource in the kubelet settings."
    NEGATIVE_RESERVE = "GP2039", "A negative amount in `kubeReserved` or `systemReserved`."
    NO_PRIMARY_INTERFACE = "GP2040", "Network interfaces without a primary one."
    INTERFACE_TWICE = (
        "GP2041",
        "Two network interfaces with the same card and device, or several `efa-only` ones on one card.",
    )
    PLACEMENT_GROUP = "GP2042", "A placement group with both or neither of `name` and `id`."
    KARPENTERS_TAG = "GP2043", "A tag that Karpenter sets itself."

    NOT_A_QUALIFIED_NAME = "GP3001", "A label, taint or requirement key that is not a qualified name."
    RESTRICTED_LABEL = "GP3002", "A label that the CRD accepts and Karpenter rejects."
    NOT_A_LABEL_VALUE = "GP3003", "A value that is not a valid label value."
    NO_KNOWN_VALUE = "GP3004", "A requirement with too few values that Karpenter knows."
    TAINT_TWICE = "GP3005", "A duplicate taint: the same key and effect."
    OVERLAY_RESOURCE = "GP3006", "A NodeOverlay that sets a resource which Karpenter counts itself."
    USER_DATA_SIZE = "GP3007", "User data that is larger than EC2 accepts."

    ALIAS_CRASH = "GP4001", "An AMI alias with more than one `@`, which crashes Karpenter."
    ENDLESS_DURATION = "GP4002", "A duration of more than 292 years, which Karpenter can't parse."
    UNREADABLE_QUANTITY = "GP4003", "A quantity that the CRD accepts and Karpenter can't parse."
    UNREADABLE_GRACE = "GP4004", "A grace period that is not a duration."
    UNREADABLE_TIME = "GP4005", "A time that the CRD accepts and Karpenter can't parse."
    RESERVE_CRASH = "GP4006", "A kubelet reserve or eviction threshold that crashes Karpenter."
    DISK_CRASH = "GP4007", "A volume without `ebs` or `deviceName`, which crashes Karpenter."
    NO_SPEC = "GP4008", "An EC2NodeClass without a spec."
    SELECTS_EVERYTHING = (
        "GP4009",
        "A selector term with only empty fields, which selects everything in the region.",
    )
    TAINT_WITH_SLASH = "GP4010", "A taint value with `/`, which keeps nodes from registering."
    BUDGET_OVERFLOW = (
        "GP4011",
        "A budget of more nodes than Karpenter can count, which then allows no disruption.",
    )
    IGNORED_POOL = (
        "GP4012",
        "A reference to a node class that no controller handles, so the NodePool is ignored.",
    )
    NAME_NO_LABEL = "GP4013", "A name that is too long for the node label that Karpenter sets from it."

    CONTRADICTION = "GP5001", "Requirements on one label that conflict; Karpenter reads them as DoesNotExist."
    CPU_TYPES = "GP5002", "A pool for accelerators that also matches instance types without one."
    FRACTIONAL_GPUS = "GP5003", "Instance types with a fraction of a GPU, which count as having none."
    MIXED_ARCHITECTURES = "GP5004", "GPU instance types of both architectures in one pool."
    DEAD_VALUE = "GP5005", "A value that matches no instance type of the pool."
    LIMIT_BELOW_NODE = "GP5006", "A limit that is below a single node of the pool."
    LARGE_TYPE = "GP5007", "A pod for one accelerator that can land on an instance type with many."
    NO_PRICE = "GP5008", "Instance types without a price, which Karpenter does not launch."
    NOTHING_LEFT = "GP5009", "A pool that can't launch a node."
    FEW_SPOT_TYPES = "GP5010", "A spot pool with few instance types."
    SOFT_NODES = "GP5011", "A limit on `nodes` alone, which many pods at once can exceed."
    LIMIT_NOT_REACHED = (
        "GP5013",
        "A limit that is never reached, because of the other limits or the instance types.",
    )
    NOT_JUDGED = "GP5012", "What can't be checked, because the region is unknown or only AWS knows."
    OVERLAY_NOT_COUNTED = (
        "GP5014",
        "A NodeOverlay that is ignored, or whose price is not used everywhere.",
    )
