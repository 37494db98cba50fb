package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/pod"
)

// solve runs the provisioner's Schedule over the pools and pods, and then the launch filters on each NodeClaim it wants.
func solve(ctx context.Context, world *world, asked *question) (object, error) {
	cluster, err := newCluster(ctx, world, asked, asked.NodePools, asked.NodeClasses, asked.Pods)
	if err != nil {
		return nil, err
	}
	results, err := cluster.provisioner.Schedule(ctx)
	if err != nil {
		return nil, err
	}
	claims, claimOf := []object{}, map[types.UID]int{}
	for at, each := range results.NewNodeClaims {
		for _, placed := range each.Pods {
			claimOf[placed.UID] = at
		}
		written, err := cluster.claim(ctx, each, asked.launches())
		if err != nil {
			return nil, err
		}
		claims = append(claims, written)
	}
	invalid := object{}
	for name, pool := range cluster.pools {
		if err := pool.DeepCopy().RuntimeValidate(ctx); err != nil {
			invalid[name] = err.Error()
		}
	}
	return object{"pods": cluster.verdicts(ctx, results, claimOf), "nodeClaims": claims, "invalid": invalid}, nil
}

// verdicts says of each pod, in the order of the question, which NodeClaim takes it or why none does.
func (c *cluster) verdicts(ctx context.Context, results scheduling.Results, claimOf map[types.UID]int) []object {
	failed := map[types.UID]error{}
	for each, err := range results.PodErrors {
		failed[each.UID] = err
	}
	found := []object{}
	for _, each := range c.pods {
		verdict := object{"nodeClaim": nil, "error": nil}
		at, placed := claimOf[each.UID]
		switch err := failed[each.UID]; {
		case placed:
			verdict["nodeClaim"] = at
		case err != nil:
			verdict["error"] = err.Error()
		default:
			verdict["error"] = c.ignored(ctx, each)
		}
		found = append(found, verdict)
	}
	return found
}

// ignored says why Schedule passed a pod over.
func (c *cluster) ignored(ctx context.Context, each *corev1.Pod) string {
	if !pod.IsProvisionable(each) {
		return "not provisionable"
	}
	if err := c.provisioner.Validate(ctx, each); err != nil {
		return fmt.Sprintf("ignoring pod, %s", err)
	}
	return "no dynamic nodepools found"
}

// claim says which types a NodeClaim would be launched with, at first and after the launch filters.
func (c *cluster) claim(ctx context.Context, each *scheduling.NodeClaim, launches bool) (object, error) {
	pool := c.pools[each.NodePoolName]
	answer := priced(each.InstanceTypeOptions, each.Requirements)
	answer["nodePool"] = pool.Name
	answer["pods"] = len(each.Pods)
	answer["exceeded"] = said(pool.Spec.Limits.ExceededBy(c.state.NodePoolResourcesFor(pool.Name)))
	answer["minValuesRelaxed"] = each.Annotations["karpenter.sh/nodeclaim-min-values-relaxed"] == "true"
	answer["requests"] = amounts(each.Spec.Resources.Requests)
	answer["launch"] = nil
	if !launches {
		return answer, nil
	}
	written := each.ToNodeClaim()
	found, err := launch(ctx, c.supply, c.classes[pool.Spec.Template.Spec.NodeClassRef.Name], written)
	answer["launch"] = found
	return answer, err
}
