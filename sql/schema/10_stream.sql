-- Rung 10: the namespace's result stream. Its head is locked last; no task may be locked after it.

CREATE TABLE stream_head (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号，每个命名空间一行',
  next_seq BIGINT UNSIGNED NOT NULL COMMENT '下一条结果的序号，从1连续递增，按提交顺序分配',
  last_hash BINARY(32) NOT NULL COMMENT '最近一条结果的链接摘要；尚无结果时为全零',
  PRIMARY KEY (namespace_id)
) COMMENT='结果流行锁：事务最后锁定，分配无空洞的提交序号';

CREATE TABLE stream_entry (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  seq BIGINT UNSIGNED NOT NULL COMMENT '命名空间内连续序号，与提交顺序一致',
  application_id BIGINT UNSIGNED NOT NULL COMMENT '任务所属应用编号',
  queue_id BIGINT UNSIGNED NOT NULL COMMENT '任务所在队列编号',
  task_id BINARY(16) NOT NULL COMMENT '产生结果的任务编号',
  state TINYINT UNSIGNED NOT NULL COMMENT '结果状态：2成功，3失败，4已取消，5待核查',
  state_version INT UNSIGNED NOT NULL COMMENT '产生该结果的任务状态版本',
  at DATETIME(6) NOT NULL COMMENT '提交该结果的事务时刻，数据库时钟UTC微秒',
  hash BINARY(32) NOT NULL COMMENT '前一条摘要与本条字段的SHA-256，供消费者离线验证无缺失无乱序',
  PRIMARY KEY (namespace_id, seq)
) COMMENT='结果流：终态与待核查结果的无空洞序列，只增不改';
