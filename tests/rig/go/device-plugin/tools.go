//go:build tools

// Package tools names a package of the module that carries the device plugin's Helm chart.
package tools

import _ "github.com/NVIDIA/k8s-device-plugin/api/config/v1"
