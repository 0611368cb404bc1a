-- Rung 5: queues, their limits and exact counters. Locked after the quota, sorted by id.

CREATE TABLE queue (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  queue_id BIGINT UNSIGNED NOT NULL COMMENT '随机63位队列编号，命名空间内唯一，多队列按此排序加锁',
  application_id BIGINT UNSIGNED NOT NULL COMMENT '队列所属应用编号',
  name VARBINARY(64) NOT NULL COMMENT '队列名称，应用内唯一，精确字节比较',
  open_tasks_max BIGINT NOT NULL COMMENT '未结束任务数上限，个',
  running_attempts_max BIGINT NOT NULL COMMENT '同时执行的尝试数上限，个',
  paused TINYINT UNSIGNED NOT NULL COMMENT '1表示暂停领取，仍可提交；0为正常',
  draining TINYINT UNSIGNED NOT NULL COMMENT '1表示排空：拒绝新提交，仍可领取；0为正常',
  rate_limited TINYINT UNSIGNED NOT NULL COMMENT '1表示设有速率限制，其设置与余量在速率行；0为不限，领取不读速率行',
  open_tasks BIGINT NOT NULL COMMENT '当前未结束任务数，必须等于该队列开放任务行数',
  running_attempts BIGINT NOT NULL COMMENT '当前执行中的尝试数，必须等于该队列执行中的开放任务行数',
  version INT UNSIGNED NOT NULL COMMENT '设置的乐观版本，每次修改设置加一；计数变化不影响',
  created_at DATETIME(6) NOT NULL COMMENT '创建时刻，数据库时钟UTC微秒',
  PRIMARY KEY (namespace_id, queue_id),
  UNIQUE KEY queue_name (namespace_id, application_id, name),
  CONSTRAINT queue_open_tasks CHECK (open_tasks >= 0),
  CONSTRAINT queue_running_attempts CHECK (running_attempts >= 0)
) COMMENT='任务队列：设置、限额与精确计数，在应用额度之后锁定';

CREATE TABLE queue_rate (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  queue_id BIGINT UNSIGNED NOT NULL COMMENT '限速的队列编号',
  tokens BIGINT NOT NULL COMMENT '每周期补回的启动次数，次',
  period_ms BIGINT NOT NULL COMMENT '周期，毫秒',
  burst BIGINT NOT NULL COMMENT '最多积攒的启动次数，次；任一周期内启动不超过积攒与补回之和',
  credit BIGINT NOT NULL COMMENT '余量，单位为次乘微秒：一次等于周期的微秒数，整数运算无舍入',
  refilled_at DATETIME(6) NOT NULL COMMENT '余量计算到的时刻，数据库时钟UTC微秒',
  PRIMARY KEY (namespace_id, queue_id),
  CONSTRAINT queue_rate_credit CHECK (credit >= 0)
) COMMENT='队列速率：设置与余量，仅限速队列有行，由队列行锁保护';

CREATE TABLE queue_hold (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  queue_id BIGINT UNSIGNED NOT NULL COMMENT '被暂停或排空的队列编号',
  kind TINYINT UNSIGNED NOT NULL COMMENT '1暂停，2排空',
  reason VARBINARY(1024) NOT NULL COMMENT '操作者给出的原因，必填',
  held_by VARBINARY(96) NOT NULL COMMENT '操作者：凭据编号',
  held_at DATETIME(6) NOT NULL COMMENT '开始的时刻，数据库时钟UTC微秒',
  PRIMARY KEY (namespace_id, queue_id, kind),
  CONSTRAINT queue_hold_kind CHECK (kind IN (1, 2))
) COMMENT='队列暂停与排空的缘由：以命令暂停或排空时写入，恢复时删除，由队列行锁保护';
