package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/cmd/orbit/internal/node"
)

// TestMain makes the scripts run this very binary as "orbit".
func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"orbit": main}) }

// TestOffline runs what needs no server: testdata/offline/*.txtar.
func TestOffline(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: filepath.Join("testdata", "offline"), Setup: home, Cmds: scriptCommands, UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != ""})
}

// TestOnline runs scripts against a real node on a real database. Each script
// has a namespace of its own.
func TestOnline(t *testing.T) {
	server := startNode(t)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "online"), Cmds: scriptCommands, UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			key, err := server.key(strings.TrimSuffix(filepath.Base(env.WorkDir), filepath.Ext(env.WorkDir)))
			env.Setenv("ORBIT_URL", server.url)
			env.Setenv("ORBIT_KEY", key)
			env.Setenv("ORBIT_DATABASE_URL", server.dsn)
			return errors.Join(err, home(env))
		},
	})
}

// home keeps the machine's own profile out of the scripts.
func home(env *testscript.Env) error {
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
	return nil
}

var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "let": let}

// exits CODE COMMAND… runs a command and checks its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENT…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// let NAME MEMBER keeps a member of the JSON on the last standard output.
func let(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: let NAME MEMBER")
	}
	_, rest, found := strings.Cut(ts.ReadFile("stdout"), `"`+args[1]+`":"`)
	value, _, ended := strings.Cut(rest, `"`)
	if !found || !ended {
		ts.Fatalf("no text member %q in the output", args[1])
	}
	ts.Setenv(args[0], value)
}

// testNode is one node for all scripts of a test.
type testNode struct {
	url, dsn string
	service  *auth.Service
	count    atomic.Int32
}

func (n *testNode) key(name string) (string, error) {
	namespace := name + "-" + strconv.Itoa(int(n.count.Add(1)))
	issued, err := n.service.Bootstrap(context.Background(), namespace, "scripts", "script", auth.AllScopes)
	return issued.Key.Text(), err
}

// migrated is a database as "orbit migrate apply" leaves it: a node asks for
// its history, which the databases of dbtest do not have.
func migrated(t *testing.T) string {
	t.Helper()
	db := dbtest.New(t)
	name := "orbit_scripts_" + strconv.Itoa(os.Getpid())
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _, _ = db.Exec("DROP DATABASE " + name) })
	address, parameters, _ := strings.Cut(db.DSN(), "/")
	_, parameters, _ = strings.Cut(parameters, "?")
	dsn := address + "/" + name + "?" + parameters
	if err := prepare(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	return dsn
}

func startNode(t *testing.T) *testNode {
	t.Helper()
	dsn := migrated(t)
	reader, err := tx.OpenReader(dsn, 2)
	if err != nil {
		t.Fatal(err)
	}
	writer, err := tx.Open(dsn, 2)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	n, err := node.Open(ctx, node.Options{DSN: dsn, Listen: "127.0.0.1:0", Name: "test", Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})), Build: build()})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := n.Run(ctx); err != nil {
			t.Errorf("node: %v", err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait(); _ = writer.Close(); _ = reader.Close() })
	return &testNode{url: n.URL(), dsn: dsn, service: auth.NewService(writer, reader, auth.NewVerifier(reader))}
}
