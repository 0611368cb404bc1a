package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/examples/file-conversion/samples"
)

// inputFolder has n documents, six pictures, and one document that is the same as another.
func inputFolder(t *testing.T, n int) (folder string, files, results int) {
	t.Helper()
	folder = t.TempDir()
	for i := range n {
		content := fmt.Sprintf("# Document %d\n\nThe *%d*th.\n\n```go\nvar n = %d\n```\n", i, i, i)
		must(t, os.MkdirAll(filepath.Join(folder, fmt.Sprint("part-", i%5)), 0o755))
		must(t, os.WriteFile(filepath.Join(folder, fmt.Sprint("part-", i%5), fmt.Sprintf("%03d.md", i)), []byte(content), 0o644))
	}
	twin, err := os.ReadFile(filepath.Join(folder, "part-0/000.md"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "twin.md"), twin, 0o644))
	must(t, os.WriteFile(filepath.Join(folder, ".hidden"), []byte("hidden"), 0o644))
	must(t, samples.Write(filepath.Join(folder, "pictures"), 6))
	return folder, n + 7, n + 6
}

func published(t *testing.T, out string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(out, "files"))
	if !os.IsNotExist(err) {
		must(t, err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func reported(t *testing.T, out string) []row {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(out, "report.json"))
	must(t, err)
	var document struct {
		Summary summary `json:"summary"`
		Files   []row   `json:"files"`
	}
	must(t, json.Unmarshal(text, &document))
	return document.Files
}

func TestLive(t *testing.T) {
	s := newServer(t)
	t.Run("a folder is converted, and again for nothing", s.folder)
	t.Run("one bad file fails alone and says why", s.badFile)
	t.Run("a killed worker loses nothing and doubles nothing", s.kill)
	t.Run("starting and working are two commands", s.twoCommands)
}

func (s *server) folder(t *testing.T) {
	in, files, results := inputFolder(t, 23)
	out := t.TempDir()
	code, line, said := s.convert(t, in, out, "-workers", "8")
	if code != exitDone || line.Instances != files || line.Succeeded != files || line.Tasks != 3*files || line.Seconds <= 0 {
		t.Fatalf("exit %d, %+v for %d files\n%s", code, line, files, said)
	}
	names := published(t, out)
	if len(names) != results {
		t.Errorf("%d results, want %d: two equal sources share one", len(names), results)
	}
	if _, err := os.Stat(filepath.Join(out, ".staging")); !os.IsNotExist(err) {
		t.Errorf("staging is left: %v", err)
	}
	first := reported(t, out)
	code, line, said = s.convert(t, in, out)
	if code != exitDone || line.Succeeded != files {
		t.Fatalf("second run: exit %d, %+v\n%s", code, line, said)
	}
	for i, r := range reported(t, out) {
		if r.InstanceID != first[i].InstanceID {
			t.Errorf("%s has a second instance", r.Path)
		}
	}
	if !slices.Equal(published(t, out), names) {
		t.Error("a second run changed the folder")
	}
	must(t, os.WriteFile(filepath.Join(out, "files", names[0]), []byte("touched"), 0o644))
	if code, line, said = s.convert(t, in, out); code != exitFailed || line.Succeeded >= files || !strings.Contains(said, "changed by somebody") {
		t.Errorf("a changed result: exit %d, %+v\n%s", code, line, said)
	}
	if code, line, said = s.convert(t, in, out, "-run", "repair", "-json"); code != exitDone || line.Succeeded != files {
		t.Errorf("converted anew: exit %d, %+v\n%s", code, line, said)
	}
}

func (s *server) badFile(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(in, "good.txt"), []byte("text"), 0o644))
	must(t, os.WriteFile(filepath.Join(in, "bad.pdf"), []byte("%PDF-1.7\x00\xff"), 0o644))
	code, line, said := s.convert(t, in, out)
	if code != exitFailed || line.Instances != 2 || line.Succeeded != 1 || !strings.Contains(said, "inspect: unsupported_kind") {
		t.Fatalf("exit %d, %+v\n%s", code, line, said)
	}
	// Permanent: the same bytes fail the same way, so there was no second attempt.
	for step, err := range s.client(t).Instance(reported(t, out)[0].InstanceID).Steps(t.Context()) {
		must(t, err)
		if step.Name != "inspect" {
			continue
		}
		task, err := s.client(t).GetTask(t.Context(), step.TaskID)
		must(t, err)
		if task.AttemptNo != 1 || task.FailureCode != "unsupported_kind" {
			t.Errorf("attempt %d, code %q", task.AttemptNo, task.FailureCode)
		}
	}
}

// kill runs the command as a process, ends it with SIGKILL in the middle, and runs it again.
func (s *server) kill(t *testing.T) {
	in, files, results := inputFolder(t, 60)
	out := t.TempDir()
	binary := build(t, ".", ".")
	victim := exec.Command(binary, s.arguments(in, out, "-name", "killed", "-lease", "2s", "-pace", "100ms", "-workers", "6")...)
	must(t, victim.Start())
	awaitFiles(t, out, 10)
	must(t, victim.Process.Kill())
	_ = victim.Wait() // it was killed: the error says so
	if n := len(published(t, out)); n < 10 || n >= results {
		t.Fatalf("killed at %d of %d results: not in the middle", n, results)
	}

	code, line, said := s.convert(t, in, out, "-name", "killed", "-lease", "2s", "-workers", "6")
	if code != exitDone || line.Instances != files || line.Succeeded != files || line.Tasks != 3*files {
		t.Fatalf("after the kill: exit %d, %+v for %d files\n%s", code, line, files, said)
	}
	if n := len(published(t, out)); n != results {
		t.Errorf("%d results, want %d", n, results)
	}
	if lost := s.checkSteps(t, reported(t, out)); lost == 0 {
		t.Error("no attempt was lost: the kill hit nothing")
	} else {
		t.Logf("%d attempts were lost and repeated", lost)
	}
}

func awaitFiles(t *testing.T, out string, n int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); len(published(t, out)) < n; {
		if time.Now().After(end) {
			t.Fatalf("only %d results after a minute", len(published(t, out)))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// checkSteps demands that every instance ran every step once, however many attempts that took, and counts the attempts
// that nobody reported.
func (s *server) checkSteps(t *testing.T, rows []row) (lost int) {
	t.Helper()
	client := s.client(t)
	for _, r := range rows {
		var names []string
		for step, err := range client.Instance(r.InstanceID).Steps(t.Context()) {
			must(t, err)
			if step.Kind != "TASK" {
				continue
			}
			names = append(names, step.Name)
			task, err := client.GetTask(t.Context(), step.TaskID)
			must(t, err)
			if step.ActivationNo != 1 || task.State != "SUCCEEDED" {
				t.Errorf("%s: %s began %d times, its task is %s", r.Path, step.Name, step.ActivationNo, task.State)
			}
			lost += task.AttemptNo - 1
		}
		if !slices.Equal(names, []string{"inspect", "convert", "publish"}) {
			t.Errorf("%s: steps %v", r.Path, names)
		}
	}
	return lost
}

func (s *server) twoCommands(t *testing.T) {
	in, files, _ := inputFolder(t, 5)
	out := t.TempDir()
	code, line, said := s.convert(t, in, out, "-name", "apart", "-start-only")
	if code != exitDone || line.Instances != files || line.Succeeded != 0 || len(published(t, out)) != 0 {
		t.Fatalf("start: exit %d, %+v\n%s", code, line, said)
	}
	worker := exec.Command(build(t, ".", "."), s.arguments(in, out, "-name", "apart", "-worker-only")...)
	must(t, worker.Start())
	awaitFiles(t, out, files-1)
	must(t, worker.Process.Signal(os.Interrupt))
	if err := worker.Wait(); err != nil {
		t.Errorf("the worker did not drain: %v", err)
	}
	if code, line, said = s.convert(t, in, out, "-name", "apart"); code != exitDone || line.Tasks != 3*files {
		t.Errorf("exit %d, %+v\n%s", code, line, said)
	}
}
