// Porcupine over a trace, to be measured against the oracle: admitted REST calls, partitioned by organization and
// window, each window a fetch-and-add register. Reads the trace from a file first: what is timed is checking alone,
// on all cores, which is more than the oracle has to itself.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

type call struct {
	Sent      int64  `json:"sent"`
	Received  int64  `json:"received"`
	Org       string `json:"org"`
	Scope     string `json:"scope"`
	Kind      string `json:"kind"`
	Status    int    `json:"status"`
	Limit     int    `json:"limit"`
	Remaining int    `json:"remaining"`
	Reset     int64  `json:"reset"`
}

type window struct {
	org  string
	ends int64
}

// What a call was told: the count of its window after it.
type told struct {
	window window
	count  int
}

var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		windows := map[window][]porcupine.Operation{}
		for _, operation := range history {
			of := operation.Output.(told).window
			windows[of] = append(windows[of], operation)
		}
		partitions := make([][]porcupine.Operation, 0, len(windows))
		for _, operations := range windows {
			partitions = append(partitions, operations)
		}
		return partitions
	},
	Init: func() interface{} { return 0 },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		next := state.(int) + input.(int)
		return next == output.(told).count, next
	},
	Equal: func(a, b interface{}) bool { return a.(int) == b.(int) },
}

func read(path string) ([]porcupine.Operation, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 1<<20), 1<<24)
	lines.Scan()
	var history []porcupine.Operation
	clients := map[string]int{}
	for lines.Scan() {
		var each call
		if err := json.Unmarshal(lines.Bytes(), &each); err != nil {
			return nil, err
		}
		if each.Scope != "rest" || each.Kind != "call" || each.Status != 200 {
			continue
		}
		// On the epoch's grid, the window is the minute of the decision: `reset` seconds before its end.
		ends := (each.Received + each.Reset*1000) / 60000
		history = append(history, porcupine.Operation{
			ClientId: clients[each.Org],
			Input:    1,
			Call:     each.Sent,
			Output:   told{window{each.Org, ends}, each.Limit - each.Remaining},
			Return:   each.Received,
		})
	}
	return history, lines.Err()
}

func main() {
	history, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	begin := time.Now()
	result := porcupine.CheckOperationsTimeout(model, history, 5*time.Minute)
	fmt.Printf("{\"calls\":%d,\"ms\":%d,\"result\":%q}\n", len(history), time.Since(begin).Milliseconds(), result)
}
