package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"github.com/orbitrun/orbit/sdk/stream"
)

// schema is the business's own: what it counts, and beside it the numbers of the results that have been counted.
var schema = []string{
	`CREATE TABLE IF NOT EXISTS account (
  name VARBINARY(64) NOT NULL COMMENT '账户名，精确字节',
  cents BIGINT NOT NULL COMMENT '余额，分',
  PRIMARY KEY (name)
) COMMENT='账户余额：每个结果恰好计入一次'`,
	`CREATE TABLE IF NOT EXISTS inbox (
  seq BIGINT UNSIGNED NOT NULL COMMENT '结果流序号，命名空间内唯一；存在即表示该结果已生效',
  task_id VARBINARY(48) NOT NULL COMMENT '产生结果的任务编号，仅供排查',
  at DATETIME(6) NOT NULL COMMENT '入账时刻，业务库时钟UTC微秒',
  PRIMARY KEY (seq)
) COMMENT='收件箱：与业务改动同一事务写入，重复交付据此跳过'`,
}

// books is the business database.
type books struct{ *sql.DB }

func openBooks(ctx context.Context, dsn string) (*books, error) {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return nil, err
	}
	for _, table := range schema {
		if _, err := db.ExecContext(ctx, table); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return &books{db}, nil
}

// sale is what a task of this business results in.
type sale struct {
	Account string `json:"account"`
	Cents   int64  `json:"cents"`
}

// Book counts a result once. A result that is no success changes nothing here, but it is noted all the same, so that the
// inbox says what was seen.
func (b *books) Book(ctx context.Context, r stream.Result) error {
	tx, err := b.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	_, err = tx.ExecContext(ctx, "INSERT INTO inbox (seq, task_id, at) VALUES (?, ?, UTC_TIMESTAMP(6))", r.Seq, r.TaskID)
	if known, ok := errors.AsType[*mysql.MySQLError](err); ok && known.Number == duplicateKey {
		return nil // it had its effect, and only the acknowledgement was lost
	}
	if err == nil && r.State == "SUCCEEDED" {
		err = book(ctx, tx, r.Output)
	}
	if err != nil {
		return err
	}
	return tx.Commit() // an error leaves open whether it was done; the result comes again, and the key decides
}

const duplicateKey = 1062

func book(ctx context.Context, tx *sql.Tx, output json.RawMessage) error {
	var s sale
	if err := json.Unmarshal(output, &s); err != nil {
		return fmt.Errorf("the result is no sale: %w", err)
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO account (name, cents) VALUES (?, ?) ON DUPLICATE KEY UPDATE cents = cents + VALUES(cents)", s.Account, s.Cents)
	return err
}
