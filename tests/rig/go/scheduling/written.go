package main

import (
	"slices"
	"sort"
	"strings"

	aws "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	corev1 "k8s.io/api/core/v1"
	core "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// amounts writes quantities as exact decimal numbers in the base unit.
func amounts(list corev1.ResourceList) object {
	found := object{}
	for name, quantity := range list {
		found[string(name)] = quantity.AsDec().String()
	}
	return found
}

// requirement writes operator and sorted values, and the bounds where there are any (always inclusive).
func requirement(each *scheduling.Requirement) object {
	values := each.Values()
	sort.Strings(values)
	found := object{"operator": string(each.Operator()), "values": values}
	for _, written := range (scheduling.Requirements{each.Key: each}).NodeSelectorRequirements() {
		switch written.Operator {
		case core.NodeSelectorOpGte:
			found["gte"] = written.Values[0]
		case core.NodeSelectorOpLte:
			found["lte"] = written.Values[0]
		}
	}
	if each.MinValues != nil {
		found["minValues"] = *each.MinValues
	}
	return found
}

func requirements(all scheduling.Requirements) object {
	found := object{}
	for key, each := range all {
		found[key] = requirement(each)
	}
	return found
}

func offerings(all cloudprovider.Offerings) []object {
	found := []object{}
	for _, each := range all {
		written := object{
			"capacityType": each.CapacityType(), "zone": each.Zone(), "zoneID": nil,
			"price": each.Price, "available": each.Available,
		}
		if each.Requirements.Has(aws.LabelTopologyZoneID) {
			written["zoneID"] = each.Requirements.Get(aws.LabelTopologyZoneID).Any()
		}
		if each.CapacityType() == core.CapacityTypeReserved {
			written["reservation"] = each.ReservationID()
			written["free"] = each.ReservationCapacity
		}
		found = append(found, written)
	}
	slices.SortFunc(found, func(a, b object) int {
		return strings.Compare(a["capacityType"].(string)+"/"+a["zone"].(string), b["capacityType"].(string)+"/"+b["zone"].(string))
	})
	return found
}

// priced writes the names and cheapest prices in the order of price that the types have; among equal prices, by name.
func priced(types []*cloudprovider.InstanceType, requirements scheduling.Requirements) object {
	type entry struct {
		name  string
		price *float64
	}
	entries := []entry{}
	for _, each := range types {
		found := entry{name: each.Name}
		if usable := each.Offerings.Available().Compatible(requirements); len(usable) != 0 {
			found.price = &usable.Cheapest().Price
		}
		entries = append(entries, found)
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		if a.price != nil && b.price != nil && *a.price == *b.price {
			return strings.Compare(a.name, b.name)
		}
		return 0
	})
	names, prices := []string{}, []*float64{}
	for _, each := range entries {
		names, prices = append(names, each.name), append(prices, each.price)
	}
	return object{"types": names, "prices": prices}
}

func names(types []*cloudprovider.InstanceType) []string {
	found := []string{}
	for _, each := range types {
		found = append(found, each.Name)
	}
	sort.Strings(found)
	return found
}

func said(err error) any {
	if err == nil {
		return nil
	}
	return err.Error()
}
