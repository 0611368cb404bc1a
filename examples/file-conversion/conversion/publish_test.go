package conversion

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A lost worker's task runs again, perhaps while the lost one still writes: the folder must not show it.
func TestEveryHandlerMayRunTwice(t *testing.T) {
	d := newDesk(t)
	sources := []Source{
		d.file("manual.md", []byte(manual)), d.file("a.txt", []byte("text")),
		d.file("p.png", sample(t, 0)), d.file("p.jpg", sample(t, 1)), d.file("p.gif", sample(t, 2)),
	}
	for _, source := range sources {
		first := d.artifact(source)
		published := d.publish(first)
		content, before := d.read(published), d.stat(published)

		second := d.artifact(source)
		if second != first {
			t.Errorf("%s: converted to %+v, then to %+v", source.Path, first, second)
		}
		if again := d.publish(second); again != published {
			t.Errorf("%s: published as %+v, then as %+v", source.Path, published, again)
		}
		if !bytes.Equal(d.read(published), content) || digestOf(content) != published.SHA256 {
			t.Errorf("%s: other bytes", source.Path)
		}
		if !os.SameFile(before, d.stat(published)) {
			t.Errorf("%s: written a second time", source.Path)
		}
	}
	if n := len(d.names(FilesFolder)); n != len(sources) {
		t.Errorf("%d files for %d sources", n, len(sources))
	}
}

func (d *desk) stat(p Published) os.FileInfo {
	d.t.Helper()
	info, err := os.Stat(filepath.Join(d.out, filepath.FromSlash(p.File)))
	must(d.t, err)
	return info
}

func TestManyPublishOneFile(t *testing.T) {
	d := newDesk(t)
	made := d.artifact(d.file("manual.md", []byte(manual)))
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if _, err := d.folders.Publish(t.Context(), nil, made); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if names := d.names(FilesFolder); !slices.Equal(names, []string{made.name()}) {
		t.Errorf("files: %v", names)
	}
	if names := d.names(StagingFolder); !slices.Equal(names, []string{made.name()}) {
		t.Errorf("temporary files stayed: %v", names)
	}
}

func TestADamagedFileIsRepaired(t *testing.T) {
	d := newDesk(t)
	made := d.artifact(d.file("a.txt", []byte("text")))
	published := d.publish(made)
	must(t, os.WriteFile(filepath.Join(d.out, published.File), []byte("half"), 0o644))
	d.publish(made)
	if digestOf(d.read(published)) != made.SHA256 {
		t.Error("still damaged")
	}
	must(t, os.Remove(filepath.Join(d.out, published.File)))
	must(t, os.WriteFile(filepath.Join(d.out, StagingFolder, made.name()), []byte("half"), 0o644))
	if _, err := d.folders.Publish(t.Context(), nil, made); code(err) != CodeStagingMissing {
		t.Errorf("published from a damaged copy: %v", err)
	}
	if names := d.names(FilesFolder); len(names) > 0 {
		t.Errorf("files: %v", names)
	}
}

const dieIn = "ORBIT_EXAMPLE_DIE_IN"

// TestMain lets the test binary be the worker that is killed in the next test.
func TestMain(m *testing.M) {
	if dir := os.Getenv(dieIn); dir != "" {
		publishAndDie(dir)
	}
	os.Exit(m.Run())
}

// publishAndDie writes a whole temporary file and is killed by the system before the file gets its name.
func publishAndDie(dir string) {
	folders, err := OpenFolders(dir, dir)
	if err == nil {
		folders.beforeRename = func() {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		err = folders.Put(FilesFolder, "never.html", []byte(strings.Repeat("content ", 1000)))
	}
	println("survived", err)
	os.Exit(3)
}

func TestKilledBetweenWriteAndRename(t *testing.T) {
	d := newDesk(t)
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), dieIn+"="+d.out)
	output, err := victim.CombinedOutput()
	status, ok := victim.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the worker was not killed: %v\n%s", err, output)
	}
	if names := d.names(FilesFolder); len(names) > 0 {
		t.Errorf("a half file is published: %v", names)
	}
	if names := d.names(StagingFolder); len(names) != 1 || !strings.HasSuffix(names[0], ".tmp") {
		t.Errorf("staging: %v, want one temporary file", names)
	}
	must(t, d.open().Put(FilesFolder, "never.html", []byte("content")))
	must(t, d.folders.RemoveStaging())
	if names := d.names(FilesFolder); !slices.Equal(names, []string{"never.html"}) {
		t.Errorf("after the repetition: %v", names)
	}
}
