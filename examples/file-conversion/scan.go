package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/orbitrun/orbit/examples/file-conversion/conversion"
)

// scan lists the regular files of the input folder with their digests, in the order of their names. Hidden files and
// folders are left out, and so is the output folder when it lies inside.
func scan(folders *conversion.Folders, inside string) ([]conversion.Source, error) {
	var list []conversion.Source
	err := fs.WalkDir(folders.In.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == inside || path != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		case !utf8.ValidString(path):
			return fmt.Errorf("the name %q is not UTF-8", path)
		}
		digest, _, err := conversion.Digest(folders.In, path)
		list = append(list, conversion.Source{Path: path, SHA256: digest})
		return err
	})
	return list, err
}

// outputInside is the output folder relative to the input folder, with slashes.
func outputInside(in, out string) (string, error) {
	from, err := filepath.Abs(in)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(out)
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(from, to)
	if err != nil || relative == "." {
		return "", fmt.Errorf("-out cannot be the input folder itself")
	}
	return filepath.ToSlash(relative), nil
}

// startKey is the same for the same file, content, folders and run. It is what makes a second run of the command find
// the instances of the first one instead of starting new ones.
func (o options) startKey(s conversion.Source) (string, error) {
	in, err := filepath.Abs(o.in)
	if err != nil {
		return "", err
	}
	out, err := filepath.Abs(o.out)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, part := range []string{o.name, o.run, in, out, s.Path, s.SHA256} {
		fmt.Fprintf(hash, "%d:%s", len(part), part)
	}
	return "file-conversion/" + hex.EncodeToString(hash.Sum(nil)), nil
}
