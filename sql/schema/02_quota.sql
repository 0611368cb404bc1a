-- Rung 2: what an application may use. Locked first by every transaction that touches usage (O5).

CREATE TABLE quota (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  application_id BIGINT UNSIGNED NOT NULL COMMENT '额度所属应用编号',
  open_tasks_max BIGINT NOT NULL COMMENT '未结束任务数上限，个；含排队、执行与待核查',
  running_attempts_max BIGINT NOT NULL COMMENT '同时执行的尝试数上限，个',
  open_instances_max BIGINT NOT NULL COMMENT '未结束流程实例数上限，个',
  open_payload_bytes_max BIGINT NOT NULL COMMENT '未结束任务输入总字节上限，字节',
  open_tasks BIGINT NOT NULL COMMENT '当前未结束任务数，必须等于开放任务行数',
  running_attempts BIGINT NOT NULL COMMENT '当前执行中的尝试数，必须等于状态为执行中的开放任务行数；失联后立即释放',
  open_instances BIGINT NOT NULL COMMENT '当前未结束流程实例数，必须等于未终结实例行数',
  open_payload_bytes BIGINT NOT NULL COMMENT '当前未结束任务的输入总字节，字节',
  PRIMARY KEY (namespace_id, application_id),
  CONSTRAINT quota_open_tasks CHECK (open_tasks >= 0),
  CONSTRAINT quota_running_attempts CHECK (running_attempts >= 0),
  CONSTRAINT quota_open_instances CHECK (open_instances >= 0),
  CONSTRAINT quota_open_payload_bytes CHECK (open_payload_bytes >= 0)
) COMMENT='应用额度与精确用量：涉及用量的事务最先排他锁定，先于任何队列行';
