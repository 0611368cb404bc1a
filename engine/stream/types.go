package stream

import (
	"slices"
	"time"

	"github.com/orbitrun/orbit/engine"
)

// Bounds of the API; each is also in the description.
const (
	QueuesMax      = 64 // of one selection
	WindowMax      = 1024
	PullMax        = 64 // 64 results of 256 KiB are 16 MiB, the largest answer
	AckItemsMax    = 256
	ScanMax        = 256 // entries that one look reads
	ScanSaveMin    = 256 // entries without a match that are worth writing down
	RedeliverMax   = 100
	NackDelayMax   = 24 * time.Hour
	AckTimeoutMin  = time.Second
	AckTimeoutMax  = time.Hour
	GenerationsMax = 1000
)

// Subscription is a subscription row as it is held.
type Subscription struct {
	ID, Application uint64
	Queues          []uint64 // sorted; empty selects every queue of the application
	InOrder, Paused bool
	Window          int
	AckTimeout      time.Duration
	Generations     int
	Position
	Pending, Dead int64
	Secret        [32]byte
	Version       uint32
}

// Position is how far a subscription has read, and what it has seen on the way.
type Position struct {
	Epoch    uint32
	Next     uint64   // first number that was not looked at
	Hash     [32]byte // link of Next − 1
	Anchored bool     // false: Hash is not known, because the start was the oldest entry kept
	Last     uint64   // the last number that was selected in this epoch
	Selected uint64   // how many were selected in this epoch
}

// Selects reports whether an entry is the subscription's.
func (s *Subscription) Selects(e *Entry) bool {
	if e.Application != s.Application {
		return false
	}
	_, listed := slices.BinarySearch(s.Queues, e.Queue)
	return listed || len(s.Queues) == 0
}

// Delivery is one unacknowledged delivery, or a dead letter.
type Delivery struct {
	Seq, Previous uint64
	Generation    uint32
	Tries         int
	Holder        uint64 // 0: nobody
	DueAt         time.Time
	Dead          bool
}

// Entry is one entry of the namespace's stream.
type Entry struct {
	Seq                uint64
	Application, Queue uint64
	Task               engine.ID
	State              uint8
	Version            uint32
	Hash               [32]byte
}

// Letter is a new dead letter.
type Letter struct {
	Delivery
	Reason string
}

// Changes are the writes of one consumption. The subscription row itself is always in After.
type Changes struct {
	After   Subscription
	Put     []Delivery // new and changed
	Settled []uint64   // delivery rows that go
	Buried  []Letter   // delivery rows that become dead letters
	Cleared []uint64   // dead letters that go
	Empty   bool       // nothing is worth writing
}
