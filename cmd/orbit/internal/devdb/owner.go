package devdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// OwnedError: another living process owns the folder.
type OwnedError struct {
	DataDir string
	Pid     int // 0 when the owner has not written it yet
}

func (e *OwnedError) Error() string {
	return fmt.Sprintf("the data folder %s is in use by process %d: stop that one, or choose another folder", e.DataDir, e.Pid)
}

// owner holds a folder by an flock, which the kernel drops with the process, however it ends. The file descriptor is
// close-on-exec, so no child keeps the lock alive.
type owner struct{ file *os.File }

func own(dir string) (*owner, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, "owner"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &OwnedError{DataDir: dir, Pid: ownerPid(dir)}
		}
		return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	if err := errors.Join(file.Truncate(0), writePid(file)); err != nil {
		file.Close()
		return nil, err
	}
	return &owner{file: file}, nil
}

func writePid(file *os.File) error {
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func ownerPid(dir string) int {
	text, err := os.ReadFile(filepath.Join(dir, "owner"))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// release keeps the file: removing it would let a third process lock a new one while a second waits on the old.
func (o *owner) release() error { return o.file.Close() }

// runs reports whether pid is the server of dir. A number alone may since belong to a stranger, and a zombie still
// has one; both lack this folder in their command line.
func runs(pid int, dir string) bool {
	if pid == 0 {
		return false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err == nil {
		return strings.Contains(string(text), "--defaults-file="+filepath.Join(dir, "my.cnf"))
	}
	if _, proc := os.Stat("/proc/self"); proc == nil {
		return false
	}
	return syscall.Kill(pid, 0) == nil
}
