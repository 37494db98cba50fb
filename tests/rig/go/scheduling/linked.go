package main

import (
	"context"
	"reflect"
	"unsafe"

	"github.com/aws/karpenter-provider-aws/pkg/providers/instance"
	"github.com/aws/karpenter-provider-aws/pkg/providers/instancetype"
	"github.com/aws/karpenter-provider-aws/pkg/providers/instancetype/offering"
	corev1 "k8s.io/api/core/v1"
	core "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	provisioning "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// Karpenter does not export these. The empty linked.s lets Go accept functions without a body.

//go:linkname filterByRequirements sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling.filterInstanceTypesByRequirements
func filterByRequirements(types []*cloudprovider.InstanceType, requirements scheduling.Requirements, pod *corev1.Pod, podRequests corev1.ResourceList, daemons []provisioning.DaemonOverheadGroup, totalRequests corev1.ResourceList, relaxMinValues bool) (cloudprovider.InstanceTypes, map[string]int, error)

//go:linkname filterByRemaining sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling.filterByRemainingResources
func filterByRemaining(types []*cloudprovider.InstanceType, remaining corev1.ResourceList) []*cloudprovider.InstanceType

//go:linkname filterForLaunch github.com/aws/karpenter-provider-aws/pkg/providers/instance.(*DefaultProvider).filterInstanceTypes
func filterForLaunch(provider *instance.DefaultProvider, ctx context.Context, types []*cloudprovider.InstanceType, claim *core.NodeClaim) ([]*cloudprovider.InstanceType, error)

//go:linkname capacityTypeForLaunch github.com/aws/karpenter-provider-aws/pkg/providers/instance.getCapacityType
func capacityTypeForLaunch(claim *core.NodeClaim, types []*cloudprovider.InstanceType) string

// remainingOf gives what the limits of each pool leave: the scheduler's own record, which Solve goes on changing.
func remainingOf(scheduler *provisioning.Scheduler) map[string]corev1.ResourceList {
	field := reflect.ValueOf(scheduler).Elem().FieldByName("remainingResources")
	return *(*map[string]corev1.ResourceList)(unsafe.Pointer(field.UnsafeAddr()))
}

// offeringsOf gives the provider's own provider of offerings, which keeps the prices of overlays for a while.
func offeringsOf(provider *instancetype.DefaultProvider) *offering.DefaultProvider {
	field := reflect.ValueOf(provider).Elem().FieldByName("offeringProvider")
	return *(**offering.DefaultProvider)(unsafe.Pointer(field.UnsafeAddr()))
}
