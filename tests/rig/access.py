"""How a client reaches the API server: address, certificate, tokens, as values and as kubeconfig files."""

import json
import ssl
from dataclasses import dataclass
from http.client import HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit

ADMIN = "admin"
NOBODY = "nobody"
TIMEOUT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Access:
    """One user's way to one server."""

    url: str
    authority: Path
    """PEM file of the certificate that signs the server's own."""

    user: str
    token: str

    def connection(self) -> HTTPSConnection:
        """Return a connection to the server that opens with its first request."""
        split = urlsplit(self.url)
        # Not `create_default_context`: its strict mode wants extensions that the server's own certificate lacks.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(self.authority)
        return HTTPSConnection(split.hostname or "", split.port, timeout=TIMEOUT_SECONDS, context=context)

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
