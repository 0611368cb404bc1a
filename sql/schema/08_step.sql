-- Rung 8: steps, activations, the inbox of task results, and checkpoints that continue later.

CREATE TABLE step (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  instance_id BINARY(16) NOT NULL COMMENT '所属实例编号',
  step_no SMALLINT UNSIGNED NOT NULL COMMENT '定义展开后的步骤序号；0为内部根步骤$root，不出现在步骤查询中',
  name VARBINARY(64) NOT NULL COMMENT '步骤名，定义内唯一；以$开头的为内部步骤',
  kind TINYINT UNSIGNED NOT NULL COMMENT '节点种类：0根，1任务；其余种类随运行能力登记',
  state TINYINT UNSIGNED NOT NULL COMMENT '1等待，2活动，3成功，4失败，5已取消，6待核查，7跳过',
  version INT UNSIGNED NOT NULL COMMENT '步骤版本，每次状态变更加一；旧检查点不能覆盖更高版本',
  activation_no SMALLINT UNSIGNED NOT NULL COMMENT '当前激活代次，从1起；0表示尚未激活',
  activation_id BINARY(16) NULL COMMENT '当前激活编号；空值表示尚未激活',
  reason VARBINARY(64) NULL COMMENT '失败或待核查的稳定原因码；空值表示没有',
  settled_at DATETIME(6) NULL COMMENT '结清时刻UTC微秒；空值表示尚未结清',
  output LONGBLOB NULL COMMENT '成功步骤的输出JSON字节；空值表示尚无输出',
  PRIMARY KEY (namespace_id, instance_id, step_no)
) COMMENT='流程步骤：启动时按固定版本全部写入，由有限决策逐步推进';

CREATE TABLE activation (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  instance_id BINARY(16) NOT NULL COMMENT '所属实例编号',
  activation_id BINARY(16) NOT NULL COMMENT '激活编号，UUIDv7；任务所有者与收件记录均固定引用它',
  step_no SMALLINT UNSIGNED NOT NULL COMMENT '所属步骤序号',
  activation_no SMALLINT UNSIGNED NOT NULL COMMENT '该步骤的激活代次，从1起',
  task_id BINARY(16) NULL COMMENT '本次激活创建的任务编号；空值表示此类节点不直接对应任务',
  deadline_at DATETIME(6) NOT NULL COMMENT '本次工作的绝对截止UTC微秒，不晚于实例截止',
  created_at DATETIME(6) NOT NULL COMMENT '激活时刻，数据库时钟UTC微秒',
  settled_at DATETIME(6) NULL COMMENT '结清时刻UTC微秒；空值表示仍在途',
  PRIMARY KEY (namespace_id, instance_id, activation_id)
) COMMENT='步骤激活：一次具体执行的身份，迟到结果据此辨认新旧';

CREATE TABLE weave_inbox (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  instance_id BINARY(16) NOT NULL COMMENT '结果应交付的实例编号',
  task_id BINARY(16) NOT NULL COMMENT '产生结果的任务编号',
  state_version INT UNSIGNED NOT NULL COMMENT '产生结果时的任务状态版本，与任务编号共同构成来源身份',
  activation_id BINARY(16) NOT NULL COMMENT '任务所有者：固定的激活编号',
  state TINYINT UNSIGNED NOT NULL COMMENT '1待消费，2已确认，3已隔离；后两者不再重复消费',
  classification VARBINARY(48) NULL COMMENT '消费时给出的稳定分类；空值表示尚未消费',
  version INT UNSIGNED NOT NULL COMMENT '记录版本，确认与退避各加一，用于防止覆盖其他节点的进展',
  available_at DATETIME(6) NOT NULL COMMENT '下次可消费时刻UTC微秒，仅作退避，不影响业务裁决',
  pending_at DATETIME(6) GENERATED ALWAYS AS (CASE WHEN state = 1 THEN available_at ELSE NULL END) STORED COMMENT '待消费扫描键；已确认或隔离后为空值，自动离开索引',
  task_state TINYINT UNSIGNED NOT NULL COMMENT '冻结的任务结果状态，取值同任务公开状态',
  attempt_no SMALLINT UNSIGNED NOT NULL COMMENT '给出结果的尝试序号；0表示没有执行过',
  failure_code VARBINARY(64) NULL COMMENT '失败、取消或核查的原因码；空值表示成功',
  failure_message VARBINARY(1024) NULL COMMENT '供人阅读的失败说明；空值表示没有',
  occurred_at DATETIME(6) NOT NULL COMMENT '结果成立的权威时刻，数据库时钟UTC微秒',
  snapshot_digest BINARY(32) NOT NULL COMMENT '冻结快照各字段的SHA-256摘要，消费时校验',
  output LONGBLOB NULL COMMENT '成功输出的精确JSON字节；空值表示没有输出',
  PRIMARY KEY (namespace_id, instance_id, task_id, state_version),
  KEY inbox_pending (namespace_id, pending_at, instance_id)
) COMMENT='流程收件箱：任务结果的冻结快照，与任务结果同事务写入，此后不随任务行变化';

CREATE TABLE weave_pending_advance (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  instance_id BINARY(16) NOT NULL COMMENT '待继续推进的实例编号',
  step_no SMALLINT UNSIGNED NOT NULL COMMENT '检查点所属步骤序号；0为根',
  kind TINYINT UNSIGNED NOT NULL COMMENT '检查点种类：1根，2定时，3信号，4查询',
  activation_id BINARY(16) NULL COMMENT '时钟检查点固定的激活编号；根检查点为空值',
  step_version INT UNSIGNED NOT NULL COMMENT '写入时的步骤版本；高于当前步骤版本的检查点拒绝执行',
  version INT UNSIGNED NOT NULL COMMENT '检查点版本，每次改写加一，用于防止覆盖其他节点的进展',
  due_at DATETIME(6) NOT NULL COMMENT '下次检查时刻，数据库时钟UTC微秒',
  PRIMARY KEY (namespace_id, instance_id, step_no),
  KEY advance_due (namespace_id, due_at, instance_id)
) COMMENT='待续推进：每个实例步骤至多一个检查点，扫描只提供候选，不授予推进权';
