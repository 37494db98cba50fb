#!/bin/bash
# Weights are read from a folder that every model server mounts.
mkdir -p /opt/weights
