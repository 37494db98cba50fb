"""The device plugin's real chart takes the kind of values we write, and the API server takes what comes out."""

from typing import Any

import pytest

from tests.rig.charts import DEVICE_PLUGIN, HelmTemplate
from tests.rig.errors import RigError
from tests.rig.server import ApiServer
from tests.server.objects import as_yaml

VALUES = """\
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
        - matchExpressions:
            - {key: karpenter.sh/nodepool, operator: In, values: [a, b]}
tolerations:
  - {key: CriticalAddonsOnly, operator: Exists}
  - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
config:
  default: default
  map:
    default: |
      version: v1
    shared-4: |
      version: v1
      sharing:
        timeSlicing:
          resources:
            - {name: nvidia.com/gpu, replicas: 4}
"""


def test_our_affinity_replaces_the_charts_own(helm_template: HelmTemplate) -> None:
    pod = _plugin(helm_template(DEVICE_PLUGIN, VALUES))["spec"]["template"]["spec"]

    (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert term == {
        "matchExpressions": [{"key": "karpenter.sh/nodepool", "operator": "In", "values": ["a", "b"]}]
    }
    assert pod["tolerations"] == [
        {"key": "CriticalAddonsOnly", "operator": "Exists"},
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
    ]


def test_our_sharing_reaches_the_plugin(helm_template: HelmTemplate) -> None:
    objects = helm_template(DEVICE_PLUGIN, VALUES)

    (config,) = (each for each in objects if each["kind"] == "ConfigMap")
    assert set(config["data"]) == {"default", "shared-4"}
    assert "replicas: 4" in config["data"]["shared-4"]
    volumes = _plugin(objects)["spec"]["template"]["spec"]["volumes"]
    assert config["metadata"]["name"] in [each.get("configMap", {}).get("name") for each in volumes]


def test_server_accepts_everything_the_chart_renders(
    api_server: ApiServer, helm_template: HelmTemplate
) -> None:
    objects = helm_template(DEVICE_PLUGIN, VALUES)
    answers = [(each["kind"], api_server.dry_run(as_yaml(each)).message) for each in objects]

    assert [answer for answer in answers if answer[1]] == []
    assert ("DaemonSet", "") in answers


def test_server_refuses_what_bad_values_render(api_server: ApiServer, helm_template: HelmTemplate) -> None:
    misspelt = VALUES.replace("operator: Exists, effect", "operator: Exist, effect")

    verdict = api_server.dry_run(as_yaml(_plugin(helm_template(DEVICE_PLUGIN, misspelt))))

    assert [cause.field for cause in verdict.causes] == ["spec.template.spec.tolerations[1].operator"]


def test_values_that_are_no_yaml_are_refused_by_helm(helm_template: HelmTemplate) -> None:
    with pytest.raises(RigError, match="yaml"):
        helm_template(DEVICE_PLUGIN, "affinity: [")


def _plugin(objects: list[dict[str, Any]]) -> dict[str, Any]:
    # The chart also renders a DaemonSet for MPS, on nodes that ask for it by a label.
    (found,) = (
        each for each in objects if each["kind"] == "DaemonSet" and "mps" not in each["metadata"]["name"]
    )
    return found
