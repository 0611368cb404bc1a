package migrate

import (
	"errors"
	"strings"
	"testing"
)

// Engines that speak the protocol and lose the promises are refused by name (C35).
func TestEngineRefusal(t *testing.T) {
	tests := []struct {
		name   string
		vars   map[string]string
		refuse string // a part of the sentence; empty means supported
	}{
		{"mysql 9.7", map[string]string{"version": "9.7.4", "version_comment": "(Debian)"}, ""},
		{"mysql 8.0 first good", map[string]string{"version": "8.0.19"}, ""},
		{"mysql 8.0 too early", map[string]string{"version": "8.0.18"}, "MySQL 8.0.18 is too old"},
		{"mysql 5.7", map[string]string{"version": "5.7.44-log"}, "too old"},
		{"mariadb 10.11", map[string]string{"version": "10.11.19-MariaDB-0+deb12u1", "wsrep_on": "OFF"}, ""},
		{"mariadb with old prefix", map[string]string{"version": "5.5.5-11.4.2-MariaDB"}, ""},
		{"mariadb 10.6", map[string]string{"version": "10.6.18-MariaDB"}, "MariaDB 10.6.18-MariaDB is too old"},
		{"vitess", map[string]string{"version": "8.4.6-Vitess"}, ""},
		{"tidb", map[string]string{"version": "8.0.11-TiDB-v8.5.1", "version_comment": "TiDB Server"}, "TiDB"},
		{"dolt", map[string]string{"version": "8.0.33", "version_comment": "Dolt"}, "Dolt"},
		{"galera", map[string]string{"version": "10.11.19-MariaDB", "wsrep_on": "ON"}, "Galera"},
		{"group replication, many primaries", map[string]string{"version": "8.4.6",
			"group_replication_group_name": "a", "group_replication_single_primary_mode": "OFF"}, "multi-primary"},
		{"group replication, one primary", map[string]string{"version": "8.4.6",
			"group_replication_group_name": "a", "group_replication_single_primary_mode": "ON"}, ""},
		{"plugin without a group", map[string]string{"version": "8.4.6",
			"group_replication_group_name": "", "group_replication_single_primary_mode": "OFF"}, ""},
		{"nothing known", map[string]string{}, "too old"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := newEngine(tt.vars).Refuse()
			var r *Refusal
			switch {
			case tt.refuse == "" && err != nil:
				t.Fatalf("refused: %v", err)
			case tt.refuse == "":
			case !errors.As(err, &r) || r.Code != "engine_unsupported" || !strings.Contains(r.Detail, tt.refuse):
				t.Fatalf("got %v, want a refusal that names %q", err, tt.refuse)
			}
		})
	}
}

// The two servers print one expression in their own ways.
func TestExpressionsFoldAlike(t *testing.T) {
	pairs := [][2]string{
		{`(` + "`state`" + ` in (_utf8mb4\'a\',_utf8mb4\'b c\'))`, "`state` in ('a','b c')"},
		{"((`x` >= 0) and (`x` <> 5))", "`x` >= 0 and `x` != 5"},
		{"(`at` - interval (30 * `priority`) second)", "`at` - interval 30 * `priority` second"},
	}
	for _, p := range pairs {
		if a, b := foldExpression(p[0]), foldExpression(p[1]); a != b {
			t.Errorf("%q and %q fold to %q and %q", p[0], p[1], a, b)
		}
	}
	if a, b := foldExpression("`x` >= 0"), foldExpression("`x` >= 1"); a == b {
		t.Errorf("different expressions fold alike: %q", a)
	}
	if a, b := foldExpression("`x` = 'A'"), foldExpression("`x` = 'a'"); a == b {
		t.Errorf("literals lost their case: %q", a)
	}
}

func TestCommentFault(t *testing.T) {
	tests := []struct{ name, comment, want string }{
		{"task.priority", "优先级0至9，受理时冻结", ""},
		{"task.task_id", "任务编号，UUIDv7", ""},
		{"task.namespace_id", "所属命名空间编号", ""},
		{"task.task_id", "任务编号", "only repeats"},
		{"task.state", "任务的状态", "only repeats"},
		{"task.state", "状态", "only repeats"},
		{"task", "任务表", "only repeats"},
		{"task.state", "the state of the task", "not Chinese"},
		{"task.state", "  ", "no COMMENT"},
	}
	for _, tt := range tests {
		got := CommentFault(tt.name, tt.comment)
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("CommentFault(%q, %q) = %q, want %q", tt.name, tt.comment, got, tt.want)
		}
	}
}

func TestParseAddress(t *testing.T) {
	for _, address := range []string{
		"orbit:p%w@tcp(db.internal:3307)/orbit",
		"mysql://orbit:p%25w@db.internal:3307/orbit",
	} {
		cfg, err := ParseAddress(address)
		if err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		if cfg.Addr != "db.internal:3307" || cfg.DBName != "orbit" || cfg.User != "orbit" || cfg.Passwd != "p%w" {
			t.Errorf("%s: read as %s@%s/%s", address, cfg.User, cfg.Addr, cfg.DBName)
		}
	}
	_, err := ParseAddress("orbit:hunter2@nonsense(((")
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a bad address must be refused without repeating the password: %v", err)
	}
}
