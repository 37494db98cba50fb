"""What Karpenter would say of classes and pools, said as soon as they are there."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from tests.rig.client import Client
from tests.rig.server import ApiServer
from tests.server import statuses

_PAUSE: Final = 0.05
READY = ""
Word = str
"""Why an object is not Ready; nothing for one that is."""

CONDITION: Final = {"EC2NodeClass": "SubnetsReady", "NodePool": "ValidationSucceeded"}


class Karpenter:
    """A writer of statuses; what no word is there for is not looked at."""

    def __init__(self, client: Client, words: Mapping[str, Word]) -> None:
        self.words = dict(words)
        self.seen: list[tuple[str, Sequence[str]]] = []
        """What it said something of, in order, and which objects there were then."""

        self._client = client
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self._said: set[tuple[str, int, Word]] = set()

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._done.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._done.wait(_PAUSE):
            found = {
                f"{kind}/{each['metadata']['name']}": each["metadata"]["generation"]
                for kind in CONDITION
                for each in self._client.request("GET", statuses.SERVED[kind]).body["items"]
            }
            for address, generation in found.items():
                word = self.words.get(address)
                if word is not None and (address, generation, word) not in self._said:
                    self._said.add((address, generation, word))
                    self.seen.append((address, sorted(found)))
                    self._say(address, word)

    def _say(self, address: str, word: Word) -> None:
        kind, _, name = address.partition("/")
        if word:
            statuses.fail(self._client, kind, name, CONDITION[kind], "NotFound", word)
        else:
            statuses.make_ready(self._client, name, kinds=[kind])


@contextmanager
def karpenter(server: ApiServer, words: Mapping[str, Word]) -> Iterator[Karpenter]:
    """Say of objects what there is to say, while the block runs."""
    with Client(server.access) as client:
        found = Karpenter(client, words)
        found.start()
        try:
            yield found
        finally:
            found.end()
