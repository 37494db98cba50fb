package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	aws "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	awscache "github.com/aws/karpenter-provider-aws/pkg/cache"
	awsoptions "github.com/aws/karpenter-provider-aws/pkg/operator/options"
	"github.com/aws/karpenter-provider-aws/pkg/providers/arczonalshift"
	"github.com/aws/karpenter-provider-aws/pkg/providers/capacityreservation"
	"github.com/aws/karpenter-provider-aws/pkg/providers/instancetype"
	"github.com/aws/karpenter-provider-aws/pkg/providers/pricing"
	"github.com/patrickmn/go-cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/operator/options"
)

// classesKept bounds how many node classes keep their types between questions: each takes about 50 MB.
const classesKept = 6

type zone struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

type setUp struct {
	Region string `json:"region"`
	// Types are items of DescribeInstanceTypes as the API names their fields.
	Types []ec2types.InstanceTypeInfo `json:"types"`
	// Offerings are the zone names that offer a type.
	Offerings map[string][]string `json:"offerings"`
	// Zones get one subnet each in a node class that has none in its status.
	Zones []zone `json:"zones"`
	// Prices stand for on-demand and for spot in every zone; without them Karpenter's own table of the region does.
	Prices map[string]float64 `json:"prices"`
	// Reservations are the free instances of a capacity reservation; one that is not named has one.
	Reservations            map[string]int  `json:"reservations"`
	ReservedENIs            int             `json:"reservedENIs"`
	VMMemoryOverheadPercent *float64        `json:"vmMemoryOverheadPercent"`
	MinValuesPolicy         string          `json:"minValuesPolicy"`
	PreferencePolicy        string          `json:"preferencePolicy"`
	FeatureGates            map[string]bool `json:"featureGates"`
}

// world is what does not change between questions.
type world struct {
	setUp
	prices  pricing.Provider
	classes map[string]*listed
	recent  []string
}

// listed is the provider of a node class and the types it lists, by name: Karpenter's own order is that of a Go map.
type listed struct {
	provider  *instancetype.DefaultProvider
	offerings *cache.Cache
	kube      *later
	types     []*cloudprovider.InstanceType
}

// later is an API server that is named after those who use it are made.
type later struct{ client.Client }

func newWorld(line []byte) (*world, error) {
	w := &world{classes: map[string]*listed{}}
	if err := json.Unmarshal(line, &w.setUp); err != nil {
		return nil, err
	}
	if w.Region == "" || len(w.Types) == 0 || len(w.Offerings) == 0 {
		return nil, fmt.Errorf("region, types and offerings are needed")
	}
	if w.setUp.Prices != nil {
		w.prices = fixedPrices{prices: w.setUp.Prices}
	} else {
		w.prices = pricing.NewDefaultProvider(nil, nil, w.Region, true)
	}
	return w, nil
}

// context gives Karpenter's settings and takes its log into lines.
func (w *world) context(asked *question, lines *[]string) context.Context {
	overhead := 0.075
	if w.VMMemoryOverheadPercent != nil {
		overhead = *w.VMMemoryOverheadPercent
	}
	gates := options.DefaultFeatureGates()
	if value, ok := w.FeatureGates["ReservedCapacity"]; ok {
		gates.ReservedCapacity = value
	}
	gates.NodeOverlay = len(asked.NodeOverlays) != 0
	ctx := log.IntoContext(context.Background(), recorded(lines))
	ctx = options.ToContext(ctx, &options.Options{
		CPURequests:       1000,
		MinValuesPolicy:   options.MinValuesPolicy(first(asked.MinValuesPolicy, w.MinValuesPolicy, "Strict")),
		PreferencePolicy:  options.PreferencePolicy(first(asked.PreferencePolicy, w.PreferencePolicy, "Respect")),
		IgnoreDRARequests: true,
		FeatureGates:      gates,
	})
	return awsoptions.ToContext(ctx, &awsoptions.Options{
		ClusterName:             "oracle",
		VMMemoryOverheadPercent: overhead,
		ReservedENIs:            w.ReservedENIs,
	})
}

// nodeClass reads a node class and gives it the status that Karpenter's own controller would have filled.
func (w *world) nodeClass(raw json.RawMessage) (*aws.EC2NodeClass, error) {
	class := &aws.EC2NodeClass{}
	if err := decode(raw, class); err != nil {
		return nil, fmt.Errorf("node class: %w", err)
	}
	for _, term := range class.Spec.AMISelectorTerms {
		if class.Spec.AMIFamily == nil && term.Alias != "" && strings.Count(term.Alias, "@") != 1 {
			return nil, endsController(fmt.Sprintf("alias %q", term.Alias))
		}
	}
	if class.Name == "" {
		class.Name = "default"
	}
	if class.Status.Subnets == nil {
		for _, zone := range w.Zones {
			class.Status.Subnets = append(class.Status.Subnets, aws.Subnet{ID: "subnet-" + zone.ID, Zone: zone.Name, ZoneID: zone.ID})
		}
	}
	return class, nil
}

// list lists the types under a node class. Each class has a provider of its own: Karpenter's caches leave fields of a
// class out of their keys, so that two classes would mix.
func (w *world) list(ctx context.Context, class *aws.EC2NodeClass) (*listed, error) {
	text, err := json.Marshal([]any{class.Spec, class.Status})
	if err != nil {
		return nil, err
	}
	key := string(text)
	if found, ok := w.classes[key]; ok {
		return found, nil
	}
	made, err := w.newListed(ctx, class)
	if err != nil {
		return nil, err
	}
	if len(w.recent) == classesKept {
		delete(w.classes, w.recent[0])
		w.recent = w.recent[1:]
	}
	w.classes[key] = made
	w.recent = append(w.recent, key)
	return made, nil
}

// newListed lists the types anew, with a provider that looks for NodeOverlays in an API server that comes later.
func (w *world) newListed(ctx context.Context, class *aws.EC2NodeClass) (*listed, error) {
	made := &listed{kube: &later{}, offerings: cache.New(cache.NoExpiration, 0)}
	made.provider = instancetype.NewDefaultProvider(
		cache.New(cache.NoExpiration, 0), made.offerings, cache.New(cache.NoExpiration, 0),
		ec2{setUp: &w.setUp}, nil, w.prices, reservations{free: w.Reservations}, noPlacementGroups{},
		awscache.NewUnavailableOfferings(), instancetype.NewDefaultResolver(w.Region), arczonalshift.NewNoopProvider(), made.kube,
	)
	if err := made.provider.UpdateInstanceTypes(ctx); err != nil {
		return nil, err
	}
	if err := made.provider.UpdateInstanceTypeOfferings(ctx); err != nil {
		return nil, err
	}
	var err error
	made.types, err = made.sorted(withoutOverlays(ctx), class)
	return made, err
}

// overlaid lists the types with the prices that NodeOverlays give to those that have none.
func (l *listed) overlaid(ctx context.Context, class *aws.EC2NodeClass, kube client.Client) ([]*cloudprovider.InstanceType, error) {
	l.kube.Client = kube
	l.offerings.Flush()
	offeringsOf(l.provider).ResetOverlayPrices()
	return l.sorted(ctx, class)
}

func (l *listed) sorted(ctx context.Context, class *aws.EC2NodeClass) ([]*cloudprovider.InstanceType, error) {
	types, err := l.provider.List(ctx, class)
	slices.SortFunc(types, func(a, b *cloudprovider.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	return types, err
}

// withoutOverlays closes the gate of NodeOverlays.
func withoutOverlays(ctx context.Context) context.Context {
	closed := *options.FromContext(ctx)
	closed.FeatureGates.NodeOverlay = false
	return options.ToContext(ctx, &closed)
}

// copies gives the types for the launch filters, which take offerings out of them: copied as deep as the provider does.
func copies(types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	made := make([]*cloudprovider.InstanceType, len(types))
	for at, each := range types {
		made[at] = &cloudprovider.InstanceType{
			Name: each.Name, Requirements: each.Requirements, Offerings: slices.Clone(each.Offerings),
			Capacity: each.Capacity, Overhead: each.Overhead,
		}
	}
	return made
}

var _ capacityreservation.Provider = reservations{}

func first(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}
