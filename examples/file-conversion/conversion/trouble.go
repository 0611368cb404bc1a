package conversion

import (
	"errors"
	"io/fs"

	"github.com/orbitrun/orbit/sdk/worker"
)

// Codes of permanent failures: the same file fails the same way however often it is tried.
const (
	CodeUnsupportedKind = "unsupported_kind" // no text and no image this example knows
	CodeTooLarge        = "too_large"        // more bytes or pixels than one task may hold in memory
	CodeDamaged         = "damaged"          // begins like an image and is none
	CodePathOutside     = "path_outside"     // the path leaves the input folder
	CodeSourceMissing   = "source_missing"   // the file is gone
	CodeSourceChanged   = "source_changed"   // other bytes than when the instance was started: start a new one
	CodeStagingMissing  = "staging_missing"  // somebody removed what convert had made
)

// FileError is a permanent failure of one file.
type FileError struct {
	Code string
	Err  error
}

// Error is what the server keeps as the failure's message.
func (e *FileError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *FileError) Unwrap() error { return e.Err }

func permanent(code string, err error) error { return worker.Permanent(&FileError{code, err}, code) }

// trouble sorts an error of the file system: a file that is not there stays away, everything else (a full disk, a stale
// mount, too many open files) may pass and is worth another attempt.
func trouble(err error, missing string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return permanent(missing, err)
	}
	return worker.Retryable(err)
}
