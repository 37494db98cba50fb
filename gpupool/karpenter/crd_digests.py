"""Digests of the CRDs of each Karpenter minor; `python -m tests.karpenter.digests` writes them."""

from typing import Final

STRUCTURES: Final[dict[str, dict[str, str]]] = {
    "capacitybuffers.autoscaling.x-k8s.io": {
        "1.14": "89e99a41ef627d016ad5bbfac024a8cbc376bbeacddb59041f0a556f9bfefba8",
    },
    "ec2nodeclasses.karpenter.k8s.aws": {
        "1.9": "47920c8387f897ef810ebda1d7b1642d80df97291e16aa22b1871e8f750b073e",
        "1.10": "9136236111941035eb6fd27acff7db5f9d87c82e7f4c971b8e34a8634090934c",
        "1.11": "0e58efe538124bcab8fc80188937bbe70b5e9d6ffe8194741ba2d7a95b5d496c",
        "1.12": "0e58efe538124bcab8fc80188937bbe70b5e9d6ffe8194741ba2d7a95b5d496c",
        "1.13": "aabfc7bc29256a2a1f33a8521e48e3f3b0e5a46bd4b5f818591739a8f930e25c",
        "1.14": "aabfc7bc29256a2a1f33a8521e48e3f3b0e5a46bd4b5f818591739a8f930e25c",
    },
    "nodeclaims.karpenter.sh": {
        "1.9": "ffb6ae87b2d5ca022ffec87a0b455be668fb39be36e52508af2895bb86efc156",
        "1.10": "ffb6ae87b2d5ca022ffec87a0b455be668fb39be36e52508af2895bb86efc156",
        "1.11": "ffb6ae87b2d5ca022ffec87a0b455be668fb39be36e52508af2895bb86efc156",
        "1.12": "ffb6ae87b2d5ca022ffec87a0b455be668fb39be36e52508af2895bb86efc156",
        "1.13": "9e17e38c20d3c86657eef6826ccb35dc2ef36b628000b842cb17c6a8956401c0",
        "1.14": "9e17e38c20d3c86657eef6826ccb35dc2ef36b628000b842cb17c6a8956401c0",
    },
    "nodeoverlays.karpenter.sh": {
        "1.9": "2d9911b3ca06cd6196ab5b989ddb95f27a177269a6420559f274904cbfe1d05f",
        "1.10": "2d9911b3ca06cd6196ab5b989ddb95f27a177269a6420559f274904cbfe1d05f",
        "1.11": "2d9911b3ca06cd6196ab5b989ddb95f27a177269a6420559f274904cbfe1d05f",
        "1.12": "2d9911b3ca06cd6196ab5b989ddb95f27a177269a6420559f274904cbfe1d05f",
        "1.13": "e3e0fe953200da2c984d7ae86394fd7ce0d0eaee57d6333b6ed316ef477a535b",
        "1.14": "e3e0fe953200da2c984d7ae86394fd7ce0d0eaee57d6333b6ed316ef477a535b",
    },
    "nodepools.karpenter.sh": {
        "1.9": "7e58d4b76cd9b243e3312feda908733c74841c13087f16e459b755d3fe4a3963",
        "1.10": "7e58d4b76cd9b243e3312feda908733c74841c13087f16e459b755d3fe4a3963",
        "1.11": "7e58d4b76cd9b243e3312feda908733c74841c13087f16e459b755d3fe4a3963",
        "1.12": "7e58d4b76cd9b243e3312feda908733c74841c13087f16e459b755d3fe4a3963",
        "1.13": "9a68828763c7ac71fd5f3fa7a216ab018582c7026e3d83daaeb453f162dbc85a",
        "1.14": "e5cacbced1715d9f044138dcb159cc6bc1010f8e9ff5ba3563cf630db6117648",
    },
}
"""A digest of the fields of each CRD, by its name and the minor of Karpenter."""

WHOLE: Final[dict[str, dict[str, str]]] = {
    "capacitybuffers.autoscaling.x-k8s.io": {
        "1.14": "33c50c3366a614ddd1863521de7aa2dd7cee56a5c56944e1c0396703b8fd935e",
    },
    "ec2nodeclasses.karpenter.k8s.aws": {
        "1.9": "e99592a08e299d0997b6f9b64718840b2d521978d761738361c5d52f7f297dca",
        "1.14": "3261509b5c94e860b5a1bd94a8be67409245ea488d08e247f357b9de762cd71e",
    },
    "nodeclaims.karpenter.sh": {
        "1.9": "5cc32d93495302930f34cb736bfdf33bfbbd20e67d985a387400d2d3addf07b8",
        "1.14": "d0d718b784f091faea5ec2ca35e6201c04968a5fe337296b9f16de3f4ec5c61f",
    },
    "nodeoverlays.karpenter.sh": {
        "1.9": "406a251332f668ab538680b132ee7b4d363a1d6aac8dec2c317d4a1b19674f32",
        "1.14": "6cdabe4ab8fd9a12e7e8cfb0a305852e23b7d16c46b68c92413d54fbc58c7497",
    },
    "nodepools.karpenter.sh": {
        "1.9": "2cadfb74eece2680ea395c17c2409cab07d7d66c82c8187de3fe733b17ac5085",
        "1.14": "6ce794a81300a8304895d06a919331998698c49f9c0ff9141cb2802df04f1af0",
    },
}
"""The same with the rules, as Karpenter for AWS ships them, for the minors with an available release."""
