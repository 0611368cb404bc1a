-- Rung 8: what an active step waits for beside results of tasks. Written only by workflows that wait.

CREATE TABLE step_wait (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  instance_id BINARY(16) NOT NULL COMMENT '所属实例编号',
  activation_id BINARY(16) NOT NULL COMMENT '所属激活编号；每次激活至多一个等待',
  step_no SMALLINT UNSIGNED NOT NULL COMMENT '所属步骤序号',
  kind TINYINT UNSIGNED NOT NULL COMMENT '等待种类，取值同检查点：2定时，3信号，4查询的最终信号',
  state TINYINT UNSIGNED NOT NULL COMMENT '1等待中，2已满足，3已超期，4已关闭（步骤以其他方式结束）',
  started_at DATETIME(6) NOT NULL COMMENT '激活时刻，数据库时钟UTC微秒；恢复与继续不重新计时',
  duration_ms BIGINT NOT NULL COMMENT '计划等待时长，毫秒；激活时冻结',
  deadline_at DATETIME(6) NOT NULL COMMENT '等待截止UTC微秒，恒等于min(started_at + duration_ms, 外层绝对截止)，唤醒时重新核验',
  settled_at DATETIME(6) NULL COMMENT '结清时刻UTC微秒；空值表示仍在等待',
  signal_name VARBINARY(64) NULL COMMENT '等待的信号名，激活时冻结；定时等待为空值',
  signal_version VARBINARY(32) NULL COMMENT '等待的信号契约版本，激活时冻结；定时等待为空值',
  correlation VARBINARY(512) NULL COMMENT '精确关联键，逐字节比较；定时等待为空值',
  winner_id BINARY(16) NULL COMMENT '被采纳的信号编号，写入后不变；空值表示没有',
  PRIMARY KEY (namespace_id, instance_id, activation_id)
) COMMENT='步骤等待：一次激活的定时或信号等待，起止在激活时冻结';

CREATE TABLE weave_signal (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  instance_id BINARY(16) NOT NULL COMMENT '目标实例编号；每个实例全部历史信号至多1024个',
  signal_id BINARY(16) NOT NULL COMMENT '信号编号，UUIDv7，受理时生成',
  step_no SMALLINT UNSIGNED NOT NULL COMMENT '固定的目标步骤序号',
  activation_no SMALLINT UNSIGNED NOT NULL COMMENT '固定的目标激活代次，从1起；旧代次的信号只留痕',
  signal_name VARBINARY(64) NOT NULL COMMENT '信号名，受理时与固定版本的定义核对',
  signal_version VARBINARY(32) NOT NULL COMMENT '信号契约版本，受理时与固定版本的定义核对',
  correlation VARBINARY(512) NOT NULL COMMENT '精确关联键，与等待逐字节比较',
  state TINYINT UNSIGNED NOT NULL COMMENT '1待处理（步骤尚未等待），2已采纳，3已超期，4已拒绝；后三者不再变化',
  classification VARBINARY(48) NULL COMMENT '结清时的稳定分类；空值表示尚未结清',
  version INT UNSIGNED NOT NULL COMMENT '记录版本，结清与退避各加一，用于防止覆盖其他节点的进展',
  available_at DATETIME(6) NOT NULL COMMENT '下次到期检查时刻UTC微秒，仅作退避，不影响业务裁决',
  pending_at DATETIME(6) GENERATED ALWAYS AS (CASE WHEN state = 1 THEN available_at ELSE NULL END) STORED COMMENT '待处理扫描键；结清后为空值，自动离开索引',
  accepted_at DATETIME(6) NOT NULL COMMENT '受理时刻，数据库时钟UTC微秒；先后与超期均按它裁决',
  expires_at DATETIME(6) NOT NULL COMMENT '受理时确定的失效时刻UTC微秒：目标等待的截止，步骤尚未等待时为实例截止',
  settled_at DATETIME(6) NULL COMMENT '结清时刻UTC微秒；空值表示尚未结清',
  digest BINARY(32) NOT NULL COMMENT '信号全部受理字段的SHA-256摘要，采纳前与记录及不可变审计核对',
  audit_id BINARY(16) NOT NULL COMMENT '受理审计的编号，其中保存同一摘要与时刻',
  content LONGBLOB NOT NULL COMMENT '信号内容的精确JSON字节，受理时已按契约校验',
  PRIMARY KEY (namespace_id, instance_id, signal_id),
  KEY signal_pending (namespace_id, pending_at, instance_id)
) COMMENT='流程信号：先存储后应答；早到、重复、迟到均保留并给出分类，从不丢失';

CREATE TABLE weave_poll (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  instance_id BINARY(16) NOT NULL COMMENT '所属实例编号',
  activation_id BINARY(16) NOT NULL COMMENT '所属激活编号',
  step_no SMALLINT UNSIGNED NOT NULL COMMENT '所属步骤序号',
  state TINYINT UNSIGNED NOT NULL COMMENT '1当前轮次在途，2等待下一轮，3已结清',
  used_rounds SMALLINT UNSIGNED NOT NULL COMMENT '从首次激活起已用的业务轮次；请求重试不增加，满额与暂停不消耗',
  current_task_id BINARY(16) NULL COMMENT '在途轮次的任务编号；空值表示没有在途请求',
  last_task_id BINARY(16) NULL COMMENT '最后一轮的任务编号；空值表示尚未提问',
  started_at DATETIME(6) NOT NULL COMMENT '首次激活时刻，数据库时钟UTC微秒；查询总截止以它起算',
  deadline_at DATETIME(6) NOT NULL COMMENT '查询绝对截止UTC微秒，恒等于min(started_at + deadline_ms, 实例截止)，暂停与恢复均不延长',
  next_poll_at DATETIME(6) NULL COMMENT '下一轮时刻UTC微秒：上一轮权威结果发生时刻加固定间隔，受查询截止限制；空值表示没有等待',
  settled_at DATETIME(6) NULL COMMENT '结清时刻UTC微秒；空值表示尚未结清',
  overdue TINYINT UNSIGNED NOT NULL COMMENT '1表示总截止到达时仍有在途请求且已转核查；0为正常',
  verdict TINYINT UNSIGNED NOT NULL COMMENT '最终信号的裁决：0无，2完成，3失败，4核查；在途请求结清前先行保存',
  reason VARBINARY(64) NULL COMMENT '最终信号裁决的稳定原因码；空值表示没有',
  business_key VARBINARY(255) NULL COMMENT '首轮解析出的业务键，后续各轮原样复用；空值表示没有',
  resource_key VARBINARY(255) NULL COMMENT '首轮解析出的资源互斥键，后续各轮原样复用；空值表示没有',
  input LONGBLOB NOT NULL COMMENT '首轮解析出的精确输入JSON字节，后续各轮原样复用，不再求值',
  output LONGBLOB NULL COMMENT '最终信号映射出的输出JSON字节；空值表示没有',
  PRIMARY KEY (namespace_id, instance_id, activation_id)
) COMMENT='有界查询状态：一次激活的轮次预算、时钟与首轮冻结的请求内容';

CREATE TABLE weave_poll_round (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  task_id BINARY(16) NOT NULL COMMENT '本轮任务编号；一轮一个任务，请求重试在任务内部进行',
  instance_id BINARY(16) NOT NULL COMMENT '所属实例编号',
  activation_id BINARY(16) NOT NULL COMMENT '所属激活编号',
  round_no SMALLINT UNSIGNED NOT NULL COMMENT '业务轮次，从1起连续',
  state TINYINT UNSIGNED NOT NULL COMMENT '1在途，2已答复待处理（POLL_PENDING，唯一可开启下一轮的状态），3完成，4业务失败，5待核查，6已取消',
  created_at DATETIME(6) NOT NULL COMMENT '创建时刻，数据库时钟UTC微秒',
  deadline_at DATETIME(6) NOT NULL COMMENT '本轮任务的绝对截止UTC微秒，不晚于查询截止与实例截止',
  settled_at DATETIME(6) NULL COMMENT '权威结果发生时刻UTC微秒；空值表示在途',
  PRIMARY KEY (namespace_id, task_id),
  UNIQUE KEY poll_round_no (namespace_id, instance_id, activation_id, round_no)
) COMMENT='查询轮次：每个业务轮次一行，唯一约束保证同一轮不会创建两次';
