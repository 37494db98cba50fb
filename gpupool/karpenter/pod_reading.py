"""Pod spec reader: what a scheduler reads from a pod spec, with a finding for each mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.codes import Code
from gpupool.findings import Finding
from gpupool.karpenter.pod_requests import Container, RequestsAndLimits, sum_pod_requests
from gpupool.karpenter.pods import Expression, HostPort, Pod, Resources, Term, Toleration
from gpupool.karpenter.quantities import Amount, parse_amount
from gpupool.yamlio.located import Located, find, items, mapping, place, text_at
from gpupool.yamlio.scalars import quote_value

if TYPE_CHECKING:
    from collections.abc import Iterator

_ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - the default of Kubernetes
_DEFAULT_SCHEDULER = "default-scheduler"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_ONE_NUMBER = ("Gt", "Lt")
_WITH_VALUES = ("In", "NotIn")
_OPERATORS = (*_WITH_VALUES, "Exists", "DoesNotExist", *_ONE_NUMBER)
_TOLERATIONS = ("", "Equal", "Exists", "Lt", "Gt")
_EFFECTS = ("", "NoSchedule", "PreferNoSchedule", "NoExecute")
_LOCATED_KEYS = ("nodeSelector", "affinity", "tolerations", "containers", "resourceClaims", "nodeName")


class PodRead(NamedTuple):
    """A pod that was read, and the mistakes in its spec."""

    pod: Pod | None
    """None where a mistake leaves open what the pod requests."""

    findings: tuple[Finding, ...]


def read_pod(spec: Located, path: str, label: str) -> PodRead:
    """Read the pod spec at `path` of the object `label`."""
    reader = _Reader(path, label)
    pod = reader.read(spec)
    return PodRead(None if reader.findings else pod, tuple(reader.findings))


class _Reader:
    """Reads the parts of one pod spec and collects findings about them."""

    def __init__(self, path: str, label: str) -> None:
        self.findings: list[Finding] = []
        self._path = path
        self._label = label

    def read(self, spec: Located) -> Pod:
        """Read the whole pod spec."""
        containers = find(spec, "containers")
        if not self._read_maps(containers, "containers") and not self.findings:
            self._reject(containers or spec, "containers", "a list with at least one container")
        affinity = find(spec, "affinity", "nodeAffinity")
        return Pod(
            requests=self._read_requests(spec),
            tolerations=tuple(self._read_tolerations(spec)),
            node_selector=self._read_texts(find(spec, "nodeSelector"), "nodeSelector"),
            required=tuple(self._read_required(affinity)),
            preferred=tuple(self._read_preferred(affinity)),
            host_ports=tuple(self._read_host_ports(spec)),
            claims_devices=_has_device_claims(spec),
            selects_by_field=_has_field_selectors(affinity),
            node_name=text_at(spec, "nodeName"),
            not_judged=tuple(_list_not_judged(spec)),
            places={key: place(part) for key in _LOCATED_KEYS if (part := find(spec, key)) is not None},
        )

    def _read_requests(self, spec: Located) -> Resources:
        containers = [
            self._read_container(container, f"containers[{index}]")
            for index, container in enumerate(items(find(spec, "containers")))
        ]
        init_containers = self._read_maps(find(spec, "initContainers"), "initContainers")
        init_requests = [
            self._read_container(container, f"initContainers[{index}]")
            for index, container in enumerate(init_containers)
        ]
        overhead = self._read_amounts(find(spec, "overhead"), "overhead")
        return sum_pod_requests(
            containers, init_requests, self._read_requests_and_limits(spec, "resources"), overhead
        )

    def _read_container(self, node: Located, path: str) -> Container:
        return Container(
            self._read_requests_and_limits(node, f"{path}.resources"),
            is_sidecar=text_at(node, "restartPolicy") == "Always",
        )

    def _read_requests_and_limits(self, node: Located, path: str) -> RequestsAndLimits:
        resources = find(node, "resources")
        if resources is not None and resources.value is not None and not isinstance(resources.value, dict):
            self._reject(resources, path, "a map with `requests` and `limits`")
        return RequestsAndLimits(
            self._read_amounts(find(resources, "requests"), f"{path}.requests"),
            self._read_amounts(find(resources, "limits"), f"{path}.limits"),
        )

    def _read_amounts(self, node: Located | None, path: str) -> Resources:
        amounts = {}
        for name, entry in self._read_entries(node, path).items():
            quantity = _read_amount(entry)
            if quantity is None:
                self._reject(entry, f"{path}.{name}", "a quantity such as 4, 500m or 64Gi")
            elif quantity < 0:
                self._reject(entry, f"{path}.{name}", "a quantity that is not negative")
            else:
                amounts[name] = quantity
        return amounts

    def _read_tolerations(self, spec: Located) -> Iterator[Toleration]:
        for index, toleration in enumerate(self._read_maps(find(spec, "tolerations"), "tolerations")):
            path = f"tolerations[{index}]"
            yield Toleration(
                self._read_text(toleration, "key", path),
                self._read_choice(toleration, "operator", path, _TOLERATIONS),
                self._read_text(toleration, "value", path),
                self._read_choice(toleration, "effect", path, _EFFECTS),
            )

    def _read_required(self, affinity: Located | None) -> Iterator[Term]:
        path = f"affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
        for index, term in enumerate(self._read_maps(find(affinity, _REQUIRED, "nodeSelectorTerms"), path)):
            yield self._read_term(term, f"{path}[{index}]")

    def _read_preferred(self, affinity: Located | None) -> Iterator[Term]:
        path = f"affinity.nodeAffinity.{_PREFERRED}"
        weighted_terms = []
        for index, preference in enumerate(self._read_maps(find(affinity, _PREFERRED), path)):
            weight = find(preference, "weight")
            if weight is None or type(weight.value) is not int:
                self._reject(weight or preference, f"{path}[{index}].weight", "a whole number from 1 to 100")
                continue
            term = find(preference, "preference")
            weighted_terms.append(
                (weight.value, self._read_term(term, f"{path}[{index}].preference") if term else ())
            )
        yield from (term for _, term in sorted(weighted_terms, key=lambda pair: -pair[0]))

    def _read_term(self, node: Located, path: str) -> Term:
        path = f"{path}.matchExpressions"
        expressions = self._read_maps(find(node, "matchExpressions"), path)
        return tuple(
            self._read_expression(expression, f"{path}[{index}]")
            for index, expression in enumerate(expressions)
        )

    def _read_expression(self, node: Located, path: str) -> Expression:
        operator = self._read_choice(node, "operator", path, _OPERATORS)
        listed = find(node, "values")
        values = tuple(self._read_text_of(value, f"{path}.values") for value in items(listed))
        if not text_at(node, "key"):
            self._reject(find(node, "key") or node, f"{path}.key", "the key of a label")
        if operator in _WITH_VALUES and not values:
            self._reject(listed or node, f"{path}.values", f"a list of values for {operator}")
        if operator in _ONE_NUMBER and len(values) != 1:
            self._reject(listed or node, f"{path}.values", f"one number in quotes for {operator}")
        return Expression(text_at(node, "key"), operator, values)

    def _read_host_ports(self, spec: Located) -> Iterator[HostPort]:
        """Yield the node's ports that the containers use: with `hostNetwork`, all container ports."""
        host_network = find(spec, "hostNetwork")
        for index, container in enumerate(items(find(spec, "containers"))):
            path = f"containers[{index}].ports"
            for port in self._read_maps(find(container, "ports"), path):
                number = _read_number(find(port, "hostPort"))
                if not number and host_network is not None and host_network.value is True:
                    number = _read_number(find(port, "containerPort"))
                if number:
                    address = text_at(port, "hostIP") or _ANY_ADDRESS
                    yield HostPort(address, number, text_at(port, "protocol") or "TCP")

    def _read_maps(self, node: Located | None, path: str) -> list[Located]:
        """Return the maps in a list, with a finding for each other item."""
        if node is None or node.value is None:
            return []
        if not isinstance(node.value, list):
            self._reject(node, path, "a list")
            return []
        for index, item in enumerate(node.value):
            if not isinstance(item.value, dict):
                self._reject(item, f"{path}[{index}]", "a map")
        return node.value

    def _read_entries(self, node: Located | None, path: str) -> dict[str, Located]:
        if node is None or node.value is None:
            return {}
        if not isinstance(node.value, dict):
            self._reject(node, path, "a map")
        return {key: value for key, value in mapping(node).items() if value.value is not None}

    def _read_texts(self, node: Located | None, path: str) -> dict[str, str]:
        entries = self._read_entries(node, path)
        return {key: self._read_text_of(value, f"{path}.{key}") for key, value in entries.items()}

    def _read_text(self, node: Located, key: str, path: str) -> str:
        value = find(node, key)
        return "" if value is None or value.value is None else self._read_text_of(value, f"{path}.{key}")

    def _read_text_of(self, node: Located, path: str) -> str:
        if isinstance(node.value, str):
            return node.value
        self._reject(node, path, "a string; put it in quotes" if _is_scalar(node) else "a string")
        return ""

    def _read_choice(self, node: Located, key: str, path: str, choices: tuple[str, ...]) -> str:
        text = self._read_text(node, key, path)
        if text not in choices:
            listed = ", ".join(choice for choice in choices if choice)
            self._reject(find(node, key) or node, f"{path}.{key}", f"one of {listed}")
        return text

    def _reject(self, node: Located, path: str, requirement: str) -> None:
        value = quote_value(node.value) if isinstance(node.value, str) else (node.text or str(node.value))
        prefix = f"{value} must be" if isinstance(node.value, str) or _is_scalar(node) else "must be"
        finding = Finding(
            Code.POD_SPEC,
            f"`{path}`: {prefix} {requirement}",
            place(node),
            path=f"{self._path}.{path}",
            object=self._label,
        )
        self.findings.append(finding)


def _read_amount(node: Located) -> Amount | None:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return (
            value
            if isinstance(value, int)
            else parse_amount(value if isinstance(value, str) else repr(value))
        )
    except (ValueError, ArithmeticError):
        return None


def _read_number(node: Located | None) -> int:
    return node.value if node is not None and type(node.value) is int else 0


def _is_scalar(node: Located) -> bool:
    return isinstance(node.value, bool | int | float)


def _has_device_claims(spec: Located) -> bool:
    """Return whether the pod requests devices with claims, by Karpenter's own check."""
    containers = [*items(find(spec, "initContainers")), *items(find(spec, "containers"))]
    return any(items(find(container, "resources", "claims")) for container in containers) or bool(
        items(find(spec, "resourceClaims"))
    )


def _has_field_selectors(affinity: Located | None) -> bool:
    terms = items(find(affinity, _REQUIRED, "nodeSelectorTerms"))
    return any(items(find(term, "matchFields")) for term in terms)


def _list_not_judged(spec: Located) -> Iterator[str]:
    """Yield the requests of a pod that can't be judged from files."""
    for key, noun in (("podAffinity", "pod affinity"), ("podAntiAffinity", "pod anti-affinity")):
        if mapping(find(spec, "affinity", key)):
            yield f"{noun} (other pods are not known)"
    if items(find(spec, "topologySpreadConstraints")):
        yield "topology spread (other pods are not known)"
    if any(
        mapping(volume).keys() & {"persistentVolumeClaim", "ephemeral"}
        for volume in items(find(spec, "volumes"))
    ):
        yield "the zones of its volumes"
    name = text_at(spec, "runtimeClassName")
    if name and find(spec, "overhead") is None:
        yield f"what RuntimeClass {quote_value(name)} adds (overhead, selector, tolerations)"
    scheduler = text_at(spec, "schedulerName")
    if scheduler not in ("", _DEFAULT_SCHEDULER):
        yield f"what scheduler {quote_value(scheduler)} requires"
    if items(find(spec, "schedulingGates")):
        yield "its scheduling gates, which block it until they are removed"
