package pulse

import (
	"fmt"
	"iter"
	"time"

	"github.com/orbitrun/orbit/engine"
)

// BulkKind is what a bulk operation does with each task. The numbers are those of bulk_operation.kind.
type BulkKind uint8

// Kinds of bulk operations (pulse.md Operations on queues).
const (
	BulkCancel BulkKind = 1 // waiting tasks end, running ones are asked
	BulkRetry  BulkKind = 2 // a successor for what failed or was cancelled, under the rules of a manual retry
	BulkPurge  BulkKind = 3 // waiting tasks end, running ones are left alone
)

// BulkState is where a bulk operation stands. The numbers are those of bulk_operation.state.
type BulkState uint8

// A bulk operation is left RUNNING by its last page, by a person, or because its key may no longer do it.
const (
	BulkRunning BulkState = 1
	BulkDone    BulkState = 2
	BulkAborted BulkState = 3
)

// BulkResult is what became of one task. The numbers are those of bulk_item.result.
type BulkResult uint8

// A dry run says Did of what it would have done.
const (
	BulkDid     BulkResult = 1
	BulkSkipped BulkResult = 2 // there was nothing to do: the code says why
	BulkRefused BulkResult = 3 // a rule or a limit forbids it: the code is the refusal's
)

// BulkCursor is how far an operation has looked, in order of creation. It stands in the operation's row: whoever goes on
// from another place is stale and does nothing.
type BulkCursor struct {
	At   time.Time
	Task engine.ID
}

// Is reports the same place.
func (c BulkCursor) Is(o BulkCursor) bool { return c.At.Equal(o.At) && c.Task == o.Task }

// Bulk is the row of a bulk operation, locked.
type Bulk struct {
	ID                             engine.ID
	Application, Queue, Credential uint64
	Kind                           BulkKind
	State                          BulkState
	DryRun                         bool
	Want                           Public // only tasks in this state; zero: every state the kind is about
	Reason                         string
	Cursor                         BulkCursor
	Scanned                        int64
	Did, Skipped, Refused          int64
	StopCode                       string    // why it was aborted, when nobody asked
	EndedAt                        time.Time // zero: it runs
}

// Matched is how many tasks the operation has judged.
func (b *Bulk) Matched() int64 { return b.Did + b.Skipped + b.Refused }

// BulkPage is the next tasks of an operation, found without locks by any node. From is the cursor they were found
// behind; To is the last task that was looked at, matching or not; Last says that none comes after it.
type BulkPage struct {
	Operation                      engine.ID
	Application, Queue, Credential uint64
	From, To                       BulkCursor
	Scanned                        int
	Last                           bool
	Tasks                          []engine.ID   // of a cancel or a purge
	Retries                        []ManualRetry // of a retry
	Broken                         []engine.ID   // tasks whose rows could not be decided even alone: told, and left alone
	Bytes                          int           // of the inputs that retries will write
}

// Items is how many tasks the page is about.
func (p *BulkPage) Items() int { return len(p.Tasks) + len(p.Retries) + len(p.Broken) }

// GiveUp leaves the page's only task alone: it could not be decided, and must not hold up all that come after it.
func (p *BulkPage) GiveUp() {
	for i := range p.Retries {
		p.Broken = append(p.Broken, p.Retries[i].Task)
	}
	p.Broken, p.Tasks, p.Retries = append(p.Broken, p.Tasks...), nil, nil
}

// BulkOutcome says what became of a page. Stale means that another node has gone on, or that the operation has ended:
// nothing of the page was done.
type BulkOutcome struct {
	Stale bool
	State BulkState
}

// BulkItemWrite is one judged task.
type BulkItemWrite struct {
	Operation, Task, Successor engine.ID // Successor: of a retry
	Result                     BulkResult
	Code                       string
}

// EachRetry walks all manual retries of a batch, those of pages included.
func (b *Batch) EachRetry() iter.Seq[*ManualRetry] {
	return func(yield func(*ManualRetry) bool) {
		for i := range b.Retries {
			if !yield(&b.Retries[i]) {
				return
			}
		}
		for i := range b.Pages {
			for j := range b.Pages[i].Retries {
				if !yield(&b.Pages[i].Retries[j]) {
					return
				}
			}
		}
	}
}

// BulkRetryKey is the submit key of the successor that an operation makes of a task: the same for ever, so that no
// crash and no second node can make two.
func BulkRetryKey(operation, task engine.ID) string {
	return operation.Text("bulk") + "/" + task.Text("task")
}

func (p *planner) pages() {
	for i := range p.b.Pages {
		p.out.Pages[i] = p.page(&p.b.Pages[i])
	}
}

// page does one page, or nothing of it. What it did and how far it came are written together with the tasks, so a page
// that was committed is never met again.
func (p *planner) page(page *BulkPage) BulkOutcome {
	op := p.bulk(page)
	if op == nil {
		return BulkOutcome{Stale: true, State: p.s.Bulks[page.Operation].State}
	}
	if refusal := p.mayBulk(op); refusal != nil {
		p.endBulk(op, BulkAborted, refusal.Code)
		return BulkOutcome{State: op.State}
	}
	for _, task := range page.Tasks {
		result, code := p.bulkCancel(op, task)
		p.bulkItem(op, BulkItemWrite{Operation: op.ID, Task: task, Result: result, Code: code})
	}
	for i := range page.Retries {
		p.bulkItem(op, p.bulkRetry(op, &page.Retries[i]))
	}
	for _, task := range page.Broken {
		p.bulkItem(op, BulkItemWrite{Operation: op.ID, Task: task, Result: BulkRefused, Code: "internal"})
	}
	op.Cursor, op.Scanned = page.To, op.Scanned+int64(page.Scanned)
	if page.Last {
		p.endBulk(op, BulkDone, "")
	}
	return BulkOutcome{State: op.State}
}

// bulk is the working copy of a page's operation, which makes it written; nil when the page is stale. The first page of
// a plan moves the cursor away from under the others.
func (p *planner) bulk(page *BulkPage) *Bulk {
	row := p.s.Bulks[page.Operation]
	for i := range p.ch.Bulks {
		if p.ch.Bulks[i].ID == page.Operation {
			return nil
		}
	}
	if row.State != BulkRunning || !row.Cursor.Is(page.From) {
		return nil
	}
	p.ch.Bulks = append(p.ch.Bulks, row)
	return &p.ch.Bulks[len(p.ch.Bulks)-1]
}

// mayBulk re-checks the key that began the operation: a revoked key does nothing more.
func (p *planner) mayBulk(op *Bulk) *engine.Refusal {
	if refusal := p.judge(op.Credential, "queues:manage"); refusal != nil {
		return refusal
	}
	return p.judge(op.Credential, op.Kind.Scope())
}

// Scope is what the kind needs beside queues:manage; neither implies the other.
func (k BulkKind) Scope() string {
	if k == BulkRetry {
		return "tasks:retry"
	}
	return "tasks:cancel"
}

func (p *planner) endBulk(op *Bulk, state BulkState, code string) {
	op.State, op.StopCode, op.EndedAt = state, code, p.s.Now
	action := map[BulkState]string{BulkDone: "bulk.done", BulkAborted: "bulk.aborted"}[state]
	p.ch.Audits = append(p.ch.Audits, AuditWrite{
		Application: op.Application, Actor: "system:pulse", Action: action, Subject: op.ID.Text("bulk"), Reason: op.Reason,
		Detail: fmt.Sprintf(`{"matched":%d,"done":%d,"skipped":%d,"refused":%d,"code":%q}`, op.Matched(), op.Did, op.Skipped, op.Refused, code),
	})
}

// bulkItem counts a judged task and writes it down; of a dry run the first ones as a sample.
func (p *planner) bulkItem(op *Bulk, w BulkItemWrite) {
	sampled := op.Matched() < engine.BulkSampleMax
	switch w.Result {
	case BulkDid:
		op.Did++
	case BulkSkipped:
		op.Skipped++
	default:
		op.Refused++
	}
	if !op.DryRun || sampled {
		p.ch.BulkItems = append(p.ch.BulkItems, w)
	}
}

// bulkCancel cancels one task as its caller would, if it still is what the operation is about.
func (p *planner) bulkCancel(op *Bulk, id engine.ID) (BulkResult, string) {
	w := p.task(id)
	if w == nil || w.gone || w.now.Application != op.Application || w.now.Queue != op.Queue {
		return BulkSkipped, "task_ended"
	}
	running := w.now.State == Running
	switch {
	case w.now.State == Review:
		return BulkSkipped, "task_in_review"
	case running && (op.Kind == BulkPurge || op.Want == PublicQueued):
		return BulkSkipped, "task_running"
	case !running && op.Want == PublicRunning:
		return BulkSkipped, "task_waiting"
	case running && !w.now.CancelRequestedAt.IsZero():
		return BulkSkipped, "cancel_requested_before"
	}
	code := "cancelled"
	if running {
		code = "cancel_requested"
	} else if w.now.PermitHeld {
		code = "review_required"
	}
	if !op.DryRun {
		p.stop(w, engine.CredentialText(op.Credential), op.Reason)
	}
	return BulkDid, code
}

// bulkRetry repeats one task under the rules of a manual retry. A task that somebody has retried meanwhile, or that never
// was retryable, is passed over; a limit that is met refuses this task and stops no other.
func (p *planner) bulkRetry(op *Bulk, r *ManualRetry) BulkItemWrite {
	w := BulkItemWrite{Operation: op.ID, Task: r.Task, Result: BulkDid, Code: "retried"}
	var refusal *engine.Refusal
	if op.DryRun {
		_, refusal = p.repeatable(r)
	} else {
		out := p.retryOnce(r)
		w.Successor, refusal = out.TaskID, out.Refusal
	}
	if refusal == nil {
		return w
	}
	w.Successor, w.Result, w.Code = engine.ID{}, BulkRefused, refusal.Code
	if refusal.Code == "retry_exists" || refusal.Code == "task_not_retryable" || refusal.Code == "task_not_found" {
		w.Result = BulkSkipped
	}
	return w
}
