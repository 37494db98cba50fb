"""Kubeconfigs for the real server, whole and broken."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.rig.access import Access

Config = dict[str, Any]
Change = Callable[[Config], object]


def config(access: Access) -> Config:
    """Return the kubeconfig of a user, as its file says it."""
    user = {"name": access.user, "user": {"token": access.token}}
    cluster = {"server": access.url, "certificate-authority": str(access.authority)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "rig",
        "contexts": [{"name": "rig", "context": {"cluster": "rig", "user": access.user}}],
        "clusters": [{"name": "rig", "cluster": cluster}],
        "users": [user],
    }


def written(file: str, found: Config) -> str:
    """Write a kubeconfig, and give its name."""
    Path(file).write_text(json.dumps(found), "utf-8")
    return file


def plugin(found: Config, command: str, *arguments: str, version: str = "v1") -> Config:
    """Let a plugin make the token."""
    found["users"][0]["user"] = {
        "exec": {
            "apiVersion": f"client.authentication.k8s.io/{version}",
            "command": command,
            "args": [*arguments],
            "env": [{"name": "FOR_THE_PLUGIN", "value": "yes"}],
            "interactiveMode": "Never",
        }
    }
    return found


def script(name: str, text: str) -> str:
    """Write a program, and give its path."""
    path = Path(name).absolute()
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(0o700)
    return str(path)


def credential(token: str, **status: str) -> str:
    """Return what a plugin prints."""
    said = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": token, **status},
    }
    return json.dumps(said)
