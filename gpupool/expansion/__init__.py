"""From words to Karpenter's terms: every default filled, every tier spelled out, every source kept."""
