package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	aws "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	"github.com/aws/karpenter-provider-aws/pkg/providers/instance/filter"
	"github.com/aws/karpenter-provider-aws/pkg/providers/instancetype"
	"github.com/aws/karpenter-provider-aws/pkg/providers/pricing"
	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"
	core "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	provisioning "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

type policies struct {
	MinValuesPolicy  string `json:"minValuesPolicy"`
	PreferencePolicy string `json:"preferencePolicy"`
}

type question struct {
	Op string `json:"op"`
	policies
	NodePool    json.RawMessage   `json:"nodePool"`
	NodeClass   json.RawMessage   `json:"nodeClass"`
	NodePools   []json.RawMessage `json:"nodePools"`
	NodeClasses []json.RawMessage `json:"nodeClasses"`
	// NodeOverlays count with their feature gate on; without any it is off.
	NodeOverlays []json.RawMessage              `json:"nodeOverlays"`
	DaemonSets   []json.RawMessage              `json:"daemonSets"`
	Pods         []json.RawMessage              `json:"pods"`
	Usage        map[string]corev1.ResourceList `json:"usage"`
	// Launch set to false leaves out what happens at launch, which costs half of the time or more.
	Launch *bool `json:"launch"`
}

func (q *question) launches() bool { return q.Launch == nil || *q.Launch }

// endsController is what Karpenter answers by ending its process.
type endsController string

func (e endsController) Error() string { return string(e) }

func ask(world *world, line []byte) (object, error) {
	asked := &question{}
	if err := json.Unmarshal(line, asked); err != nil {
		return nil, err
	}
	lines := []string{}
	ctx := world.context(asked, &lines)
	switch asked.Op {
	case "tables":
		return tables(world), nil
	case "types":
		return describe(ctx, world, asked)
	case "match":
		return match(ctx, world, asked)
	case "overlaid":
		return describeOverlaid(ctx, world, asked)
	case "limits":
		return limits(ctx, world, asked)
	case "solve":
		found, err := solve(ctx, world, asked)
		if err == nil {
			found["log"] = lines
		}
		return found, err
	}
	return nil, fmt.Errorf("unknown op %q", asked.Op)
}

// tables gives Karpenter's static tables: on-demand prices of the region, bandwidths and VPC limits.
func tables(world *world) object {
	fresh := pricing.NewDefaultProvider(nil, nil, world.Region, true)
	prices := map[string]float64{}
	for _, name := range fresh.InstanceTypes() {
		prices[string(name)], _ = fresh.OnDemandPrice(name)
	}
	return object{
		"prices": prices, "bandwidths": instancetype.InstanceTypeBandwidthMegabits, "limits": instancetype.Limits,
	}
}

// describe says what Karpenter knows of every type under the node class.
func describe(ctx context.Context, world *world, asked *question) (object, error) {
	class, err := world.nodeClass(asked.NodeClass)
	if err != nil {
		return nil, err
	}
	found, err := world.list(ctx, class)
	if err != nil {
		return nil, err
	}
	compatible := map[string]bool{}
	for _, each := range found.provider.FilterForNodeClass(ctx, slices.Clone(found.types), class) {
		compatible[each.Name] = true
	}
	written := []object{}
	for _, each := range found.types {
		written = append(written, object{
			"name": each.Name, "requirements": requirements(each.Requirements), "capacity": amounts(each.Capacity),
			"kubeReserved": amounts(each.Overhead.KubeReserved), "systemReserved": amounts(each.Overhead.SystemReserved),
			"evictionThreshold": amounts(each.Overhead.EvictionThreshold), "allocatable": amounts(each.Allocatable()),
			"offerings": offerings(each.Offerings), "compatible": compatible[each.Name],
		})
	}
	return object{"types": written, "amiFamily": class.AMIFamily()}, nil
}

// matched is a pool with the types that the scheduler leaves it before it looks at any pod.
type matched struct {
	pool     *core.NodePool
	class    *aws.EC2NodeClass
	supply   *supply
	template *provisioning.NodeClaimTemplate
	err      error
}

// match makes the template of a pool in the way of NewScheduler: with an empty pod, no requests and no DaemonSets.
func (w *world) match(ctx context.Context, asked *question) (*matched, error) {
	class, err := w.nodeClass(asked.NodeClass)
	if err != nil {
		return nil, err
	}
	pool, err := nodePool(ctx, asked.NodePool)
	if err != nil {
		return nil, err
	}
	supply, err := w.supply(ctx, asked)
	if err != nil {
		return nil, err
	}
	all, err := supply.forScheduling(ctx, class, pool.Name)
	if err != nil {
		return nil, err
	}
	template := provisioning.NewNodeClaimTemplate(pool)
	relax := options.FromContext(ctx).MinValuesPolicy == options.MinValuesPolicyBestEffort
	everyType := []provisioning.DaemonOverheadGroup{{InstanceTypes: all, HostPortUsage: scheduling.NewHostPortUsage()}}
	template.InstanceTypeOptions, _, err = filterByRequirements(all, template.Requirements, &corev1.Pod{}, corev1.ResourceList{}, everyType, corev1.ResourceList{}, relax)
	return &matched{pool: pool, class: class, supply: supply, template: template, err: err}, nil
}

// match says which types a pool may use at all, and what is left of them when a NodeClaim of no pods is launched.
func match(ctx context.Context, world *world, asked *question) (object, error) {
	found, err := world.match(ctx, asked)
	if err != nil {
		return nil, err
	}
	answer := object{
		"types":      names(found.template.InstanceTypeOptions),
		"error":      said(found.err),
		"validation": said(found.pool.DeepCopy().RuntimeValidate(ctx)),
		"launch":     nil,
	}
	if found.err != nil || !asked.launches() {
		return answer, nil
	}
	answer["requirements"] = requirements(found.template.Requirements)
	kept, err := found.template.InstanceTypeOptions.Truncate(ctx, found.template.Requirements, provisioning.MaxInstanceTypes)
	if err != nil {
		answer["launch"] = object{"error": err.Error()}
		return answer, nil
	}
	found.template.InstanceTypeOptions = kept
	answer["launch"], err = launch(ctx, found.supply, found.class, found.template.ToNodeClaim())
	return answer, err
}

// launch says what a NodeClaim asks for, which types survive the launch filters and which of these EC2 is asked for.
func launch(ctx context.Context, supply *supply, class *aws.EC2NodeClass, claim *core.NodeClaim) (object, error) {
	wanted := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	answer := object{
		"requirements": requirements(wanted), "labels": claim.Labels, "requests": amounts(claim.Spec.Resources.Requests),
		"types": []string{}, "survivors": []string{}, "error": nil,
	}
	given, err := supply.forLaunch(ctx, class, claim)
	if err != nil {
		return nil, err
	}
	kept, err := filterForLaunch(nil, ctx, copies(given), claim)
	if err != nil {
		answer["error"] = err.Error()
		return answer, nil
	}
	answer["capacityType"] = capacityTypeForLaunch(claim, kept)
	answer["survivors"] = survivors(copies(given), claim)
	for key, value := range priced(kept, wanted) {
		answer[key] = value
	}
	return answer, nil
}

// survivors runs the launch filters without the cut to 60 types that follows them; the filters change the types they get.
func survivors(kept []*cloudprovider.InstanceType, claim *core.NodeClaim) []string {
	wanted := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	for _, each := range []filter.Filter{
		filter.CompatibleAvailableFilter(wanted, claim.Spec.Resources.Requests), filter.CapacityReservationTypeFilter(wanted),
		filter.CapacityBlockFilter(wanted), filter.ReservedOfferingFilter(wanted),
		filter.ExoticInstanceTypeFilter(wanted), filter.SpotOfferingFilter(wanted),
	} {
		kept, _ = each.FilterReject(kept)
	}
	return names(kept)
}

// limits says which of the matched types fit into what the limits leave, and what the scheduler says when none does.
func limits(ctx context.Context, world *world, asked *question) (object, error) {
	found, err := world.match(ctx, asked)
	if err != nil {
		return nil, err
	}
	cluster, err := newCluster(ctx, world, asked, []json.RawMessage{asked.NodePool}, []json.RawMessage{asked.NodeClass}, nil)
	if err != nil {
		return nil, err
	}
	scheduler, err := cluster.provisioner.NewScheduler(ctx, nil, cluster.state.DeepCopyNodes().Active(), nil, cluster.options(ctx)...)
	if err != nil {
		return nil, err
	}
	remaining := maps.Clone(remainingOf(scheduler)[found.pool.Name])
	results, err := scheduler.Solve(ctx, []*corev1.Pod{undemanding()})
	if err != nil {
		return nil, err
	}
	answer := object{
		"types": []string{}, "error": nil, "remaining": amounts(remaining),
		"exceeded": said(found.pool.Spec.Limits.ExceededBy(cluster.state.NodePoolResourcesFor(found.pool.Name))),
	}
	if len(results.NewNodeClaims) != 0 {
		answer["types"] = names(filterByRemaining(found.template.InstanceTypeOptions, remaining))
	}
	for _, err := range results.PodErrors {
		answer["error"] = err.Error()
	}
	return answer, nil
}

// nodePool reads a pool and gives it the conditions that Karpenter's own controllers would have set.
func nodePool(ctx context.Context, raw json.RawMessage) (*core.NodePool, error) {
	pool := &core.NodePool{}
	if err := decode(raw, pool); err != nil {
		return nil, fmt.Errorf("node pool: %w", err)
	}
	if pool.Name == "" {
		pool.Name = "default"
	}
	if pool.Spec.Template.Spec.NodeClassRef == nil {
		pool.Spec.Template.Spec.NodeClassRef = &core.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	}
	conditions := pool.StatusConditions()
	conditions.SetTrue(core.ConditionTypeNodeClassReady)
	if err := pool.DeepCopy().RuntimeValidate(ctx); err != nil {
		conditions.SetFalse(core.ConditionTypeValidationSucceeded, "NodePoolValidationFailed", err.Error())
	} else {
		conditions.SetTrue(core.ConditionTypeValidationSucceeded)
	}
	return pool, nil
}

// decode reads as Karpenter's informers do: case-sensitive, unknown fields ignored.
func decode(raw json.RawMessage, into any) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(raw, into)
}

// recorded takes what Karpenter logs at level info and above.
func recorded(lines *[]string) logr.Logger {
	return funcr.New(func(_, text string) { *lines = append(*lines, text) }, funcr.Options{})
}
