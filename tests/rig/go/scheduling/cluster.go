package main

import (
	"context"
	"encoding/json"
	"fmt"

	aws "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	core "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/apis/v1alpha1"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/utils/daemonset"
	"sigs.k8s.io/karpenter/pkg/utils/resources"
)

const namespace = "default"

// cluster is an API server in memory with the objects of one question, and Karpenter's controllers over it.
type cluster struct {
	provisioner *provisioning.Provisioner
	state       *state.Cluster
	supply      *supply
	kube        client.Client
	pools       map[string]*core.NodePool
	classes     map[string]*aws.EC2NodeClass
	pods        []*corev1.Pod
}

type nobody struct{}

func (nobody) Publish(...events.Event) {}

func newCluster(ctx context.Context, world *world, asked *question, pools, classes, pods []json.RawMessage) (*cluster, error) {
	made := &cluster{pools: map[string]*core.NodePool{}, classes: map[string]*aws.EC2NodeClass{}}
	stored := []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}}
	for _, raw := range classes {
		class, err := world.nodeClass(raw)
		if err != nil {
			return nil, err
		}
		made.classes[class.Name] = class
		stored = append(stored, class.DeepCopy())
	}
	for _, raw := range pools {
		pool, err := nodePool(ctx, raw)
		if err != nil {
			return nil, err
		}
		made.pools[pool.Name] = pool
		stored = append(stored, pool.DeepCopy())
	}
	for _, raw := range asked.NodeOverlays {
		overlay := &v1alpha1.NodeOverlay{}
		if err := decode(raw, overlay); err != nil {
			return nil, fmt.Errorf("node overlay: %w", err)
		}
		stored = append(stored, overlay)
	}
	for at, raw := range asked.DaemonSets {
		daemon, err := daemonSet(raw, at)
		if err != nil {
			return nil, err
		}
		stored = append(stored, daemon)
	}
	for at, raw := range pods {
		pod, err := pendingPod(raw, at)
		if err != nil {
			return nil, err
		}
		made.pods = append(made.pods, pod)
		stored = append(stored, pod.DeepCopy())
	}
	kube := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(stored...).
		WithStatusSubresource(&v1alpha1.NodeOverlay{}).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(each client.Object) []string {
			return []string{each.(*corev1.Pod).Spec.NodeName}
		}).Build()
	made.kube, made.supply = kube, &supply{world: world}
	if len(asked.NodeOverlays) != 0 {
		made.supply = overlaid(world, kube)
	}
	cloud := made.supply.cloud(kube)
	made.state = state.NewCluster(clock.RealClock{}, kube, cloud)
	if err := made.supply.judge(ctx, kube, made.state); err != nil {
		return nil, err
	}
	made.provisioner = provisioning.NewProvisioner(kube, nobody{}, cloud, made.state, clock.RealClock{}, nil, nil)
	return made, made.use(ctx, asked.Usage)
}

// use puts nodes into the cluster that hold what the pools use already and take no pod. Each counts as one of "nodes".
func (c *cluster) use(ctx context.Context, usage map[string]corev1.ResourceList) error {
	for pool, used := range usage {
		count := int64(1)
		if nodes, ok := used[resources.Node]; ok {
			count = nodes.Value()
		}
		for at := range count {
			name := fmt.Sprintf("used-%s-%d", pool, at)
			node := &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
					core.NodePoolLabelKey: pool, core.NodeInitializedLabelKey: "true", core.NodeRegisteredLabelKey: "true",
				}},
				Spec: corev1.NodeSpec{ProviderID: name},
			}
			if at == 0 {
				node.Status.Capacity = used
			}
			if err := c.state.UpdateNode(ctx, node); err != nil {
				return err
			}
		}
	}
	return nil
}

// options are those that the provisioner gives its scheduler in Schedule.
func (c *cluster) options(ctx context.Context) []scheduling.Options {
	found := []scheduling.Options{
		scheduling.DisableReservedCapacityFallback, scheduling.NumConcurrentReconciles(1),
		scheduling.MinValuesPolicy(options.FromContext(ctx).MinValuesPolicy),
	}
	if options.FromContext(ctx).PreferencePolicy == options.PreferencePolicyIgnore {
		found = append(found, scheduling.IgnorePreferences)
	}
	return found
}

// daemonSet reads a DaemonSet, or a pod or pod template that stands for one.
func daemonSet(raw json.RawMessage, at int) (*appsv1.DaemonSet, error) {
	kind := &metav1.TypeMeta{}
	made := &appsv1.DaemonSet{}
	if err := decode(raw, kind); err != nil {
		return nil, fmt.Errorf("daemon set: %w", err)
	}
	var into any = made
	if kind.Kind != "DaemonSet" {
		into = &made.Spec.Template
	}
	if err := decode(raw, into); err != nil {
		return nil, fmt.Errorf("daemon set: %w", err)
	}
	// Names may repeat between files; Karpenter tells DaemonSets apart by them.
	made.Name = fmt.Sprintf("daemon-%04d-%s", at, made.Name)
	made.Namespace = namespace
	return made, nil
}

// pendingPod reads a pod and gives it what makes Karpenter look for a node: kube-scheduler's verdict. Limits become
// requests as with the API server (Karpenter's code for pods of DaemonSets does it). Ties keep the order of the question.
func pendingPod(raw json.RawMessage, at int) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if err := decode(raw, pod); err != nil {
		return nil, fmt.Errorf("pod: %w", err)
	}
	filled := &appsv1.DaemonSet{}
	filled.Spec.Template.Spec = pod.Spec
	pod.Spec = daemonset.PodForDaemonSet(filled).Spec
	pod.Name = fmt.Sprintf("pod-%04d", at)
	pod.Namespace = namespace
	pod.UID = types.UID(pod.Name)
	pod.CreationTimestamp = metav1.Time{}
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodPending,
		Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		}},
	}
	return pod, nil
}

// undemanding is a pod that asks for nothing and tolerates all.
func undemanding() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "undemanding", Namespace: namespace, UID: "undemanding"},
		Spec:       corev1.PodSpec{Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}},
	}
}
