package conversion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/orbitrun/orbit/sdk/worker"
)

// Publish gives a staged artifact its place in the output folder. The digest is the name, so a second publication finds
// the first one's file and is done, and two sources with equal results share one file.
func (f *Folders) Publish(_ context.Context, _ *worker.Task, in Artifact) (Published, error) {
	out := Published{File: FilesFolder + "/" + in.name(), SHA256: in.SHA256, Bytes: in.Bytes}
	switch found, _, err := Digest(f.Out, out.File); {
	case err == nil && found == in.SHA256:
		return out, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return Published{}, worker.Retryable(err)
	}
	// Missing, or damaged by somebody: both are repaired from the staged copy.
	staged, err := fs.ReadFile(f.Out.FS(), StagingFolder+"/"+in.name())
	if err != nil {
		return Published{}, trouble(err, CodeStagingMissing)
	}
	if found := digestOf(staged); found != in.SHA256 {
		return Published{}, permanent(CodeStagingMissing, fmt.Errorf("the staged copy has the digest %.12s…, not %.12s…", found, in.SHA256))
	}
	if err := f.Put(FilesFolder, in.name(), staged); err != nil {
		return Published{}, worker.Retryable(err)
	}
	return out, nil
}

// Register gives the handlers of the workflow name to a worker.
func (f *Folders) Register(w *worker.Worker, name string) {
	h := HandlersOf(name)
	worker.HandleRef(w, h.Inspect, f.Inspect)
	worker.HandleRef(w, h.Convert, f.Convert)
	worker.HandleRef(w, h.Publish, f.Publish)
}
