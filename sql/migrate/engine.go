package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Engine is what a server says about itself.
type Engine struct {
	Version      string // @@version
	Comment      string // @@version_comment
	Wsrep        bool   // wsrep_on: a Galera node
	MultiPrimary bool   // group replication that lets several members write
	MariaDB      bool
	Major, Minor int
	Patch        int
}

// oldest releases whose locks and CHECKs behave as the queries assume: MySQL
// parses CHECK without enforcing it before 8.0.16 and cannot drop one portably
// before 8.0.19, MariaDB has no SKIP LOCKED
// before 10.6 and is tested from 10.11 on.
var (
	oldestMySQL   = [3]int{8, 0, 19}
	oldestMariaDB = [3]int{10, 11, 0}
)

var versionNumber = regexp.MustCompile(`(\d+)\.(\d+)(?:\.(\d+))?`)

// ReadEngine asks the server for its version and for the variables that give
// an unsupported replication mode away.
func ReadEngine(ctx context.Context, db *sql.DB) (Engine, error) {
	rows, err := textRows(ctx, db, `SHOW GLOBAL VARIABLES WHERE Variable_name IN
('version', 'version_comment', 'wsrep_on', 'group_replication_single_primary_mode', 'group_replication_group_name')`)
	if err != nil {
		return Engine{}, fmt.Errorf("read server version: %w", err)
	}
	vars := map[string]string{}
	for _, r := range rows {
		vars[strings.ToLower(r[0])] = r[1]
	}
	return newEngine(vars), nil
}

func newEngine(vars map[string]string) Engine {
	e := Engine{
		Version: vars["version"], Comment: vars["version_comment"],
		Wsrep:        isOn(vars["wsrep_on"]),
		MultiPrimary: vars["group_replication_group_name"] != "" && !isOn(vars["group_replication_single_primary_mode"]),
	}
	e.MariaDB = strings.Contains(strings.ToLower(e.Version+e.Comment), "mariadb")
	// MariaDB used to hide its number behind a fake "5.5.5-" for old clients.
	if m := versionNumber.FindStringSubmatch(strings.TrimPrefix(e.Version, "5.5.5-")); m != nil {
		e.Major, _ = strconv.Atoi(m[1])
		e.Minor, _ = strconv.Atoi(m[2])
		e.Patch, _ = strconv.Atoi(m[3])
	}
	return e
}

func isOn(value string) bool { return strings.EqualFold(value, "on") || value == "1" }

// Refuse returns why Orbit does not run on this engine, or nil. Engines that
// speak the protocol and lose the promises are refused by name (database.md).
func (e Engine) Refuse() error {
	text := strings.ToLower(e.Version + " " + e.Comment)
	name, oldest := "MySQL", oldestMySQL
	if e.MariaDB {
		name, oldest = "MariaDB", oldestMariaDB
	}
	switch {
	case strings.Contains(text, "tidb"):
		return unsupported("TiDB parses SKIP LOCKED without locking, so one task would run twice")
	case strings.Contains(text, "dolt") || strings.Contains(text, "go-mysql-server"):
		return unsupported("Dolt and go-mysql-server do not hold row locks the way the lock ladder needs")
	case e.Wsrep:
		return unsupported("this is a Galera node (wsrep_on=ON); several writers can lose committed transactions")
	case e.MultiPrimary:
		return unsupported("Group Replication runs in multi-primary mode; set group_replication_single_primary_mode=ON")
	case e.older(oldest):
		return unsupported(fmt.Sprintf("%s %s is too old, at least %d.%d.%d is needed", name, e.Version, oldest[0], oldest[1], oldest[2]))
	}
	return nil
}

func unsupported(why string) error {
	return &Refusal{Code: "engine_unsupported", Detail: "unsupported database engine: " + why + "; use one MySQL 8.0–9.7 or MariaDB 10.11+ primary"}
}

func (e Engine) older(than [3]int) bool {
	for i, part := range [3]int{e.Major, e.Minor, e.Patch} {
		if part != than[i] {
			return part < than[i]
		}
	}
	return false
}
