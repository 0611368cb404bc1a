package migrate_test

import (
	"errors"
	"os"
	osexec "os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/orbitrun/orbit/sql/migrate"
)

// TestMain lets the test binary be the process that is killed: with
// MIGRATE_KILL_AT set it applies and dies by SIGKILL before that statement.
func TestMain(m *testing.M) {
	if os.Getenv("MIGRATE_KILL_DIR") != "" {
		applyAndDie()
	}
	os.Exit(m.Run())
}

func applyAndDie() {
	source, err := migrate.OnDisk(os.Getenv("MIGRATE_KILL_DIR"))
	if err != nil {
		panic(err)
	}
	config, err := migrate.ParseAddress(os.Getenv("MIGRATE_KILL_URL"))
	if err != nil {
		panic(err)
	}
	_, err = source.Apply(background, config, migrate.ApplyOptions{Progress: func(p migrate.Progress) {
		if p.Statement != "" && p.Number == 2 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal is on its way; no further statement may start
		}
	}})
	panic(err)
}

// killHalfway applies in a child process that is killed after the first statement.
func (p *project) killHalfway() {
	p.t.Helper()
	child := osexec.Command(os.Args[0])
	child.Env = append(os.Environ(), "MIGRATE_KILL_DIR="+p.dir, "MIGRATE_KILL_URL="+p.config.FormatDSN())
	err := child.Run()
	state, ok := child.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !state.Signaled() || state.Signal() != syscall.SIGKILL {
		p.t.Fatalf("the child was not killed: %v", err)
	}
}

func TestAKilledApplyIsContinued(t *testing.T) {
	p := newProject(t)
	file := p.diff("initial")
	p.killHalfway()
	refused(t, p.source().Check(background, p.db), "schema_partial", "1 of 2", "orbit migrate apply")

	var events []migrate.Progress
	n, err := p.source().Apply(background, p.config, migrate.ApplyOptions{Progress: func(e migrate.Progress) { events = append(events, e) }})
	must(t, err)
	if n != 1 || len(events) != 2 || !events[0].Resumed || events[1].Number != 2 || events[1].Total != 2 {
		t.Errorf("%s: %d files, events %+v; want statement 2 of 2 alone", file, n, events)
	}
	must(t, p.source().Check(background, p.db))
	if found := p.verify(); len(found) != 0 {
		t.Errorf("after the continuation: %+v", found)
	}
}

// The statement that had run when the process died, before it was counted.
func TestAnUncountedStatementIsNotRunAgain(t *testing.T) {
	p := newProject(t)
	p.diff("initial")
	p.killHalfway()
	exec(t, p.db, ownerTable[:len(ownerTable)-2]+" CHARSET utf8mb4 COLLATE utf8mb4_bin")
	p.apply()
	must(t, p.source().Check(background, p.db))
	if found := p.verify(); len(found) != 0 {
		t.Errorf("after the continuation: %+v", found)
	}
}

// The server finished the statement of a dead client while the next apply was on
// its way to the same statement: the failure is understood, not reported.
func TestAStatementThatRanMeanwhileIsCounted(t *testing.T) {
	p := newProject(t)
	p.diff("initial")
	p.killHalfway()
	meanwhile := func(e migrate.Progress) {
		if e.Number == 2 && e.Statement != "" {
			exec(t, p.db, ownerTable[:len(ownerTable)-2]+" CHARSET utf8mb4 COLLATE utf8mb4_bin")
		}
	}
	_, err := p.source().Apply(background, p.config, migrate.ApplyOptions{Progress: meanwhile})
	must(t, err)
	must(t, p.source().Check(background, p.db))
}

// A statement that really fails is explained once, and after the cause is gone
// the next apply continues behind what has run.
func TestAFailedStatementIsExplainedAndContinued(t *testing.T) {
	p := newProject(t)
	p.diff("initial")
	p.apply()
	exec(t, p.db, "INSERT INTO job (namespace_id, job_id, label, level, at) VALUES (1, 'a', 'same', 1, NOW(6)), (1, 'b', 'same', 1, NOW(6))")
	p.edit("schema/1_job.sql", "  PRIMARY KEY", "  note VARCHAR(80) NULL COMMENT '备注；空值表示没有',\n  PRIMARY KEY")
	p.edit("schema/1_job.sql", "  KEY job_due", "  UNIQUE KEY job_label (namespace_id, label),\n  KEY job_due")
	p.write("migrations/20990101000000_unique.sql", "ALTER TABLE `job` ADD COLUMN `note` varchar(80) NULL COMMENT \"备注；空值表示没有\" AFTER `due_at`;\nALTER TABLE `job` ADD UNIQUE INDEX `job_label` (`namespace_id`, `label`);\n")
	must(t, p.source().Hash())
	_, err := p.source().Apply(background, p.config, migrate.ApplyOptions{})
	refused(t, err, "migration_failed", "20990101000000_unique", "statement 2 of 2", "Duplicate entry", "continues at this statement")

	exec(t, p.db, "UPDATE job SET label = 'other' ORDER BY job_id LIMIT 1")
	if n := p.apply(); n != 1 {
		t.Errorf("%d migrations applied, want 1", n)
	}
	if _, err := p.source().Diff(background, p.config, "x"); !errors.Is(err, migrate.ErrNoChange) {
		t.Errorf("diff after the hand-written migration: %v", err)
	}
	must(t, p.source().Check(background, p.db))
}

// Neither before nor after the statement: nothing is guessed.
func TestAHalfAppliedDatabaseChangedByHandIsRefused(t *testing.T) {
	p := newProject(t)
	p.diff("initial")
	p.killHalfway()
	exec(t, p.db, "ALTER TABLE job ADD COLUMN rogue INT")
	_, err := p.source().Apply(background, p.config, migrate.ApplyOptions{})
	refused(t, err, "migration_interrupted", "statement 2 of", "job.rogue")
}

// Data statements leave no trace in the tables' shape, so an interrupted one is a person's to judge.
func TestAnInterruptedDataChangeIsRefused(t *testing.T) {
	p := newProject(t)
	p.diff("initial")
	p.apply()
	p.write("migrations/20990101000000_data.sql", "UPDATE `job` SET `level` = 1;\nUPDATE `job` SET `level` = 2;\n")
	must(t, p.source().Hash())
	p.killHalfway()
	_, err := p.source().Apply(background, p.config, migrate.ApplyOptions{})
	refused(t, err, "migration_ambiguous", "statement 2 of 20990101000000_data.sql")
}

// Two operators at once: the lock lets one work, and nothing is applied twice.
func TestTwoAppliesAtOnce(t *testing.T) {
	p := newProject(t)
	p.diff("initial")
	source := p.source()
	var mu sync.Mutex
	total := 0
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			n, err := source.Apply(background, p.config, migrate.ApplyOptions{})
			mu.Lock()
			defer mu.Unlock()
			total += n
			if err != nil {
				t.Errorf("apply: %v", err)
			}
		})
	}
	group.Wait()
	if total != 1 {
		t.Errorf("%d migrations applied by both together, want 1", total)
	}
	must(t, source.Check(background, p.db))
}

func TestADatabaseOfSomebodyElseIsRefused(t *testing.T) {
	p := newProject(t)
	p.diff("initial")
	exec(t, p.db, "CREATE TABLE theirs (a INT)")
	_, err := p.source().Apply(background, p.config, migrate.ApplyOptions{})
	refused(t, err, "database_not_empty", "theirs", "empty database")
}
