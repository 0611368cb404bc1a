-- Rung 6: workflow instances and the history of their revisions.

CREATE TABLE instance (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  instance_id BINARY(16) NOT NULL COMMENT '实例编号，UUIDv7',
  application_id BIGINT UNSIGNED NOT NULL COMMENT '启动实例的应用编号',
  definition VARBINARY(48) NOT NULL COMMENT '固定引用的定义名称',
  version INT UNSIGNED NOT NULL COMMENT '固定引用的定义版本，实例一生不变',
  state TINYINT UNSIGNED NOT NULL COMMENT '1运行，2成功，3失败，4已取消，5待核查，6停止结清中',
  paused TINYINT UNSIGNED NOT NULL COMMENT '1表示用户暂停：收集结果但不启动新步骤；0为正常，与状态相互独立',
  revision INT UNSIGNED NOT NULL COMMENT '通用修订号，任何已提交变更加一；启动后首批推进为2',
  control_revision INT UNSIGNED NOT NULL COMMENT '用户控制修订号，仅暂停、继续、取消时加一',
  stop_kind TINYINT UNSIGNED NULL COMMENT '首次停止目标：1取消，2失败；空值表示没有停止意图，写入后冻结',
  stop_requested_at DATETIME(6) NULL COMMENT '首次停止意图时刻UTC微秒；空值表示没有停止意图',
  reason VARBINARY(64) NULL COMMENT '进入核查或失败的稳定原因码；空值表示没有',
  business_key VARBINARY(255) NULL COMMENT '调用方业务键，精确字节；空值表示未提供',
  traceparent VARBINARY(64) NULL COMMENT '启动请求的W3C跟踪上下文，传给各步骤任务；空值表示未提供',
  deadline_at DATETIME(6) NOT NULL COMMENT '实例绝对截止UTC微秒，暂停、重启与恢复均不延长',
  created_at DATETIME(6) NOT NULL COMMENT '启动受理时刻，数据库时钟UTC微秒',
  ended_at DATETIME(6) NULL COMMENT '进入终态时刻UTC微秒；空值表示尚未终结',
  input LONGBLOB NOT NULL COMMENT '启动输入的精确JSON字节',
  output LONGBLOB NULL COMMENT '成功时的输出JSON字节；空值表示尚无输出',
  PRIMARY KEY (namespace_id, instance_id),
  KEY instance_list (namespace_id, application_id, created_at, instance_id)
) COMMENT='流程实例：固定定义版本的一次运行，先于门控、步骤与任务锁定';

CREATE TABLE instance_history (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  instance_id BINARY(16) NOT NULL COMMENT '所属实例编号',
  revision INT UNSIGNED NOT NULL COMMENT '本条记录对应的实例修订号，连续且唯一',
  kind VARBINARY(48) NOT NULL COMMENT '变更种类，如 started、advanced、result_consumed、late_result',
  at DATETIME(6) NOT NULL COMMENT '提交该修订的事务时刻，数据库时钟UTC微秒',
  actor VARBINARY(96) NOT NULL COMMENT '触发者：凭据编号或 system:weave:节点编号',
  detail LONGBLOB NOT NULL COMMENT '该修订改变的步骤与状态，JSON字节，不含业务负载',
  PRIMARY KEY (namespace_id, instance_id, revision)
) COMMENT='实例历史：每个修订一行，与状态变更同事务写入，只增不改';
