// Command cron says when schedules hit, by the parser that Karpenter uses and in the way it calls it.
//
// It reads lines of begin, end (Unix seconds) and schedule, separated by tabs, and answers each with one
// line: "error", or the hits from begin up to end in Unix seconds.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), "\t", 3)
		fmt.Println(hits(instant(fields[0]), instant(fields[1]), fields[2]))
	}
}

func instant(text string) time.Time {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return time.Unix(seconds, 0).UTC()
}

func hits(begin, end time.Time, text string) string {
	schedule, err := cron.ParseStandard("TZ=UTC " + text)
	if err != nil {
		return "error"
	}
	var found []string
	hit := schedule.Next(begin.Add(-time.Second))
	for !hit.IsZero() && hit.Before(end) {
		found = append(found, strconv.FormatInt(hit.Unix(), 10))
		hit = schedule.Next(hit)
	}
	return strings.Join(found, " ")
}
