package main

import (
	"context"
	"net/http"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	api "github.com/aws/karpenter-provider-aws/pkg/aws"
	"github.com/aws/karpenter-provider-aws/pkg/providers/capacityreservation"
	"github.com/aws/karpenter-provider-aws/pkg/providers/placementgroup"
)

// ec2 answers the calls with which Karpenter learns the instance types; any other call panics.
type ec2 struct {
	api.EC2API
	setUp *setUp
}

func (e ec2) DescribeInstanceTypes(_ context.Context, input *sdk.DescribeInstanceTypesInput, _ ...func(*sdk.Options)) (*sdk.DescribeInstanceTypesOutput, error) {
	answer := &sdk.DescribeInstanceTypesOutput{}
	for _, each := range e.setUp.Types {
		if passes(each, input.Filters) {
			answer.InstanceTypes = append(answer.InstanceTypes, each)
		}
	}
	return answer, nil
}

// passes does what EC2 does with the two filters that Karpenter sends.
func passes(item ec2types.InstanceTypeInfo, filters []ec2types.Filter) bool {
	for _, filter := range filters {
		var has []string
		switch *filter.Name {
		case "supported-virtualization-type":
			has = texts(item.SupportedVirtualizationTypes)
		case "processor-info.supported-architecture":
			has = texts(item.ProcessorInfo.SupportedArchitectures)
		default:
			panic("unknown filter " + *filter.Name)
		}
		if !slices.ContainsFunc(has, func(value string) bool { return slices.Contains(filter.Values, value) }) {
			return false
		}
	}
	return true
}

func (e ec2) DescribeInstanceTypeOfferings(context.Context, *sdk.DescribeInstanceTypeOfferingsInput, ...func(*sdk.Options)) (*sdk.DescribeInstanceTypeOfferingsOutput, error) {
	answer := &sdk.DescribeInstanceTypeOfferingsOutput{}
	for name, zones := range e.setUp.Offerings {
		for _, zone := range zones {
			answer.InstanceTypeOfferings = append(answer.InstanceTypeOfferings, ec2types.InstanceTypeOffering{
				InstanceType: ec2types.InstanceType(name), Location: &zone, LocationType: ec2types.LocationTypeAvailabilityZone,
			})
		}
	}
	return answer, nil
}

// fixedPrices are the same for on-demand and for spot.
type fixedPrices struct{ prices map[string]float64 }

func (f fixedPrices) OnDemandPrice(name ec2types.InstanceType) (float64, bool) {
	price, ok := f.prices[string(name)]
	return price, ok
}

func (f fixedPrices) SpotPrice(name ec2types.InstanceType, _ string) (float64, bool) {
	return f.OnDemandPrice(name)
}

func (f fixedPrices) InstanceTypes() []ec2types.InstanceType {
	var names []ec2types.InstanceType
	for name := range f.prices {
		names = append(names, ec2types.InstanceType(name))
	}
	return names
}

func (fixedPrices) LivenessProbe(*http.Request) error           { return nil }
func (fixedPrices) UpdateOnDemandPricing(context.Context) error { return nil }
func (fixedPrices) UpdateSpotPricing(context.Context) error     { return nil }

// reservations knows how many instances a capacity reservation has left.
type reservations struct {
	capacityreservation.Provider
	free map[string]int
}

func (r reservations) GetAvailableInstanceCount(id string) int {
	if count, ok := r.free[id]; ok {
		return count
	}
	return 1
}

type noPlacementGroups struct{}

func (noPlacementGroups) Get(context.Context, placementgroup.NodeClass) (*placementgroup.PlacementGroup, error) {
	return nil, nil
}

func texts[T ~string](values []T) []string {
	found := make([]string, len(values))
	for at, value := range values {
		found[at] = string(value)
	}
	return found
}
