"""GPU node pools for Karpenter on EKS from one typed blueprint.

The flow is a sentence: blueprint files are *loaded*, *expanded* with profiles and defaults, and
*rendered* to Kubernetes objects and Helm values.

    files ─load→ LoadedBlueprint ─expand→ Expanded ─render→ Rendered ─write→ folder
                                                            Rendered ─prepare→ Plan ─carry out→ Result
"""
