package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

// What may happen to a command. ACCEPTED says that Orbit has the task, not that it succeeded.
const (
	Pending  = "PENDING"
	Accepted = "ACCEPTED"
	Review   = "REVIEW" // the budget is used up or the request was refused: a person looks, nothing is thrown away
)

// Budget of a command: it is tried for a day and a hundred times, whichever is over first, and then a person decides.
const (
	TriesMax = 100
	AgeMax   = 24 * time.Hour
)

var schema = []string{
	`CREATE TABLE IF NOT EXISTS orders (
  order_id VARBINARY(36) NOT NULL COMMENT '订单号',
  cents BIGINT NOT NULL COMMENT '金额，分',
  placed_at DATETIME(6) NOT NULL COMMENT '下单时刻，业务库时钟UTC微秒',
  PRIMARY KEY (order_id)
) COMMENT='订单：与待发命令同一事务写入'`,
	`CREATE TABLE IF NOT EXISTS outbox (
  operation_id VARBINARY(36) NOT NULL COMMENT '操作编号，写入后不变',
  order_id VARBINARY(36) NOT NULL COMMENT '所属订单号，确认时核对业务关联',
  target VARBINARY(128) NOT NULL COMMENT '目标队列，写入后不变',
  submit_key VARBINARY(255) NOT NULL COMMENT '提交键，写入后不变：同键即同一任务，绝不更换',
  request BLOB NOT NULL COMMENT '冻结的请求JSON字节，写入后不变',
  state VARBINARY(16) NOT NULL COMMENT 'PENDING待发，ACCEPTED已受理（不代表业务成功），REVIEW待人工',
  tries INT UNSIGNED NOT NULL COMMENT '已尝试次数，开始一次即计入，从不重置；上限100',
  generation INT UNSIGNED NOT NULL COMMENT '租约代次，每次领取加一；只有最近代次可以确认',
  lease_until DATETIME(6) NOT NULL COMMENT '租约到期时刻UTC微秒；到期后可由其他中继领取',
  created_at DATETIME(6) NOT NULL COMMENT '写入时刻UTC微秒；24小时预算由此起算，从不重置',
  task_id VARBINARY(48) NULL COMMENT '受理后的任务编号；空值表示尚未受理',
  problem VARBINARY(1024) NULL COMMENT '最近一次失败的说明，供人查看；空值表示没有',
  PRIMARY KEY (operation_id),
  UNIQUE KEY outbox_submit_key (submit_key),
  KEY outbox_due (state, lease_until)
) COMMENT='发件箱：业务记录与命令同事务；请求、目标、操作编号与提交键冻结'`,
}

// box is the business database.
type box struct{ *sql.DB }

func openBox(ctx context.Context, dsn string) (*box, error) {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return nil, err
	}
	for _, table := range schema {
		if _, err := db.ExecContext(ctx, table); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return &box{db}, nil
}

// charge is the frozen request: everything that is sent, so that every try sends the same.
type charge struct {
	Order string `json:"order"`
	Cents int64  `json:"cents"`
}

// Place is the business: the order and the command to charge it, or neither.
func (b *box) Place(ctx context.Context, order string, cents int64) error {
	request, err := json.Marshal(charge{order, cents})
	if err != nil {
		return err
	}
	tx, err := b.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, "INSERT INTO orders (order_id, cents, placed_at) VALUES (?, ?, UTC_TIMESTAMP(6))", order, cents); err != nil {
		return err
	}
	operation := rand.Text()
	_, err = tx.ExecContext(ctx, `INSERT INTO outbox (operation_id, order_id, target, submit_key, request, state, tries, generation, lease_until, created_at)
		VALUES (?, ?, 'charges', ?, ?, 'PENDING', 0, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, operation, order, "charge-"+order+"-"+operation, request)
	if err != nil {
		return err
	}
	return tx.Commit()
}

// command is one command in the hands of one relay.
type command struct {
	operation, order, target, key string
	request                       []byte
	tries                         int
	generation                    int64
	age                           time.Duration
}

// Take gives one due command to this relay: its generation rises, and with it every earlier relay loses its word. The
// try counts from here on, whatever becomes of it. nil when nothing is due.
func (b *box) Take(ctx context.Context, lease time.Duration) (*command, error) {
	tx, err := b.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	var c command
	var micros int64
	err = tx.QueryRowContext(ctx, `SELECT operation_id, order_id, target, submit_key, request, tries, generation, TIMESTAMPDIFF(MICROSECOND, created_at, UTC_TIMESTAMP(6))
		FROM outbox WHERE state = 'PENDING' AND lease_until <= UTC_TIMESTAMP(6) ORDER BY lease_until LIMIT 1 FOR UPDATE SKIP LOCKED`).
		Scan(&c.operation, &c.order, &c.target, &c.key, &c.request, &c.tries, &c.generation, &micros)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c.age = time.Duration(micros) * time.Microsecond
	if c.tries >= TriesMax || c.age >= AgeMax {
		_, err = tx.ExecContext(ctx, "UPDATE outbox SET state = 'REVIEW', problem = CONCAT('the budget is used up; last: ', COALESCE(problem, 'never answered')) WHERE operation_id = ?", c.operation)
		if err == nil {
			err = tx.Commit()
		}
		return nil, err
	}
	c.tries, c.generation = c.tries+1, c.generation+1
	_, err = tx.ExecContext(ctx, "UPDATE outbox SET tries = ?, generation = ?, lease_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE operation_id = ?",
		c.tries, c.generation, lease.Microseconds(), c.operation)
	if err != nil {
		return nil, err
	}
	return &c, tx.Commit()
}

// ErrOvertaken is a confirmation by a relay whose lease another has taken over.
var ErrOvertaken = errors.New("outbox: another relay holds the command now")

// Confirm notes that Orbit has the task: only the newest generation may, and only for the order the command belongs to.
func (b *box) Confirm(ctx context.Context, c *command, task string) error {
	return b.write(ctx, c, "UPDATE outbox SET state = 'ACCEPTED', task_id = ?, problem = NULL", task)
}

// Refuse hands the command to a person: the request was refused for good.
func (b *box) Refuse(ctx context.Context, c *command, problem string) error {
	return b.write(ctx, c, "UPDATE outbox SET state = 'REVIEW', problem = ?", problem)
}

// Postpone leaves the command for a later try, with the same key.
func (b *box) Postpone(ctx context.Context, c *command, wait time.Duration, problem string) error {
	return b.write(ctx, c, "UPDATE outbox SET lease_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, problem = ?", wait.Microseconds(), problem)
}

func (b *box) write(ctx context.Context, c *command, change string, args ...any) error {
	result, err := b.ExecContext(ctx, change+" WHERE operation_id = ? AND order_id = ? AND generation = ? AND state = 'PENDING'", append(args, c.operation, c.order, c.generation)...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, fmt.Errorf("%w: %s", ErrOvertaken, c.operation))
	}
	return nil
}
