package bench

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"strings"

	_ "github.com/go-sql-driver/mysql" // counters of the database
)

// meter measures CPU seconds of the three processes and the database's own counters over one run.
type meter struct {
	o        *Options
	db       *sql.DB
	cpu      map[string]float64
	counters map[string]float64
}

// counted maps the database's status variables to what they are called here.
var counted = map[string]string{
	"Innodb_rows_inserted": "rows_written", "Innodb_rows_updated": "rows_written", "Innodb_rows_deleted": "rows_written",
	"Questions": "statements", "Com_commit": "commits",
}

func startMeter(o *Options) (*meter, error) {
	m := &meter{o: o}
	if o.DSN != "" {
		db, err := sql.Open("mysql", o.DSN)
		if err != nil {
			return nil, err
		}
		m.db = db
	}
	var err error
	m.counters, err = m.read()
	m.cpu = m.seconds()
	return m, err
}

func (m *meter) finish(r *Result) error {
	after, now := m.seconds(), map[string]float64{}
	r.CPU = map[string]float64{}
	total := 0.0
	for name, before := range m.cpu {
		r.CPU[name] = round(after[name] - before)
		total += after[name] - before
	}
	r.CPUPer = round(total * 1000 / float64(r.N))
	if m.db == nil {
		return nil
	}
	defer func() { _ = m.db.Close() }()
	counters, err := m.read()
	for name, before := range m.counters {
		now[name] = round((counters[name] - before) / float64(r.N))
	}
	r.PerItem = now
	return err
}

func round(x float64) float64 { return float64(int64(x*1000+0.5)) / 1000 }

// read sums the database's counters since its start.
func (m *meter) read() (map[string]float64, error) {
	out := map[string]float64{}
	if m.db == nil {
		return out, nil
	}
	rows, err := m.db.QueryContext(context.Background(), "SHOW GLOBAL STATUS")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		if as, ok := counted[name]; ok {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return nil, err
			}
			out[as] += n
		}
	}
	return out, rows.Err()
}

func (m *meter) seconds() map[string]float64 {
	out := map[string]float64{}
	for name, pid := range map[string]int{"worker": os.Getpid(), "server": m.o.ServerPid, "database": m.o.DBPid} {
		if pid != 0 {
			out[name] = cpuSeconds(pid)
		}
	}
	return out
}

// cpuSeconds reads user and system time of a process in the kernel's ticks of 10 ms.
func cpuSeconds(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}
