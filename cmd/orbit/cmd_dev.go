package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	orbitsql "github.com/orbitrun/orbit/sql"
	"github.com/orbitrun/orbit/sql/migrate"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/tx"

	"github.com/orbitrun/orbit/cmd/orbit/internal/devdb"
	"github.com/orbitrun/orbit/cmd/orbit/internal/node"
)

var _ = register(devCommand)

type devFlags struct {
	nodeFlags
	data    string
	durable bool
	movable bool
}

// devReady is what `orbit dev` says when it can be used; with --output json it is one line.
type devReady struct {
	URL      string `json:"url"`
	Key      string `json:"key"`
	Admin    string `json:"admin_url"`
	Database string `json:"database"`
	Data     string `json:"data"`
	Pid      int    `json:"database_pid,omitempty"` // of the private server; none when the database was given
}

func devCommand() *cobra.Command {
	var f devFlags
	var output string
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run a node with a private database, ready to use",
		Long: `Run a node with a private database, ready to use.

Finds or fetches a real MySQL, keeps its data in a folder of its own, applies the schema, makes a namespace, an
application and a key with every scope, and prints where to go on. The same folder can be used again: after Ctrl-C, after
kill -9, and after a crash of the database. One process owns a folder at a time.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, output) },
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.data, "data", defaultData(), "folder of the private database")
	cmd.Flags().BoolVar(&f.durable, "durable", false, "flush every commit to disk, as production does")
	cmd.Flags().BoolVar(&f.movable, "movable-time", false, "let POST /time on the admin address move the time on, for tests")
	cmd.Flags().StringVar(&output, "output", "text", "what to print when ready: text or json")
	return cmd
}

func defaultData() string {
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "orbit", "dev")
	}
	return filepath.Join(os.TempDir(), "orbit-dev")
}

func (f *devFlags) run(cmd *cobra.Command, output string) error {
	log, err := f.logger(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	server, err := devdb.Start(cmd.Context(), devdb.Options{DataDir: f.data, Durable: f.durable, Log: cmd.ErrOrStderr()})
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }()
	if err := prepare(cmd.Context(), server.DSN()); err != nil {
		return err
	}
	key, err := bootstrapDev(cmd.Context(), server.DSN(), filepath.Join(f.data, "key"))
	if err != nil {
		return err
	}
	options := f.options(server.DSN(), log)
	if f.movable {
		if options.Shift, err = keptShift(f.data); err != nil {
			return err
		}
	}
	n, err := node.Open(cmd.Context(), options)
	if err != nil {
		return err
	}
	ready := devReady{n.URL(), key, n.AdminURL(), server.DSN(), f.data, server.Pid()}
	if output == "json" {
		_ = json.NewEncoder(cmd.OutOrStdout()).Encode(ready)
	} else {
		fmt.Fprintf(cmd.OutOrStdout(), devText, ready.URL, ready.Key, ready.Admin, ready.URL, ready.Key)
	}
	return n.Run(cmd.Context())
}

// keptShift continues the moved time of a folder; its file time_shift_ms says how far it was moved before.
func keptShift(data string) (*tx.Shift, error) {
	file := filepath.Join(data, "time_shift_ms")
	shift := &tx.Shift{}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		ms, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("time_shift_ms in %s is no number: %w", data, err)
		}
		_ = shift.Advance(time.Duration(ms) * time.Millisecond) // nothing is kept yet, so nothing fails
	}
	shift.Keep = func(d time.Duration) error {
		return os.WriteFile(file, strconv.AppendInt(nil, d.Milliseconds(), 10), 0o600)
	}
	return shift, nil
}

const devText = `
Orbit is ready.
  API      %s
  key      %s
  metrics  %s/metrics

Next:
  export ORBIT_URL=%s ORBIT_KEY=%s
  orbit queue put work
  orbit task submit --queue work --handler hello@1 --input '{"name":"you"}'
  orbit worker run --queue work --handler hello@1 -- cat

Ctrl-C stops the node and its database; the data stays.
`

// prepare brings the schema to what this binary was built for.
func prepare(ctx context.Context, dsn string) error {
	source, err := migrate.Embedded(orbitsql.Files)
	if err != nil {
		return err
	}
	address, err := migrate.ParseAddress(dsn)
	if err != nil {
		return err
	}
	_, err = source.Apply(ctx, address, migrate.ApplyOptions{})
	return err
}

// bootstrapDev reuses the key kept beside the data while it still opens the database it was made for; otherwise it
// makes a new one. The file is readable by its owner only.
func bootstrapDev(ctx context.Context, dsn, file string) (string, error) {
	reader, err := tx.OpenReader(dsn, 2)
	if err != nil {
		return "", err
	}
	defer func() { _ = reader.Close() }()
	writer, err := tx.Open(dsn, 2)
	if err != nil {
		return "", err
	}
	defer func() { _ = writer.Close() }()
	verifier := auth.NewVerifier(reader)
	if kept, err := os.ReadFile(file); err == nil {
		if _, refused := verifier.Verify(ctx, string(kept), auth.ScopePlatformAdmin); refused == nil {
			return string(kept), nil
		}
	}
	issued, err := auth.NewService(writer, reader, verifier).Bootstrap(ctx, "dev", "dev", "dev", auth.AllScopes)
	if err != nil {
		return "", err
	}
	text := issued.Key.Text()
	return text, os.WriteFile(file, []byte(text), 0o600)
}
