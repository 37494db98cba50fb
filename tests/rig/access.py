"""How a client reaches the API server: address, certificate, tokens, as values and as kubeconfig files."""

import json
from dataclasses import dataclass
from pathlib import Path

ADMIN = "admin"
NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Access:
    """One user's way to one server."""

    url: str
    authority: Path
    """PEM file of the certificate that signs the server's own."""

    user: str
    token: str

    def write_kubeconfig(self, file: Path) -> Path:
        """Write the kubeconfig of this user and give its path."""
        text = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "rig",
            "contexts": [{"name": "rig", "context": {"cluster": "rig", "user": self.user}}],
            "clusters": [
                {"name": "rig", "cluster": {"server": self.url, "certificate-authority": str(self.authority)}}
            ],
            "users": [{"name": self.user, "user": {"token": self.token}}],
        }
        file.write_text(json.dumps(text, indent=2))
        return file
