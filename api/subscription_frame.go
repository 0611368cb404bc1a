package api

import (
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/shape"
	"github.com/orbitrun/orbit/api/wire"
	"github.com/orbitrun/orbit/engine/exact"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// pullMax is the most one look hands out; the description says the same.
const pullMax = 64

// frames knows the shapes of what a client may send on a socket: the bodies of the operations they stand for.
type frames struct {
	shapes map[string]*shape.Node
	max    int64
}

func readFrames(doc *openapi3.T) (*frames, error) {
	f := &frames{shapes: map[string]*shape.Node{}, max: 144 << 10} // above the largest body of acks and nacks
	for member, schema := range map[string]string{"follow": "SocketFollow", "stop": "SocketStop", "acks": "AckBatch", "nacks": "NackBatch"} {
		ref := doc.Components.Schemas[schema]
		if ref == nil {
			return nil, fmt.Errorf("openapi.yaml: no schema %s", schema)
		}
		var err error
		if f.shapes[member], err = shape.Compile(ref); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// frame is one request on a socket.
type frame struct {
	id     int64
	stop   bool
	follow *httpapi.SocketFollow
	acks   *httpapi.AckBatch
	nacks  *httpapi.NackBatch
}

// parse reads a frame: an id, and exactly one of the requests. A fault in it is answered under its id, if that can be read.
func (f *frames) parse(text []byte) (frame, error) {
	out := frame{}
	tree, bad := exact.Parse(text, exact.Limits{SizeBytesMax: int(f.max), DepthMax: wrapperDepth + 1})
	if bad != nil {
		return out, problem.FromFaults([]problem.Fault{{Code: bad.Code, In: "body", Pointer: bad.Pointer, Detail: bad.Detail}})
	}
	var head struct {
		ID int64 `json:"id"`
	}
	_ = json.Unmarshal(text, &head) // no number: answered under 0
	out.id = head.ID
	name := ""
	for _, m := range tree.Members() {
		if m.Name == "id" {
			continue
		}
		if name != "" || f.shapes[m.Name] == nil {
			return out, problem.New("frame_invalid", `a frame has an "id" and one of "follow", "acks", "nacks", "stop"`)
		}
		name = m.Name
	}
	body, ok := tree.Get(name)
	if !ok {
		return out, problem.New("frame_invalid", `a frame has an "id" and one of "follow", "acks", "nacks", "stop"`)
	}
	if report := f.shapes[name].Check(body); len(report.Faults) > 0 {
		return out, problem.FromFaults(report.Faults)
	}
	var bodies struct {
		Follow *httpapi.SocketFollow `json:"follow"`
		Acks   *httpapi.AckBatch     `json:"acks"`
		Nacks  *httpapi.NackBatch    `json:"nacks"`
	}
	err := json.Unmarshal(text, &bodies)
	out.stop, out.follow, out.acks, out.nacks = name == "stop", bodies.Follow, bodies.Acks, bodies.Nacks
	return out, err
}

// seqs are the numbers a request names.
func (f frame) seqs() (seqs []int64) {
	if f.acks != nil {
		for i := range f.acks.Items {
			seqs = append(seqs, f.acks.Items[i].Seq)
		}
	}
	if f.nacks != nil {
		for i := range f.nacks.Items {
			seqs = append(seqs, f.nacks.Items[i].Seq)
		}
	}
	return seqs
}

// frameBytes is where a frame of deliveries ends, though never before its first: over a slow link each frame must arrive
// within the time of one write, and what arrived is not handed out again.
const frameBytes = 1 << 20

// parts cuts an answer into frames. Each is complete: a client needs no other to check and to acknowledge it.
func parts(p httpapi.Pulled) iter.Seq[httpapi.Pulled] {
	return func(yield func(httpapi.Pulled) bool) {
		items := p.Items
		for from, to, size := 0, 0, 0; from < len(items); {
			for size = 0; to < len(items) && (to == from || size+weight(&items[to]) <= frameBytes); to++ {
				size += weight(&items[to])
			}
			p.Items = items[from:to]
			if !yield(p) {
				return
			}
			from = to
		}
	}
}

// weight is about how long a delivery is as text.
func weight(d *httpapi.Delivery) int {
	n := 1024 + len(d.Output)
	if d.Failure != nil {
		n += len(d.Failure.Details)
	}
	return n
}

func deliveriesFrame(p httpapi.Pulled) []byte {
	return append(wire.Append([]byte(`{"deliveries":`), p), '}')
}

func outcomesFrame(id int64, o httpapi.DeliveryOutcomes) []byte {
	return append(wire.Append(fmt.Appendf(nil, `{"id":%d,"outcomes":`, id), o), '}')
}

func stoppedFrame(id int64) []byte { return fmt.Appendf(nil, `{"id":%d,"stopped":{}}`, id) }

func problemFrame(id int64, p *problem.Problem) []byte {
	return append(p.Append(fmt.Appendf(nil, `{"id":%d,"problem":`, id)), '}')
}

// begin takes the first follow and says no to every other.
func (k *socket) begin(f *httpapi.SocketFollow) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.credit > 0 {
		return false
	}
	k.credit, k.holding = int(f.Credit), f.HoldingThrough
	return true
}

// room is how many more deliveries the client has credit for, the highest number it holds, and when a delivery's time is
// over that fills the credit: it may go out again then, to this client or another.
func (k *socket) room(now time.Time) (room int, holding int64, again time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	again = socketPing
	for seq, until := range k.out {
		if left := until.Sub(now); left > 0 {
			again = min(again, left)
		} else {
			delete(k.out, seq)
		}
	}
	return max(k.credit-len(k.out), 0), k.holding, again
}

func (k *socket) pushed(items []httpapi.Delivery) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range items {
		k.out[items[i].Seq] = items[i].AckUntil
		k.holding = max(k.holding, items[i].Seq)
	}
}

func (k *socket) settled(seqs []int64) {
	k.mu.Lock()
	for _, seq := range seqs {
		delete(k.out, seq)
	}
	k.mu.Unlock()
	select {
	case k.freed <- struct{}{}:
	default:
	}
}
