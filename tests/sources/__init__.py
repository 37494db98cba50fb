"""The source documents' Karpenter objects as data, to compare what gpupool renders with them."""
