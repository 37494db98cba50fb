"""What the API server and Karpenter's controller say of an object, worked out without either."""
