"""A folder with a blueprint, a cluster, gpupool's commands between the two, and other people in the cluster."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from gpupool.cluster.resources import KINDS, KUBE_SYSTEM, config_map_path
from gpupool.planning import file as plans
from gpupool.planning.plan import Plan
from tests.cli.blueprints import TOP
from tests.cli.run import Outcome
from tests.rig.client import Answer
from tests.rig.server import ApiServer
from tests.server import leases, statuses

NAME = "demo"
CHAT = "chat: {profile: inference, accelerator: l4, limits: {gpus: 8}}"
TRAIN = "train: {profile: training, accelerator: h100}"
_CLASS = "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: shared}"
ALONE = f"chat: {{profile: inference, accelerator: l4, nodeClassRef: {_CLASS}, limits: {{gpus: 8}}}}"
"""A pool whose class is not gpupool's."""

MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"
QUICK = ("--wait", "none")
"""For a cluster without Karpenter."""

OWN = (config_map_path("kube-system"), leases.COLLECTION)
"""Where gpupool keeps its inventory and its lock; others keep theirs there as well."""

Body = dict[str, Any]


class Scene:
    """What a test sees and does; the current folder is the blueprint's."""

    def __init__(self, server: ApiServer, run: Callable[..., Outcome]) -> None:
        self.server = server
        self.run = run

    def says(self, *pools: str, head: str = "") -> None:
        """Write the blueprint."""
        listed = "".join(f"  {each}\n" for each in pools)
        Path("gpupool.yaml").write_text(f"{TOP}{head}pools:\n{listed}", "utf-8")

    def rewrite(self, old: str, new: str) -> None:
        """Change one piece of the blueprint, which has to be there."""
        text = Path("gpupool.yaml").read_text("utf-8")
        assert text.count(old) == 1
        Path("gpupool.yaml").write_text(text.replace(old, new), "utf-8")

    def apply(self, *arguments: str) -> Outcome:
        """Apply the blueprint; it has to succeed."""
        said = self.run("apply", *QUICK, "--yes", "--context", "rig", *arguments)
        assert said.code == 0, said.err
        return said

    def plan(self, *arguments: str) -> Plan:
        """Save a plan as plan.json; it has to succeed."""
        said = self.run("plan", "-o", "json=plan.json", *arguments)
        assert said.code == 0, said.err
        return self.saved()

    def saved(self) -> Plan:
        """Read plan.json."""
        return plans.parse_plan(plans.read_contents("plan.json"), "plan.json")

    def resave(self, plan: Plan) -> None:
        """Write plan.json anew, as somebody would who knows how its id is made."""
        Path("plan.json").write_text(plans.render_plan(plans.seal(plan)), "utf-8")

    # Other people.

    def edit(self, address: str, patch: Mapping[str, Any], by: str = "kubectl-edit", sub: str = "") -> None:
        """Change an object as `kubectl edit` and controllers do: by an Update."""
        self._ask("PATCH", f"{self.path(address)}{sub}?fieldManager={by}", patch, MERGE)

    def impose(self, address: str, spec: Mapping[str, Any], by: str) -> None:
        """Change an object by a server-side apply that takes fields over."""
        kind, _, name = address.partition("/")
        body = {
            "apiVersion": KINDS[kind].api_version,
            "kind": kind,
            "metadata": {"name": name},
            "spec": spec,
        }
        self._ask("PATCH", f"{self.path(address)}?fieldManager={by}&force=true", body, APPLY)

    def create(self, text: str | bytes, by: str = "kubectl-create", **labels: str) -> None:
        """Create an object as `kubectl create` does."""
        body = yaml.safe_load(text)
        body["metadata"]["labels"] = {**body["metadata"].get("labels", {}), **labels}
        self._ask("POST", f"{KINDS[body['kind']].path}?fieldManager={by}", body)

    def delete(self, address: str) -> None:
        """Delete an object."""
        self._ask("DELETE", self.path(address))

    def hold(self, address: str) -> None:
        """Delete an object that something holds: it stays, and is about to go."""
        self.edit(address, {"metadata": {"finalizers": ["example.com/hold"]}})
        self.delete(address)

    # What there is.

    def live(self, address: str) -> Body | None:
        """Return an object; None where there is none."""
        answer = self.server.request("GET", self.path(address))
        return answer.body if answer.status == 200 else None

    def there(self, address: str) -> Body:
        """Return an object, which has to be there."""
        found = self.live(address)
        assert found is not None, address
        return found

    def versions(self) -> dict[str, str]:
        """Return the resourceVersion of everything that gpupool could have written."""
        found = [(kind.path, each) for kind in KINDS.values() for each in self._list(kind.path)]
        found += [(path, each) for path in OWN for each in self._own(path)]
        return {f"{path}/{each['name']}": each["resourceVersion"] for path, each in found}

    def inventory(self) -> Body:
        """Return the inventory's data, its lists read."""
        answer = self.server.request("GET", config_map_path("kube-system", f"gpupool-{NAME}"))
        assert answer.status == 200, answer
        return {key: json.loads(text) for key, text in answer.body["data"].items()}

    def listed(self) -> list[str]:
        """Return what the inventory lists."""
        return sorted(f"{each['kind']}/{each['name']}" for each in self.inventory()["current"])

    def uid(self) -> str:
        """Return the uid by which a blueprint knows its cluster."""
        return str(self.server.request("GET", KUBE_SYSTEM).body["metadata"]["uid"])

    def clear(self) -> None:
        """Leave a cluster that gpupool never saw."""
        statuses.delete_all(self.server)
        for path in OWN:
            for each in self._own(path):
                self._ask("DELETE", f"{path}/{each['name']}")

    def path(self, address: str) -> str:
        """Return where an object is."""
        kind, _, name = address.partition("/")
        return KINDS[kind].path_of(name)

    def _list(self, path: str) -> list[Body]:
        return [each["metadata"] for each in self.server.request("GET", path).body["items"]]

    def _own(self, path: str) -> list[Body]:
        return [each for each in self._list(path) if each["name"].startswith("gpupool-")]

    def _ask(
        self, method: str, path: str, body: object = None, content_type: str = "application/json"
    ) -> Answer:
        raw = b"" if body is None else json.dumps(body).encode()
        answer = self.server.request(method, path, raw, content_type)
        assert answer.status < 300, answer
        return answer
