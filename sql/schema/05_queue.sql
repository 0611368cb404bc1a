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
  open_tasks BIGINT NOT NULL COMMENT '当前未结束任务数，必须等于该队列开放任务行数',
  running_attempts BIGINT NOT NULL COMMENT '当前执行中的尝试数，必须等于该队列执行中的开放任务行数',
  version INT UNSIGNED NOT NULL COMMENT '设置的乐观版本，每次修改设置加一；计数变化不影响',
  created_at DATETIME(6) NOT NULL COMMENT '创建时刻，数据库时钟UTC微秒',
  PRIMARY KEY (namespace_id, queue_id),
  UNIQUE KEY queue_name (namespace_id, application_id, name),
  CONSTRAINT queue_open_tasks CHECK (open_tasks >= 0),
  CONSTRAINT queue_running_attempts CHECK (running_attempts >= 0)
) COMMENT='任务队列：设置、限额与精确计数，在应用额度之后锁定';
