// Package weave decides about workflow instances.
//
// An instance is a graph: the steps of one fixed version, each with a state. Decide looks at everything one
// transaction has locked (starts that ask to begin, instances with results or checkpoints waiting) and says what must
// be written. Inside, every instance is planned alone by Plan:
//
//  1. results of tasks are classified against the graph and settle the steps they belong to (classify.go);
//  2. a running instance is walked in document order and whatever may start does (advance.go), an instance that is
//     stopping is closed step by step (stop.go);
//  3. new work is admitted as a whole or taken back as a whole, so a full quota never leaves half a round;
//  4. one revision, one history entry and the audit records say what happened (seal.go).
//
// A plan makes at most a budget of structural changes and says More when something is left; the checkpoint it writes
// then lets any node continue. Planning a planned graph again gives nothing. The same facts in any order, in any
// batches, under any budget, end in the same graph.
//
// What a kind of node does stands in one place per kind, behind the table in kind.go. The planner knows no kind.
package weave
