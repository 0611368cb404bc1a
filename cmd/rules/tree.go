package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// file is one text of the checkout, with slashes in its path and relative to the root.
type file struct {
	path   string
	module string // folder of the go.mod above it; "" is the root module
	text   string
}

// tree is the checkout as the rules see it.
type tree struct {
	files   []file
	modules []string // folders with a go.mod, "" included
}

// skipped folders hold nothing that people write here.
var skipped = []string{".git", "node_modules", "testdata", "vendor", "dist", "build"}

// readExt are the kinds of text that are read.
var readExt = []string{".go", ".sql", ".sh", ".ts", ".tsx", ".js", ".css", ".mod"}

func readTree(root string) (*tree, error) {
	t := &tree{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && slices.Contains(skipped, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains(readExt, filepath.Ext(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		t.files = append(t.files, file{path: filepath.ToSlash(rel), text: string(text)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.assignModules()
	return t, nil
}

// assignModules notes for each file the nearest folder with a go.mod.
func (t *tree) assignModules() {
	for _, f := range t.files {
		if f.path == "go.mod" || strings.HasSuffix(f.path, "/go.mod") {
			t.modules = append(t.modules, strings.TrimSuffix(strings.TrimSuffix(f.path, "go.mod"), "/"))
		}
	}
	for i := range t.files {
		for _, m := range t.modules {
			if inside(t.files[i].path, m) && len(m) > len(t.files[i].module) {
				t.files[i].module = m
			}
		}
	}
}

// inside reports whether path lies in folder; "" is the root and holds everything.
func inside(path, folder string) bool {
	return folder == "" || path == folder || strings.HasPrefix(path, folder+"/")
}

// folderOf is the folder of a file.
func folderOf(path string) string {
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return ""
	}
	return path[:at]
}

// sqlIn returns the .sql files directly inside folder.
func (t *tree) sqlIn(folder string) []file {
	var out []file
	for _, f := range t.files {
		if folderOf(f.path) == folder && strings.HasSuffix(f.path, ".sql") {
			out = append(out, f)
		}
	}
	return out
}

func (f file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// isGenerated recognises the marker of the Go tools, and the folder of generated code.
func (f file) isGenerated() bool {
	if inside(f.path, "gen") {
		return true
	}
	for line := range strings.Lines(f.text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "package ") {
			return false
		}
		if strings.HasPrefix(line, "// Code generated ") && strings.HasSuffix(line, "DO NOT EDIT.") {
			return true
		}
	}
	return false
}
