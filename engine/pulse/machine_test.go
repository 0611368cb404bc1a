package pulse_test

import (
	"strings"
	"testing"

	"github.com/orbitrun/orbit/engine/pulse"
)

// The whole machine as a person would draw it. A dot is a refusal.
const machine = `
                    | QUEUED       | RUNNING      | NEEDS_REVIEW | SUCCEEDED | FAILED | CANCELLED
start               | RUNNING      | .            | .            | .         | .      | .
succeed             | .            | SUCCEEDED    | .            | .         | .      | .
contract broken     | .            | NEEDS_REVIEW | .            | .         | .      | .
fail, will retry    | .            | QUEUED       | .            | .         | .      | .
fail, final         | .            | FAILED       | .            | .         | .      | .
unknown, to review  | NEEDS_REVIEW | NEEDS_REVIEW | .            | .         | .      | .
return              | .            | QUEUED       | .            | .         | .      | .
stopped on request  | .            | CANCELLED    | .            | .         | .      | .
cancel              | CANCELLED    | .            | .            | .         | .      | .
deadline            | FAILED       | .            | .            | .         | .      | .
review: succeeded   | .            | .            | SUCCEEDED    | .         | .      | .
review: failed      | .            | .            | FAILED       | .         | .      | .
ask running to stop | .            | RUNNING      | .            | .         | .      | .
`

// Every state meets every event, the refused cells included, and nothing else is in the machine.
func TestMachineCellByCell(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(machine), "\n")
	cells, states := 0, fields(lines[0])[1:]
	known := map[string]pulse.Public{}
	for p := pulse.PublicQueued; p <= pulse.PublicRunning; p++ {
		known[p.String()] = p
	}
	if len(states) != len(known) {
		t.Fatalf("the table has %d states, the product %d", len(states), len(known))
	}
	for _, line := range lines[1:] {
		row := fields(line)
		for i, state := range states {
			to, ok := pulse.Next(known[state], pulse.Event(row[0]))
			got := "."
			if ok {
				got = to.String()
				cells++
			}
			if got != row[i+1] {
				t.Errorf("%s × %s gives %s, want %s", state, row[0], got, row[i+1])
			}
			if ok && known[state].Terminal() {
				t.Errorf("the terminal state %s is left", state)
			}
		}
	}
	for _, events := range pulse.Machine {
		cells -= len(events)
	}
	if cells != 0 {
		t.Errorf("%d cells of the machine are not in the table", -cells)
	}
}

func fields(line string) []string {
	parts := strings.Split(line, "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}
