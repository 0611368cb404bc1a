package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// line is one entry of any journal.
type line struct {
	Op      string `json:"op"`
	Key     string `json:"key"`
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
}

// clients is what the submitters know.
type clients struct {
	sent     map[string]bool
	accepted map[string]string // key → task
	changed  []string          // keys whose receipt named two tasks
}

// effects is what really ran.
type effects struct {
	begun map[string][]int // task → attempts, in the order of the journals
	done  map[string]map[int]bool
}

// read walks the whole lines of a journal. The last one may be torn: its writer was killed.
func read(path string, each func(line)) error {
	file, err := os.Open(path) //nolint:gosec // a path the operator gives
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	torn := 0
	for n := 1; scanner.Scan(); n++ {
		var l line
		if json.Unmarshal(scanner.Bytes(), &l) != nil {
			if torn++; torn > 1000 {
				return fmt.Errorf("%s: line %d and a thousand before it are not JSON: this is no journal", path, n)
			}
			continue
		}
		each(l)
	}
	return scanner.Err()
}

func readClients(paths []string) (*clients, error) {
	c := &clients{sent: map[string]bool{}, accepted: map[string]string{}}
	for _, path := range paths {
		err := read(path, func(l line) {
			switch l.Op {
			case "sent":
				c.sent[l.Key] = true
			case "accepted":
				if was, twice := c.accepted[l.Key]; twice && was != l.Task {
					c.changed = append(c.changed, l.Key)
				}
				c.accepted[l.Key] = l.Task
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

func readEffects(paths []string) (*effects, error) {
	e := &effects{begun: map[string][]int{}, done: map[string]map[int]bool{}}
	for _, path := range paths {
		err := read(path, func(l line) {
			switch l.Op {
			case "begin":
				e.begun[l.Task] = append(e.begun[l.Task], l.Attempt)
			case "done":
				if e.done[l.Task] == nil {
					e.done[l.Task] = map[int]bool{}
				}
				e.done[l.Task][l.Attempt] = true
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return e, nil
}
