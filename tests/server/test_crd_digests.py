"""The shipped digests of Karpenter's CRDs are those of the CRDs that a real API server stores."""

from copy import deepcopy

from gpupool.cluster.crds import CRDS, digest_crd, digest_structure, find_minors
from gpupool.cluster.resources import NODE_POOL
from gpupool.karpenter.crd_digests import STRUCTURES, WHOLE
from gpupool.karpenter.versions import LATEST, TARGETS
from tests.karpenter import digests
from tests.rig.server import ApiServer, api_server


def test_the_tables_are_what_is_made_anew() -> None:
    with api_server() as server:
        made = digests.tables(server)

    assert made == (STRUCTURES, WHOLE), "write them anew: python -m tests.karpenter.digests"
    assert digests.FILE.read_text("utf-8") == digests.text(*made)


def test_every_minor_that_is_rendered_for_can_be_recognised() -> None:
    each = {crd: [*known] for crd, known in STRUCTURES.items() if not crd.startswith("capacitybuffers.")}

    assert {tuple(known) for known in each.values()} == {TARGETS}
    assert {*each} == {*CRDS} - {"capacitybuffers.autoscaling.x-k8s.io"}


def test_a_word_that_is_a_field_s_name_is_no_description(api_server: ApiServer) -> None:
    """A field may be called `description`, and a rule over it is one."""
    crd = digests.stored(api_server)[NODE_POOL.crd]
    assert find_minors(NODE_POOL.crd, crd)[-1] == LATEST
    described, named = deepcopy(crd), deepcopy(crd)
    described["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = "Another text."
    fields = named["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    fields["description"] = {"type": "string"}

    assert (digest_crd(described), digest_structure(described)) == (digest_crd(crd), digest_structure(crd))
    assert digest_crd(named) != digest_crd(crd)
    assert digest_structure(named) != digest_structure(crd)
