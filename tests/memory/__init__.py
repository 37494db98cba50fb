"""An API server in memory, for tests of what `gpupool.rollout` decides.

It answers what gpupool asks of a server: lists, reads, creations, replacements, merge patches, server-side apply and
deletions of Karpenter's objects, ConfigMaps and Leases. Decisions are tested on it by thousands of cases in seconds;
`tests/server/test_memory_server.py` compares it with a real kube-apiserver step by step.

Not there, because nothing that is tested on it depends on it: rights (a test answers 403 with a `MemoryServer.hooks`
entry), CEL rules, admission, several API versions of one kind, watches (gpupool lists again instead), label selectors,
collections that are deleted at once, and garbage collection of what an owner leaves. A request for one of these raises
`NotFakedError` instead of an answer.
"""
