package migrate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	atlas "ariga.io/atlas/sql/migrate"
)

// InventoryFile is the name of the schema inventory inside sql/migrations.
const InventoryFile = "schema.txt"

// Source is the pair of folders the truth lives in, plus the inventory. Files
// are held in memory, so one value never sees half of an edit.
type Source struct {
	schema     []atlas.File
	migrations *atlas.MemDir
	inventory  Inventory
	path       string // of the sql folder on disk; empty for an embedded source
}

// Embedded loads a source from a file system that holds schema/ and migrations/.
func Embedded(root fs.FS) (*Source, error) { return load(root) }

// OnDisk loads a source from a folder that holds schema/ and migrations/ and
// remembers it, so that Diff and Hash can write there.
func OnDisk(path string) (*Source, error) {
	if info, err := os.Stat(filepath.Join(path, "schema")); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s holds no schema folder: run in the project root or pass --dir", path)
	}
	if err := os.MkdirAll(filepath.Join(path, "migrations"), 0o755); err != nil {
		return nil, err
	}
	s, err := load(os.DirFS(path))
	if err != nil {
		return nil, err
	}
	s.path = path
	return s, nil
}

func load(root fs.FS) (*Source, error) {
	s := &Source{migrations: &atlas.MemDir{}}
	var err error
	if s.schema, err = readFolder(root, "schema"); err != nil {
		return nil, err
	}
	migrations, err := readFolder(root, "migrations")
	if err != nil {
		return nil, err
	}
	for _, f := range migrations {
		if err := s.migrations.WriteFile(f.Name(), f.Bytes()); err != nil {
			return nil, err
		}
	}
	sum, err := readOptional(root, "migrations/"+atlas.HashFileName)
	if err != nil {
		return nil, err
	}
	if sum != nil {
		if err := s.migrations.WriteFile(atlas.HashFileName, sum); err != nil {
			return nil, err
		}
	}
	text, err := readOptional(root, "migrations/"+InventoryFile)
	if err != nil {
		return nil, err
	}
	s.inventory = ParseInventory(string(text))
	return s, nil
}

// readFolder reads the .sql files of one folder in name order; a folder that
// does not exist is empty.
func readFolder(root fs.FS, folder string) ([]atlas.File, error) {
	entries, err := fs.ReadDir(root, folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var files []atlas.File
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".sql") {
			continue
		}
		text, err := fs.ReadFile(root, folder+"/"+e.Name())
		if err != nil {
			return nil, err
		}
		files = append(files, atlas.NewLocalFile(e.Name(), text))
	}
	return files, nil
}

func readOptional(root fs.FS, name string) ([]byte, error) {
	text, err := fs.ReadFile(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// files returns the migrations in version order, after checking that atlas.sum
// seals exactly these bytes.
func (s *Source) files() ([]atlas.File, error) {
	if err := s.checkSum(); err != nil {
		return nil, err
	}
	return s.migrations.Files()
}

// checkSum compares the folder with atlas.sum and says what to do about a difference.
func (s *Source) checkSum() error {
	files, err := s.migrations.Files()
	if err != nil {
		return err
	}
	err = atlas.Validate(s.migrations)
	var broken *atlas.ChecksumError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, atlas.ErrChecksumNotFound) && len(files) == 0:
		return nil
	case errors.As(err, &broken) && broken.File != "":
		return &Refusal{Code: "migration_tampered", Detail: fmt.Sprintf(
			"migration %s does not match atlas.sum (%s); restore the file from version control and write a new migration instead of editing an old one", broken.File, broken.Reason)}
	default:
		return &Refusal{Code: "migration_tampered", Detail: fmt.Sprintf(
			"sql/migrations does not match atlas.sum (%v); restore the folder from version control, or run `orbit migrate hash` after adding a file on purpose", err)}
	}
}

// write stores one file in the migrations folder on disk and in memory.
func (s *Source) write(name string, text []byte) error {
	if s.path == "" {
		return errors.New("the embedded migrations cannot be written: pass --dir with the sql folder")
	}
	if err := os.WriteFile(filepath.Join(s.path, "migrations", name), text, 0o644); err != nil {
		return err
	}
	return s.migrations.WriteFile(name, text)
}
