"""Resource and eviction signal names in kubelet settings."""

from typing import Literal, TypeAlias

ReservedResource: TypeAlias = Literal["cpu", "memory", "ephemeral-storage", "pid"]
EvictionSignal: TypeAlias = Literal[
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "pid.available",
]
