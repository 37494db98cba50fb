//go:build tools

// Package tools names the program that this module builds, so that go.mod and go.sum hold all it needs.
package tools

import _ "k8s.io/kubernetes/cmd/kubectl"
