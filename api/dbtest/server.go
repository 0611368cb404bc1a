package dbtest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/orbitrun/orbit/scripts"

	"github.com/orbitrun/orbit/api/tx"
)

// server says where the machine's test server is. Start it once per process; the script makes this idempotent
// across processes.
var server = sync.OnceValues(func() (*mysql.Config, error) {
	address := os.Getenv("ORBIT_TEST_DATABASE_URL")
	if address == "" {
		// ORBIT_DATABASE_URL may be somebody's real data: tests never follow it. data_locks is read by the lock tests.
		env := []string{"ORBIT_DATABASE_URL=", "ORBIT_MYSQL_PFS=1"}
		ctx, cancel := context.WithTimeout(context.Background(), setupSecondsMax*time.Second)
		defer cancel()
		var err error
		if address, err = scripts.Run(ctx, env, nil, "up", "test"); err != nil {
			return nil, err
		}
	}
	config, err := mysql.ParseDSN(address)
	if err != nil {
		return nil, fmt.Errorf("the test server's address cannot be read: write user:password@tcp(host:port)/name")
	}
	if err := tx.Configure(config); err != nil {
		return nil, err
	}
	return config, nil
})

// ownServer: the server is ours to fill, see the package comment.
func ownServer() bool { return os.Getenv("ORBIT_TEST_DATABASE_URL") == "" }

func open(config *mysql.Config) *sql.DB {
	connector, err := mysql.NewConnector(config)
	if err != nil {
		panic("dbtest: a configuration that ParseDSN accepted: " + err.Error())
	}
	return sql.OpenDB(connector)
}

// moduleRoot is the folder above the working directory that holds Orbit's go.mod; go test runs in the package.
func moduleRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module github.com/orbitrun/orbit\n") {
			return folder, nil
		}
		above := filepath.Dir(folder)
		if above == folder {
			return "", fmt.Errorf("no go.mod of github.com/orbitrun/orbit above the working directory")
		}
		folder = above
	}
}
