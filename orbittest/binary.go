package orbittest

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var built struct {
	sync.Once
	path string
	said []byte
	err  error
}

// binary finds the server, or builds it where its source is around.
func binary(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("ORBIT_BINARY"); path != "" {
		return path
	}
	root := repository()
	if root == "" {
		path, err := exec.LookPath("orbit")
		if err != nil {
			t.Fatal("orbittest: no orbit binary: put it on the PATH, or name it in ORBIT_BINARY")
		}
		return path
	}
	built.Do(func() {
		built.path = filepath.Join(os.TempDir(), "orbittest-"+filepath.Base(root)+"-orbit")
		cmd := exec.Command("go", "build", "-trimpath", "-o", built.path, "./cmd/orbit") //nolint:gosec // a path of our own
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
		built.said, built.err = cmd.CombinedOutput()
	})
	if built.err != nil {
		t.Fatalf("orbittest: the server cannot be built: %v\n%s", built.err, built.said)
	}
	return built.path
}

// repository is the root of Orbit's own source above the working folder; empty elsewhere.
func repository() string {
	folder, err := os.Getwd()
	for err == nil && folder != filepath.Dir(folder) {
		if _, missing := os.Stat(filepath.Join(folder, "cmd", "orbit", "main.go")); missing == nil {
			return folder
		}
		folder = filepath.Dir(folder)
	}
	return ""
}
