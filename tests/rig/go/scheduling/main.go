// Command scheduling says what Karpenter makes of pools, node classes and pods: its own code runs, nothing is rebuilt here.
//
// It reads JSON lines. The first is the set-up (see world): what EC2 would answer, and Karpenter's settings. Each later
// line is a question with an "op" (see questions.go) and gets exactly one line of answer. A question that fails gets
// {"error": text}; one on which Karpenter panics gets {"panic": text}; one that would end the controller gets
// {"fatal": text}. Questions don't influence each other.
//
// Amounts are written as exact decimal numbers in the base unit of the resource (cores, bytes, pieces).
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const longestLine = 1 << 30

type object = map[string]any

func main() {
	log.SetLogger(logr.Discard())
	debug.SetGCPercent(400)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longestLine)
	if !lines.Scan() {
		return
	}
	world, err := newWorld(lines.Bytes())
	if err != nil {
		fmt.Fprintln(os.Stderr, "set-up:", err)
		os.Exit(1)
	}
	out := bufio.NewWriter(os.Stdout)
	answers := json.NewEncoder(out)
	answers.SetEscapeHTML(false)
	for lines.Scan() {
		check(answers.Encode(answer(world, lines.Bytes())))
		check(out.Flush())
	}
	check(lines.Err())
}

func answer(world *world, line []byte) (found object) {
	defer func() {
		if said := recover(); said != nil {
			found = object{"panic": fmt.Sprint(said)}
		}
	}()
	found, err := ask(world, line)
	if fatal, ok := err.(endsController); ok {
		return object{"fatal": fatal.Error()}
	}
	if err != nil {
		return object{"error": err.Error()}
	}
	return found
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
