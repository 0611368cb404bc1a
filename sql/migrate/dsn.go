package migrate

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// ErrNoDatabase is returned for an address that names a server but no database.
var ErrNoDatabase = errors.New("the address names no database: end it with /NAME")

// ParseAddress reads a database address in either spelling: the driver's
// "user:password@tcp(host:port)/name" or the URL "mysql://user:password@host:port/name".
// The session is pinned to UTC and one statement per call; everything else the
// address says is kept. Errors never repeat the address, because it holds a password.
func ParseAddress(address string) (*mysql.Config, error) {
	if address == "" {
		return nil, errors.New("no database address: set ORBIT_DATABASE_URL or pass --database-url")
	}
	cfg, err := mysql.ParseDSN(driverSpelling(address))
	if err != nil {
		return nil, errors.New("the database address cannot be read: write user:password@tcp(host:port)/name")
	}
	cfg.ParseTime = true
	cfg.Loc = time.UTC
	cfg.MultiStatements = false
	cfg.InterpolateParams = true
	if cfg.Params == nil {
		cfg.Params = map[string]string{}
	}
	cfg.Params["time_zone"] = "'+00:00'"
	return cfg, nil
}

// driverSpelling turns a mysql:// or mariadb:// URL into the driver's spelling
// and leaves everything else alone.
func driverSpelling(address string) string {
	scheme, _, found := strings.Cut(address, "://")
	if !found || (scheme != "mysql" && scheme != "mariadb") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := u.Host
	if u.Port() == "" {
		host += ":3306"
	}
	user := ""
	if u.User != nil {
		user = u.User.Username()
		if password, ok := u.User.Password(); ok {
			user += ":" + password
		}
		user += "@"
	}
	out := fmt.Sprintf("%stcp(%s)/%s", user, host, strings.TrimPrefix(u.Path, "/"))
	if u.RawQuery != "" {
		out += "?" + u.RawQuery
	}
	return out
}

// openDatabase opens a pool on cfg with its database replaced by name; an empty
// name connects to the server alone. The session is one in which the files mean
// the same on every server, and in which no client timeout gives up on a long
// ALTER that the server would then finish unseen.
func openDatabase(cfg *mysql.Config, name string) (*sql.DB, error) {
	c := cfg.Clone()
	if c.Params == nil {
		c.Params = map[string]string{}
	}
	c.DBName = name
	c.ReadTimeout, c.WriteTimeout = 0, 0
	c.Params["sql_mode"] = "'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"
	c.Params["default_storage_engine"] = "'InnoDB'"
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return sql.OpenDB(connector), nil
}
