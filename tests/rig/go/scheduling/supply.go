package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	aws "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	awscloud "github.com/aws/karpenter-provider-aws/pkg/cloudprovider"
	"github.com/aws/karpenter-provider-aws/pkg/providers/instancetype"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	core "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/apis/v1alpha1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeoverlay"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
)

// supply gives pools their types as Karpenter's cloud provider does. Without overlays it has neither store nor kube.
type supply struct {
	instancetype.Provider
	world *world
	// store is what Karpenter's overlay controller keeps of valid overlays.
	store *nodeoverlay.InstanceTypeStore
	// kube is where the provider itself looks for overlays with prices; its types are not kept for other questions.
	kube client.Client
	made map[string][]*cloudprovider.InstanceType
}

func overlaid(world *world, kube client.Client) *supply {
	return &supply{world: world, store: nodeoverlay.NewInstanceTypeStore(), kube: kube, made: map[string][]*cloudprovider.InstanceType{}}
}

// supply gives what the pool of a question is supplied by; the question's other pools have a say about overlays.
func (w *world) supply(ctx context.Context, asked *question) (*supply, error) {
	if len(asked.NodeOverlays) == 0 {
		return &supply{world: w}, nil
	}
	pools := append([]json.RawMessage{asked.NodePool}, asked.NodePools...)
	classes := append([]json.RawMessage{asked.NodeClass}, asked.NodeClasses...)
	cluster, err := newCluster(ctx, w, asked, pools, classes, nil)
	if err != nil {
		return nil, err
	}
	return cluster.supply, nil
}

// cloud is the cloud provider that Karpenter's controllers get.
func (s *supply) cloud(kube client.Client) cloudprovider.CloudProvider {
	made := awscloud.New(s, nil, nobody{}, kube, nil, nil, nil, nil, s.store, nil)
	if s.store == nil {
		return made
	}
	return overlay.Decorate(made, kube, s.store)
}

// judge lets Karpenter's controller judge the overlays over all pools: it keeps what valid ones change, and marks all.
// It is given types of before, as the provider takes no price from an overlay that is not marked as valid.
func (s *supply) judge(ctx context.Context, kube client.Client, state *state.Cluster) error {
	if s.store == nil {
		return nil
	}
	before := awscloud.New(&supply{world: s.world}, nil, nobody{}, kube, nil, nil, nil, nil, nil, nil)
	result, err := nodeoverlay.NewController(clock.RealClock{}, kube, before, s.store, state).Reconcile(ctx, reconcile.Request{})
	if err == nil && result.RequeueAfter == 0 {
		return fmt.Errorf("the overlays were not judged")
	}
	return err
}

// List is what Karpenter calls; its callers don't change the types.
func (s *supply) List(ctx context.Context, class instancetype.NodeClass) ([]*cloudprovider.InstanceType, error) {
	named := class.(*aws.EC2NodeClass)
	listed, err := s.world.list(ctx, named)
	if err != nil {
		return nil, err
	}
	if s.kube == nil {
		return slices.Clone(listed.types), nil
	}
	if _, ok := s.made[named.Name]; !ok {
		if s.made[named.Name], err = listed.overlaid(ctx, named, s.kube); err != nil {
			return nil, err
		}
	}
	return slices.Clone(s.made[named.Name]), nil
}

// forScheduling gives the types that the scheduler gets for a pool.
func (s *supply) forScheduling(ctx context.Context, class *aws.EC2NodeClass, pool string) ([]*cloudprovider.InstanceType, error) {
	found, err := s.List(ctx, class)
	if err != nil || s.store == nil {
		return found, err
	}
	return s.store.ApplyAll(pool, found)
}

// forLaunch gives the types that a NodeClaim is launched with, as the provider's Create does.
func (s *supply) forLaunch(ctx context.Context, class *aws.EC2NodeClass, claim *core.NodeClaim) ([]*cloudprovider.InstanceType, error) {
	return s.forScheduling(ctx, class, claim.Labels[core.NodePoolLabelKey])
}

// describeOverlaid says which types overlays change for each pool and how, and what Karpenter says of each overlay.
func describeOverlaid(ctx context.Context, world *world, asked *question) (object, error) {
	cluster, err := newCluster(ctx, world, asked, asked.NodePools, asked.NodeClasses, nil)
	if err != nil {
		return nil, err
	}
	pools := object{}
	for name, pool := range cluster.pools {
		types, err := cluster.supply.cloud(cluster.kube).GetInstanceTypes(ctx, pool)
		if err != nil {
			return nil, err
		}
		class := cluster.classes[pool.Spec.Template.Spec.NodeClassRef.Name]
		before, err := world.list(ctx, class)
		if err != nil {
			return nil, err
		}
		written := []object{}
		for at, each := range types {
			if !changed(before.types[at], each) {
				continue
			}
			written = append(written, object{
				"name": each.Name, "capacity": amounts(each.Capacity), "allocatable": amounts(each.Allocatable()),
				"offerings": offerings(each.Offerings.Available()),
			})
		}
		pools[name] = written
	}
	judged := &v1alpha1.NodeOverlayList{}
	if err := cluster.kube.List(ctx, judged); err != nil {
		return nil, err
	}
	overlays := object{}
	for _, each := range judged.Items {
		said := each.StatusConditions().Get(v1alpha1.ConditionTypeValidationSucceeded)
		overlays[each.Name] = object{"valid": said.IsTrue(), "reason": said.Reason}
	}
	return object{"pools": pools, "overlays": overlays}, nil
}

// changed goes by Karpenter's own marks, and by offerings that are there only for the price that an overlay gives.
func changed(before, after *cloudprovider.InstanceType) bool {
	return after.IsCapacityOverlayApplied() || after.IsPricingOverlayApplied() ||
		len(before.Offerings.Available()) != len(after.Offerings.Available())
}
