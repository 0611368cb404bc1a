package conversion

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
)

// Folders are the input and the output of a job. Both are os.Root handles: a path of a task, whatever it says, cannot
// leave them, not even through a symbolic link.
type Folders struct {
	In, Out *os.Root
	// beforeRename is for the test that dies between a whole temporary file and its name.
	beforeRename func()
}

// Folders inside the output.
const (
	FilesFolder   = "files"    // what was published: DIGEST.EXTENSION, whole files only
	StagingFolder = ".staging" // converted and not yet published, and temporary files of crashed workers
)

// OpenFolders opens both and makes the output folder when it is missing.
func OpenFolders(in, out string) (*Folders, error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	from, err := os.OpenRoot(in)
	if err != nil {
		return nil, err
	}
	to, err := os.OpenRoot(out)
	if err != nil {
		return nil, errors.Join(err, from.Close())
	}
	f := &Folders{In: from, Out: to}
	return f, f.makeFolders()
}

func (f *Folders) makeFolders() error {
	for _, name := range []string{FilesFolder, StagingFolder} {
		if err := f.Out.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// Close gives both handles back.
func (f *Folders) Close() error { return errors.Join(f.In.Close(), f.Out.Close()) }

// RemoveStaging ends a job: everything in it is published, or a leftover of a crash.
func (f *Folders) RemoveStaging() error { return f.Out.RemoveAll(StagingFolder) }

// Put makes name hold content, or leaves it as it was: a whole temporary file is flushed before it gets the name, and
// the name is flushed before Put returns. A reader sees no half file, and neither does anyone after a power cut.
func (f *Folders) Put(folder, name string, content []byte) error {
	temporary := StagingFolder + "/" + rand.Text() + ".tmp"
	if err := f.write(temporary, content); err != nil {
		return errors.Join(err, f.discard(temporary))
	}
	if f.beforeRename != nil {
		f.beforeRename()
	}
	if err := f.Out.Rename(temporary, folder+"/"+name); err != nil {
		return errors.Join(err, f.discard(temporary))
	}
	return f.flushFolder(folder)
}

func (f *Folders) write(name string, content []byte) error {
	file, err := f.Out.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

func (f *Folders) discard(name string) error {
	if err := f.Out.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f *Folders) flushFolder(name string) error {
	folder, err := f.Out.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Digest is the SHA-256 of a file in root, 64 hex digits, and its length.
func Digest(root *os.Root, name string) (digest string, bytes int64, err error) {
	file, err := root.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = file.Close() }() // only read
	hash := sha256.New()
	bytes, err = io.Copy(hash, file)
	return hex.EncodeToString(hash.Sum(nil)), bytes, err
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
