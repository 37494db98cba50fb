// Command budgets says how many nodes Karpenter's own code allows to be disrupted at given instants.
//
// It reads one JSON object per line: the budgets of a NodePool, a reason, a number of nodes and instants in
// Unix seconds. It answers each with one line: a list of what MustGetAllowedDisruptions gives at each instant.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"time"

	clock "k8s.io/utils/clock/testing"
	core "sigs.k8s.io/karpenter/pkg/apis/v1"
)

const longestLine = 16 << 20

type question struct {
	Budgets []core.Budget         `json:"budgets"`
	Reason  core.DisruptionReason `json:"reason"`
	Nodes   int                   `json:"nodes"`
	At      []int64               `json:"at"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longestLine)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	answers := json.NewEncoder(out)
	for lines.Scan() {
		var asked question
		check(json.Unmarshal(lines.Bytes(), &asked))
		check(answers.Encode(answer(asked)))
	}
	check(lines.Err())
}

func answer(asked question) []int {
	pool := core.NodePool{Spec: core.NodePoolSpec{Disruption: core.Disruption{Budgets: asked.Budgets}}}
	found := make([]int, 0, len(asked.At))
	for _, seconds := range asked.At {
		now := clock.NewFakeClock(time.Unix(seconds, 0))
		found = append(found, pool.MustGetAllowedDisruptions(now, asked.Nodes, asked.Reason))
	}
	return found
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
