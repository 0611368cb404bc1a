package migrate

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	atlas "ariga.io/atlas/sql/migrate"
	atlasmysql "ariga.io/atlas/sql/mysql"
	"ariga.io/atlas/sql/schema"
	"github.com/go-sql-driver/mysql"
)

// scratch is an empty database of its own on the target's server, for replaying
// files without touching anybody's tables.
type scratch struct {
	name string
	db   *sql.DB
	drv  atlas.Driver
	cfg  *mysql.Config
}

// newScratch creates the scratch database. The character set equals what
// `orbit migrate apply` expects of a target, so that a replay and a target
// inherit the same defaults.
func newScratch(ctx context.Context, cfg *mysql.Config) (*scratch, error) {
	var random [6]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, err
	}
	name := scratchPrefix(cfg.DBName) + hex.EncodeToString(random[:])
	server, err := openDatabase(cfg, "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = server.Close() }()
	if _, err := server.ExecContext(ctx, "CREATE DATABASE `"+name+"` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"); err != nil {
		return nil, fmt.Errorf("create a scratch database (the account needs CREATE and DROP on orbit_scratch_%%, or pass --dev-url): %w", err)
	}
	s := &scratch{name: name, cfg: cfg}
	if s.db, err = openDatabase(cfg, name); err != nil {
		return nil, errors.Join(err, s.close())
	}
	if s.drv, err = atlasmysql.Open(s.db); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// scratchPrefix names a scratch database after its target, so that one left by a
// killed command tells where it came from.
func scratchPrefix(target string) string {
	plain := strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' {
			return r
		}
		return -1
	}, target)
	return "orbit_scratch_" + plain[:min(len(plain), 30)] + "_"
}

// close drops the database even when the caller's context has ended: a
// cancelled command must not leave databases behind.
func (s *scratch) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if s.db != nil {
		_ = s.db.Close()
	}
	server, err := openDatabase(s.cfg, "")
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }()
	_, err = server.ExecContext(ctx, "DROP DATABASE IF EXISTS `"+s.name+"`")
	return err
}

// withScratch runs fn on a fresh scratch database and drops it afterwards.
func withScratch(ctx context.Context, cfg *mysql.Config, fn func(*scratch) error) error {
	s, err := newScratch(ctx, cfg)
	if err != nil {
		return err
	}
	return errors.Join(fn(s), s.close())
}

// replay executes the files in order. It stops after limit statements of the
// last file when limit is not negative.
func (s *scratch) replay(ctx context.Context, files []atlas.File, limit int) error {
	for i, f := range files {
		stmts, err := atlas.FileStmtDecls(s.drv, f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		if i == len(files)-1 && limit >= 0 && limit < len(stmts) {
			stmts = stmts[:limit]
		}
		for _, stmt := range stmts {
			if _, err := s.db.ExecContext(ctx, stmt.Text); err != nil {
				return fmt.Errorf("%s:%d: %w", f.Name(), lineOf(f.Bytes(), stmt.Pos), err)
			}
		}
	}
	return nil
}

// lineOf turns a byte offset into a line number counted from one.
func lineOf(text []byte, offset int) int {
	line := 1
	for _, b := range text[:min(offset, len(text))] {
		if b == '\n' {
			line++
		}
	}
	return line
}

// inspectLive reads the tables of a target the way a replay is read.
func inspectLive(ctx context.Context, db *sql.DB) (*schema.Schema, error) {
	drv, err := atlasmysql.Open(db)
	if err != nil {
		return nil, err
	}
	return drv.InspectSchema(ctx, "", &schema.InspectOptions{Exclude: []string{RevisionTable}})
}
