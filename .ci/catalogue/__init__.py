"""Make the catalogue of instance types that gpupool ships, from ordinary packages."""
