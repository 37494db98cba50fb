module gpupool.dev/rig/older

go 1.26.6
