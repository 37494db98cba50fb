//go:build tools

// Package tools names the packages whose modules carry the CRDs that the tests read.
package tools

import (
	_ "github.com/aws/karpenter-provider-aws/pkg/apis"
	_ "sigs.k8s.io/karpenter/pkg/apis"
)
