"""GPU node pools for Karpenter on EKS from one typed blueprint."""
