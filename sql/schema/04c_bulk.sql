-- Rung 4, beside definitions and schedules: bulk operations of operators and what became of each task.

CREATE TABLE bulk_operation (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  operation_id BINARY(16) NOT NULL COMMENT '批量操作编号，UUIDv7',
  application_id BIGINT UNSIGNED NOT NULL COMMENT '所属应用编号，用于确定应锁的额度行',
  queue_id BIGINT UNSIGNED NOT NULL COMMENT '对象队列编号',
  credential_id BIGINT UNSIGNED NOT NULL COMMENT '发起所用凭据编号，每页重新校验其权限',
  operation_key VARBINARY(255) NOT NULL COMMENT '调用方给出的操作键，应用内唯一，重复请求据此得到原回执',
  digest BINARY(32) NOT NULL COMMENT '请求内容的结构摘要，同键不同内容被拒绝',
  kind TINYINT UNSIGNED NOT NULL COMMENT '1取消，2重试，3清空等待',
  dry_run TINYINT UNSIGNED NOT NULL COMMENT '1表示只清点不改变任何任务；0为执行',
  state TINYINT UNSIGNED NOT NULL COMMENT '1进行中，2完成，3中止',
  want_state TINYINT UNSIGNED NOT NULL COMMENT '只选该公开状态的任务，取值同任务行，6为执行中；0表示该种操作适用的全部状态',
  created_from DATETIME(6) NOT NULL COMMENT '只选此刻及以后受理的任务UTC微秒',
  created_before DATETIME(6) NOT NULL COMMENT '只选此刻以前受理的任务UTC微秒，不晚于本操作的受理时刻，故集合固定',
  cursor_at DATETIME(6) NOT NULL COMMENT '已看过的最后任务的受理时刻UTC微秒；从此继续，过期的页据此被拒绝',
  cursor_id BINARY(16) NOT NULL COMMENT '已看过的最后任务编号',
  scanned BIGINT NOT NULL COMMENT '已看过的任务数，个',
  did BIGINT NOT NULL COMMENT '已处理的任务数，个；清点时为将会处理的任务数',
  skipped BIGINT NOT NULL COMMENT '无需处理的任务数，个',
  refused BIGINT NOT NULL COMMENT '被规则或限额拒绝的任务数，个',
  created_at DATETIME(6) NOT NULL COMMENT '受理时刻，数据库时钟UTC微秒',
  ended_at DATETIME(6) NULL COMMENT '完成或中止的时刻，数据库时钟UTC微秒；空值表示进行中',
  stop_code VARBINARY(64) NULL COMMENT '非人为中止的原因码；空值表示没有',
  business_key VARBINARY(255) NULL COMMENT '只选该业务键，精确字节；空值表示不限',
  handler VARBINARY(128) NULL COMMENT '只选该处理器；空值表示不限',
  handler_version VARBINARY(64) NULL COMMENT '只选该处理器版本；空值表示不限',
  failure_code VARBINARY(64) NULL COMMENT '只选该失败原因码；空值表示不限',
  attribute_name VARBINARY(48) NULL COMMENT '只选带该检索属性的任务；空值表示不限',
  attribute_value VARBINARY(255) NULL COMMENT '检索属性的值，精确字节；空值表示不限',
  reason VARBINARY(1024) NOT NULL COMMENT '操作者给出的原因，必填，随每个任务进入审计',
  PRIMARY KEY (namespace_id, operation_id),
  UNIQUE KEY bulk_key (namespace_id, application_id, operation_key),
  KEY bulk_list (namespace_id, application_id, queue_id, operation_id),
  KEY bulk_running (state, namespace_id, operation_id)
) COMMENT='批量操作：过滤条件、持久游标与计数；每页与其任务同事务，任何节点可继续';

CREATE TABLE bulk_item (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  operation_id BINARY(16) NOT NULL COMMENT '所属批量操作编号',
  task_id BINARY(16) NOT NULL COMMENT '任务编号；主键保证每个任务至多处理一次',
  result TINYINT UNSIGNED NOT NULL COMMENT '1已处理（清点时为将会处理），2无需处理，3被拒绝',
  code VARBINARY(64) NOT NULL COMMENT '结果码：做了什么、为何无需处理或拒绝原因',
  successor_id BINARY(16) NULL COMMENT '重试产生的新任务编号；空值表示没有',
  PRIMARY KEY (namespace_id, operation_id, task_id),
  KEY bulk_item_result (namespace_id, operation_id, result, task_id)
) COMMENT='批量操作的逐任务结果，与任务的变化同事务写入，只增不改；清点只留少量样本';
