"""An AWS account to ask: moto's server on loopback, with a price list beside it.

Moto is imported where it is used: it takes a second, which every worker would spend while it collects the tests.
"""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def aws() -> Iterator[str]:
    """The address of moto's server."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def few_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let moto list one family, as to list all takes it seconds; for tests that are about something else."""
    from moto.ec2.models.instance_types import InstanceTypeBackend

    family = [each for each in InstanceTypeBackend.instance_types if each["InstanceType"].startswith("g6.")]
    assert family
    monkeypatch.setattr(InstanceTypeBackend, "instance_types", family)


@dataclass
class PriceList:
    """A price list that answers what it is told to, and remembers what it was asked."""

    address: str = ""
    pages: dict[str, list[list[str]]] = field(default_factory=dict)
    """By product family, the entries of each page."""

    refusal: tuple[int, str] | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)


@pytest.fixture
def price_list() -> Iterator[PriceList]:
    """A price list; moto has none."""
    prices = PriceList()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _answering(prices))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    prices.address = f"http://127.0.0.1:{server.server_port}"
    yield prices
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def account(aws: str, price_list: PriceList, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> PriceList:
    """An environment in which boto3 asks the servers of the test and knows nothing of this machine's user."""
    settings = {
        "AWS_ENDPOINT_URL": aws,
        "AWS_ENDPOINT_URL_PRICING": price_list.address,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_CONFIG_FILE": str(tmp_path / "no-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "no-credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "AWS_MAX_ATTEMPTS": "1",
        "NO_PROXY": "127.0.0.1",
    }
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    return price_list


def entry(name: str, price: str, unit: str = "USD") -> str:
    """An entry of a price list."""
    dimensions = {"sku.term.rate": {"unit": "Hrs", "pricePerUnit": {unit: price}}}
    return json.dumps(
        {
            "product": {"attributes": {"instanceType": name, "operatingSystem": "Linux"}},
            "terms": {"OnDemand": {"sku.term": {"priceDimensions": dimensions}}},
        }
    )


def _answering(prices: PriceList) -> type[BaseHTTPRequestHandler]:
    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prices.asked.append(asked)
            if prices.refusal is not None:
                code, kind = prices.refusal
                self._answer(code, {"__type": kind, "message": "no"})
                return
            family = next(each["Value"] for each in asked["Filters"] if each["Field"] == "productFamily")
            pages = prices.pages.get(family, [[]])
            page = int(asked.get("NextToken", "0"))
            more = {"NextToken": str(page + 1)} if page + 1 < len(pages) else {}
            self._answer(200, {"FormatVersion": "aws_v1", "PriceList": pages[page], **more})

        def _answer(self, code: int, content: dict[str, Any]) -> None:
            body = json.dumps(content).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - its parent's name
            """Say nothing."""

    return Answering
