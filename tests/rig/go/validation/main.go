// Command validation says what Karpenter's controller makes of an object that the API server stored.
//
// It reads one JSON object per line and answers each with one line: "decode", the error of the decoder
// that a controller's informers use (one bad object fails the whole list, and the informer stalls), and
// "runtime", the errors of RuntimeValidate, which keep an object from getting Ready. An EC2NodeClass has
// no RuntimeValidate. With the argument "alias" it reads one EC2NodeClass and asks for its AMI family and
// alias, which end the process where the alias is bad, as they end the controller.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	aws "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	"go.uber.org/multierr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	core "sigs.k8s.io/karpenter/pkg/apis/v1"
	alpha "sigs.k8s.io/karpenter/pkg/apis/v1alpha1"
)

const longestLine = 16 << 20

type answer struct {
	Decode  string   `json:"decode"`
	Runtime []string `json:"runtime"`
}

type validated interface {
	RuntimeValidate(context.Context) error
}

func main() {
	decoder := informerDecoder()
	if len(os.Args) > 1 && os.Args[1] == "alias" {
		readAlias(decoder)
		return
	}
	// The well-known labels of AWS are added when its package is loaded; without them the answers would be wrong.
	if !core.WellKnownLabels.Has(aws.LabelInstanceFamily) {
		panic("the labels of AWS are missing")
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longestLine)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	answers := json.NewEncoder(out)
	for lines.Scan() {
		check(answers.Encode(judge(decoder, lines.Bytes())))
	}
	check(lines.Err())
}

// informerDecoder gives the decoder that client-go makes for typed clients: JSON, case-sensitive, not strict.
func informerDecoder() runtime.Decoder {
	scheme := runtime.NewScheme()
	v1 := schema.GroupVersion{Group: "karpenter.sh", Version: "v1"}
	scheme.AddKnownTypes(v1, &core.NodePool{})
	scheme.AddKnownTypes(schema.GroupVersion{Group: "karpenter.sh", Version: "v1alpha1"}, &alpha.NodeOverlay{})
	scheme.AddKnownTypes(schema.GroupVersion{Group: "karpenter.k8s.aws", Version: "v1"}, &aws.EC2NodeClass{})
	return serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme, scheme, serializer.SerializerOptions{})
}

func judge(decoder runtime.Decoder, line []byte) answer {
	found := answer{Runtime: []string{}}
	object, _, err := decoder.Decode(line, nil, nil)
	if err != nil {
		found.Decode = err.Error()
		return found
	}
	if pool, ok := object.(*core.NodePool); ok {
		compareLimits(pool)
	}
	if typed, ok := object.(validated); ok {
		for _, each := range multierr.Errors(typed.RuntimeValidate(context.Background())) {
			found.Runtime = append(found.Runtime, each.Error())
		}
	}
	return found
}

// compareLimits does what the controller does with limits all the time; it is there for the limits that never come back.
func compareLimits(pool *core.NodePool) {
	used := corev1.ResourceList{}
	for name := range pool.Spec.Limits {
		used[name] = resource.MustParse("1")
	}
	_ = pool.Spec.Limits.ExceededBy(used)
}

func readAlias(decoder runtime.Decoder) {
	text, err := io.ReadAll(os.Stdin)
	check(err)
	object, _, err := decoder.Decode(text, nil, nil)
	check(err)
	class := object.(*aws.EC2NodeClass)
	fmt.Println(class.AMIFamily())
	if alias := class.Alias(); alias != nil {
		fmt.Println(alias.Family, alias.Version)
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
