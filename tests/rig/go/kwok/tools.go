//go:build tools

// Package tools names the program that is built: Karpenter with a simulated EC2 behind it.
package tools

import _ "github.com/aws/karpenter-provider-aws/kwok"
