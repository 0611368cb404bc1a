// Package lane makes strict accounting fast. Every operation that touches usage meets at an application's quota row;
// one transaction each would cap an application at one commit latency per item. So a node keeps one lane per
// namespace: a goroutine that takes everything waiting and runs it as one ladder descent and one commit. When nothing
// waits, the single item runs at once and its latency is one commit.
//
// A lane is a hint, never an authority: two nodes' lanes of one namespace meet at the row locks and are both right.
// Everything remembered here (who waits, which queues may be ready) may be lost at any moment and costs a tick.
package lane
