"""gpupool's verdicts on thousands of objects, to be held against those of the API server and of Karpenter."""
