#!/bin/bash
# Keep the kernel's log of GPU errors.
mkdir -p /var/log/gpu
nvidia-smi -L > /var/log/gpu/devices.txt
