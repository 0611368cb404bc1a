package execworker

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/gen/client"
)

// fakeNode hands out tasks and keeps what is said about them. What a test
// wants to go wrong is a function.
type fakeNode struct {
	mu      sync.Mutex
	tasks   []client.ClaimedTask
	reports []string
	claims  int
	renewal func(n int) (client.RenewalOutcomeOutcome, int) // outcome and HTTP status of the nth renewal
	report  func(n int) int                                 // HTTP status of the nth report
	renewed int
	asked   int
	onClaim func()
}

func (f *fakeNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch r.URL.Path {
	case "/v1/claims":
		f.claim(w, body)
	case "/v1/lease-renewals":
		f.renewed++
		outcome, status := client.RenewalOutcomeOutcomeCONTINUE, 200
		if f.renewal != nil {
			outcome, status = f.renewal(f.renewed)
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(client.RenewalOutcomes{Items: []client.RenewalOutcome{{Outcome: outcome}}})
	case "/v1/completions":
		f.asked++
		if f.report != nil {
			if status := f.report(f.asked); status != 200 {
				w.WriteHeader(status)
				return
			}
		}
		f.reports = append(f.reports, string(body))
		_ = json.NewEncoder(w).Encode(client.CompletionOutcomes{Items: []client.CompletionOutcome{{Outcome: client.CompletionOutcomeOutcomeACCEPTED}}, Tasks: []client.ClaimedTask{}})
	}
}

func (f *fakeNode) claim(w http.ResponseWriter, body []byte) {
	var asked client.ClaimRequest
	_ = json.Unmarshal(body, &asked)
	f.claims++
	n := min(int(asked.MaxTasks), len(f.tasks))
	given := f.tasks[:n]
	f.tasks = f.tasks[n:]
	if f.onClaim != nil && n > 0 {
		f.onClaim()
	}
	if n == 0 {
		time.Sleep(20 * time.Millisecond)
	}
	_ = json.NewEncoder(w).Encode(client.ClaimResult{Tasks: append([]client.ClaimedTask{}, given...)})
}

// task is a claimed task whose attempt may take limit.
func task(id string, limit time.Duration) client.ClaimedTask {
	now := time.Now()
	return client.ClaimedTask{TaskId: id, AttemptNo: 1, Token: "t", Handler: "h", HandlerVersion: "1", Input: json.RawMessage("1"),
		StartedAt: now, AttemptDeadlineAt: now.Add(limit), DeadlineAt: now.Add(limit), LeaseUntil: now.Add(time.Second)}
}

// work runs a worker until it stops by itself or ctx ends; it returns the log.
func work(t *testing.T, ctx context.Context, f *fakeNode, hurry <-chan struct{}, opt Options) (string, error) {
	t.Helper()
	server := httptest.NewServer(f)
	defer server.Close()
	t.Setenv("ORBIT_KEY", "orb_secret")
	var log strings.Builder
	opt.Name, opt.Queues, opt.Handlers = "w", []string{"q"}, []client.HandlerRef{{Handler: "h", HandlerVersion: "1"}}
	opt.Lease, opt.Grace, opt.KillAfter, opt.Log, opt.Otherwise = max(opt.Lease, 300*time.Millisecond), max(opt.Grace, time.Second), 200*time.Millisecond, &log, Unknown
	opt.Concurrency = max(opt.Concurrency, 1)
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	cmd.SetErr(io.Discard)
	settings := cli.Settings{URL: server.URL, Config: filepath.Join(t.TempDir(), "none")}
	err := settings.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
		return New(on, opt).Run(ctx, hurry)
	})(cmd, nil)
	return log.String(), err
}

// said reports whether one report holds all the parts.
func (f *fakeNode) said(parts ...string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.reports, func(r string) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(r, p) })
	})
}

const stuck = `trap "" TERM; while true; do sleep 0.05; done`

// Another worker may be starting: a command whose lease is lost must end, and
// what it did is told as what it is.
func TestALostLeaseEndsTheCommand(t *testing.T) {
	lost := func(int) (client.RenewalOutcomeOutcome, int) { return client.RenewalOutcomeOutcomeLOST, 200 }
	silent := func(int) (client.RenewalOutcomeOutcome, int) { return client.RenewalOutcomeOutcomeCONTINUE, 503 }
	for name, renewal := range map[string]func(int) (client.RenewalOutcomeOutcome, int){"told": lost, "node silent": silent} {
		f := &fakeNode{tasks: []client.ClaimedTask{task("task_a", time.Minute)}, renewal: renewal}
		begun := time.Now()
		log, err := work(t, t.Context(), f, nil, Options{Command: []string{"/bin/sh", "-c", stuck}, MaxTasks: 1})
		if err != nil || time.Since(begun) > 5*time.Second || !f.said("task_a", `"outcome":"UNKNOWN"`, `"code":"lease_lost"`) {
			t.Errorf("%s: %v after %s, reports %q\n%s", name, err, time.Since(begun), f.reports, log)
		}
	}
}

func TestLeasesAreRenewedWhileCommandsRun(t *testing.T) {
	f := &fakeNode{tasks: []client.ClaimedTask{task("task_a", time.Minute)}}
	log, err := work(t, t.Context(), f, nil, Options{Command: []string{"/bin/sh", "-c", "sleep 0.8; cat"}, MaxTasks: 1})
	if err != nil || f.renewed < 3 || !f.said("task_a", `"outcome":"SUCCEEDED"`, `"output":1`) {
		t.Errorf("%v, %d renewals, reports %q\n%s", err, f.renewed, f.reports, log)
	}
}

// A wish is passed on once and not enforced: the real outcome decides.
func TestACancelIsAWish(t *testing.T) {
	f := &fakeNode{tasks: []client.ClaimedTask{task("task_a", time.Minute)},
		renewal: func(int) (client.RenewalOutcomeOutcome, int) { return client.RenewalOutcomeOutcomeCANCELREQUESTED, 200 }}
	script := `n=0; trap 'n=$((n+1))' TERM; i=0; while [ $i -lt 12 ]; do sleep 0.1; i=$((i+1)); done; echo $n`
	log, err := work(t, t.Context(), f, nil, Options{Command: []string{"/bin/sh", "-c", script}, MaxTasks: 1})
	if err != nil || !f.said(`"outcome":"SUCCEEDED"`, `"output":1}`) {
		t.Errorf("%v, reports %q\n%s", err, f.reports, log)
	}
}

// An outcome survives a node that is down and even one that is broken.
func TestAnOutcomeIsReportedUntilItIsHeard(t *testing.T) {
	f := &fakeNode{tasks: []client.ClaimedTask{task("task_a", time.Minute)}, report: func(n int) int { return []int{503, 500, 429, 200}[min(n-1, 3)] }}
	log, err := work(t, t.Context(), f, nil, Options{Command: []string{"/bin/cat"}, MaxTasks: 1})
	if err != nil || f.asked != 4 || !f.said(`"outcome":"SUCCEEDED"`) {
		t.Errorf("%v, asked %d times, reports %q\n%s", err, f.asked, f.reports, log)
	}
}

// What arrives while the worker stops is handed back and costs no attempt.
func TestStoppingReturnsWhatHadNotBegun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	f := &fakeNode{tasks: []client.ClaimedTask{task("task_a", time.Minute), task("task_b", time.Minute)}, onClaim: stop}
	log, err := work(t, ctx, f, nil, Options{Command: []string{"/bin/cat"}, Concurrency: 2})
	if err != nil || !f.said("task_a", `"outcome":"RETURNED"`) || !f.said("task_b", `"outcome":"RETURNED"`) || len(f.reports) != 2 {
		t.Errorf("%v, reports %q\n%s", err, f.reports, log)
	}
}

// A running command may end within the grace; then, or when hurried, it must.
func TestStoppingGivesAGrace(t *testing.T) {
	rows := []struct {
		name, script string
		grace        time.Duration
		hurried      bool
		outcome      string
	}{
		{"ends by itself", "touch $FLAG; sleep 0.3; cat", 5 * time.Second, false, "SUCCEEDED"},
		{"does not end", "touch $FLAG; " + stuck, 1 * time.Second, false, "worker_shutdown"},
		{"hurried", "touch $FLAG; " + stuck, time.Minute, true, "worker_shutdown"},
	}
	for _, row := range rows {
		flag := filepath.Join(t.TempDir(), "started")
		t.Setenv("FLAG", flag)
		ctx, stop := context.WithCancel(t.Context())
		hurry := make(chan struct{})
		go func() {
			for _, err := os.Stat(flag); err != nil && t.Context().Err() == nil; _, err = os.Stat(flag) {
				time.Sleep(10 * time.Millisecond)
			}
			stop()
			if row.hurried {
				close(hurry)
			}
		}()
		f := &fakeNode{tasks: []client.ClaimedTask{task("task_a", time.Minute)}}
		begun := time.Now()
		log, err := work(t, ctx, f, hurry, Options{Command: []string{"/bin/sh", "-c", row.script}, Grace: row.grace})
		if err != nil || time.Since(begun) > 10*time.Second || !f.said("task_a", row.outcome) {
			t.Errorf("%s: %v after %s, reports %q\n%s", row.name, err, time.Since(begun), f.reports, log)
		}
		stop()
	}
}

// The time of an attempt is over for the server too; nobody claims to know.
func TestTheAttemptsTimeIsKept(t *testing.T) {
	f := &fakeNode{tasks: []client.ClaimedTask{task("task_a", 300*time.Millisecond)}}
	log, err := work(t, t.Context(), f, nil, Options{Command: []string{"/bin/sh", "-c", stuck}, MaxTasks: 1})
	if err != nil || !f.said(`"outcome":"UNKNOWN"`, "attempt_timeout") {
		t.Errorf("%v, reports %q\n%s", err, f.reports, log)
	}
}

// A command that cannot start would fail every task: the worker stops instead,
// and the task goes back.
func TestACommandThatCannotStartStopsTheWorker(t *testing.T) {
	f := &fakeNode{tasks: []client.ClaimedTask{task("task_a", time.Minute)}}
	log, err := work(t, t.Context(), f, nil, Options{Command: []string{"/nowhere/command"}})
	if cli.ExitCodeOf(err) != cli.ExitUsage || !f.said("task_a", `"outcome":"RETURNED"`) {
		t.Errorf("%v, reports %q\n%s", err, f.reports, log)
	}
}

// A key that may not claim is no reason to try for ever.
func TestARefusedClaimEndsTheWorker(t *testing.T) {
	server := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) })
	s := httptest.NewServer(server)
	defer s.Close()
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	cmd.SetErr(io.Discard)
	settings := cli.Settings{URL: s.URL, Config: filepath.Join(t.TempDir(), "none")}
	err := settings.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
		return New(on, Options{Concurrency: 1, Lease: time.Second, Log: io.Discard}).Run(ctx, nil)
	})(cmd, nil)
	if cli.ExitCodeOf(err) != cli.ExitRefused {
		t.Error(err)
	}
}
