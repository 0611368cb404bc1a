package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"
)

// Profile is one node with the key to use there.
type Profile struct {
	URL string `yaml:"url"`
	Key string `yaml:"key,omitempty"`
}

// File is the configuration file.
type File struct {
	Current  string             `yaml:"current,omitempty"`
	Profiles map[string]Profile `yaml:"profiles"`
}

// Path is where the configuration file is, or would be.
func (s *Settings) Path() (string, error) {
	if path := cmp.Or(s.Config, os.Getenv("ORBIT_CONFIG")); path != "" {
		return path, nil
	}
	if base := os.Getenv("XDG_CONFIG_HOME"); base != "" {
		return filepath.Join(base, "orbit", "config.yaml"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", Usage("the configuration file has no place: %v", err)
	}
	return filepath.Join(home, ".config", "orbit", "config.yaml"), nil
}

// ReadFile reads the configuration. A file that is not there is an empty one.
func (s *Settings) ReadFile() (File, error) {
	file := File{Profiles: map[string]Profile{}}
	path, err := s.Path()
	if err != nil {
		return file, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return file, nil
	}
	if err != nil {
		return file, Usage("configuration: %v", err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true) // a misspelt "kye" must not mean "no key"
	if err := decoder.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return file, Usage("configuration %s: %v", path, err)
	}
	if file.Profiles == nil {
		file.Profiles = map[string]Profile{}
	}
	return file, nil
}

// WriteFile replaces the configuration. It holds keys, so only its owner may
// read it, and a crash leaves the old one or the new one.
func (s *Settings) WriteFile(file File) error {
	path, err := s.Path()
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(file)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	fresh, err := os.CreateTemp(filepath.Dir(path), ".config-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = fresh.Write(text)
	if err = errors.Join(err, fresh.Close()); err == nil {
		err = os.Rename(fresh.Name(), path)
	}
	if err != nil {
		_ = os.Remove(fresh.Name())
	}
	return err
}

// profile is the chosen profile; the empty one when there is none to choose.
func (s *Settings) profile(warn io.Writer) (Profile, error) {
	file, err := s.ReadFile()
	if err != nil {
		return Profile{}, err
	}
	asked := cmp.Or(s.Profile, os.Getenv("ORBIT_PROFILE"))
	name := cmp.Or(asked, file.Current)
	profile, found := file.Profiles[name]
	if !found && name != "" {
		path, _ := s.Path()
		return Profile{}, Usage("there is no profile %q in %s", name, path)
	}
	if profile.Key != "" {
		s.warnIfOpen(warn)
	}
	return profile, nil
}

func (s *Settings) warnIfOpen(warn io.Writer) {
	path, err := s.Path()
	if err != nil {
		return
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		fmt.Fprintf(warn, "orbit: warning: others can read the key in %s; chmod 600 it\n", path)
	}
}
