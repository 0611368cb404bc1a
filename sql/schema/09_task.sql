-- Rung 9: tasks. A full row written at submission and at the end; a narrow row while the task is open.

CREATE TABLE task (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  task_id BINARY(16) NOT NULL COMMENT '任务编号，UUIDv7',
  application_id BIGINT UNSIGNED NOT NULL COMMENT '提交任务的应用编号',
  queue_id BIGINT UNSIGNED NOT NULL COMMENT '所在队列编号，受理后不变',
  state TINYINT UNSIGNED NOT NULL COMMENT '1开放（排队或执行，细分见开放任务行），2成功，3失败，4已取消，5待核查',
  state_version INT UNSIGNED NOT NULL COMMENT '最近写入本行时的状态版本；开放期间以开放任务行为准',
  priority TINYINT UNSIGNED NOT NULL COMMENT '优先级0至9，受理时冻结，每级相当于30秒排序优势',
  source TINYINT UNSIGNED NOT NULL COMMENT '来源：1直接提交，2人工重试，3计划，4流程',
  owner_id BINARY(16) NULL COMMENT '来源对象编号：流程为激活编号，计划为触发编号，人工重试为原任务编号；直接提交为空值',
  gate_id BINARY(16) NULL COMMENT '执行门控编号（流程任务为实例编号）；空值表示不受门控',
  handler VARBINARY(128) NOT NULL COMMENT '处理器名称，受理时冻结',
  handler_version VARBINARY(64) NOT NULL COMMENT '处理器版本文本，受理时冻结',
  attempt_timeout_ms BIGINT UNSIGNED NOT NULL COMMENT '单次执行租约链的时长上限，毫秒',
  max_attempts SMALLINT UNSIGNED NOT NULL COMMENT '尝试预算，次；归还的尝试不计入',
  retry_policy VARBINARY(1024) NOT NULL COMMENT '冻结的重试策略JSON，固定、线性、指数或列表之一',
  lost_policy TINYINT UNSIGNED NOT NULL COMMENT '失联策略：1转人工核查，2提交方声明可安全重做',
  available_at DATETIME(6) NOT NULL COMMENT '首次可执行时刻UTC微秒，首次受理时计算一次',
  deadline_at DATETIME(6) NOT NULL COMMENT '绝对截止UTC微秒，覆盖等待、全部尝试与重试',
  created_at DATETIME(6) NOT NULL COMMENT '受理时刻，数据库时钟UTC微秒',
  changed_at DATETIME(6) NOT NULL COMMENT '最近写入本行的时刻，数据库时钟UTC微秒',
  result_attempt_no SMALLINT UNSIGNED NOT NULL COMMENT '给出最终结果的尝试序号；0表示尚无结果、未经执行或由人工核查裁定',
  failure_code VARBINARY(64) NULL COMMENT '失败、取消或核查的原因码；空值表示没有',
  business_key VARBINARY(255) NULL COMMENT '业务键，精确匹配含尾部空格与大小写；空值表示未提供',
  resource_key VARBINARY(255) NULL COMMENT '资源互斥键：命名空间内同键至多一个在途或未知执行；空值表示不互斥',
  traceparent VARBINARY(64) NULL COMMENT '提交请求的W3C跟踪上下文，随任务交给执行者；空值表示未提供',
  output_contract BLOB NULL COMMENT '输出契约JSON；成功输出不符合时转核查；空值表示不校验',
  input LONGBLOB NOT NULL COMMENT '输入的精确JSON字节',
  PRIMARY KEY (namespace_id, task_id),
  KEY task_list (namespace_id, queue_id, created_at, task_id),
  KEY task_list_state (namespace_id, queue_id, state, created_at, task_id),
  KEY task_list_key (namespace_id, queue_id, business_key, created_at, task_id),
  KEY task_list_key_state (namespace_id, queue_id, business_key, state, created_at, task_id),
  CONSTRAINT task_priority CHECK (priority <= 9)
) COMMENT='任务全量行：受理与结束时各写一次，开放期间的变化在开放任务行';

CREATE TABLE open_task (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  task_id BINARY(16) NOT NULL COMMENT '任务编号，结束时删除本行',
  application_id BIGINT UNSIGNED NOT NULL COMMENT '所属应用编号，用于确定应锁的额度行',
  queue_id BIGINT UNSIGNED NOT NULL COMMENT '所在队列编号',
  state TINYINT UNSIGNED NOT NULL COMMENT '1排队，2执行中，3延迟未到，4等待资源键，5等待门控，6待核查；3至5对外均为排队',
  state_version INT UNSIGNED NOT NULL COMMENT '任务状态版本，每次公开状态变更加一并写事件',
  priority TINYINT UNSIGNED NOT NULL COMMENT '优先级0至9，与任务行一致',
  attempt_no SMALLINT UNSIGNED NOT NULL COMMENT '已开始的尝试序号；0表示从未开始',
  attempts_used SMALLINT UNSIGNED NOT NULL COMMENT '已消耗的尝试预算，次；归还的尝试不计入',
  max_attempts SMALLINT UNSIGNED NOT NULL COMMENT '尝试预算，次，与任务行一致',
  lost_policy TINYINT UNSIGNED NOT NULL COMMENT '失联策略，与任务行一致',
  has_contract TINYINT UNSIGNED NOT NULL COMMENT '1表示任务行带输出契约，完成时须读取校验',
  permit_held TINYINT UNSIGNED NOT NULL COMMENT '1表示执行许可未释放：执行中，或曾失联且效果未知（含声明可重做后的等待）；真实结果确定前不得归零',
  handler_hash BIGINT UNSIGNED NOT NULL COMMENT '处理器名称与版本摘要的前8字节，仅用于领取时过滤',
  attempt_timeout_ms BIGINT UNSIGNED NOT NULL COMMENT '单次执行租约链的时长上限，毫秒，与任务行一致',
  input_bytes INT UNSIGNED NOT NULL COMMENT '输入字节数，用于归还应用负载额度',
  available_at DATETIME(6) NOT NULL COMMENT '最早可开始时刻UTC微秒；重试后为下次开始时刻',
  deadline_at DATETIME(6) NOT NULL COMMENT '绝对截止UTC微秒，与任务行一致',
  started_at DATETIME(6) NULL COMMENT '当前尝试开始时刻UTC微秒；空值表示没有当前尝试',
  lease_until DATETIME(6) NULL COMMENT '当前租约到期时刻UTC微秒；空值表示没有租约',
  cancel_requested_at DATETIME(6) NULL COMMENT '请求取消执行的时刻UTC微秒；空值表示未请求',
  token BINARY(16) NULL COMMENT '当前尝试的随机防护令牌，与尝试序号共同校验上报；空值表示没有当前尝试',
  worker VARBINARY(128) NULL COMMENT '当前执行者自报的名称，仅供排查；空值表示没有当前尝试',
  resource_key VARBINARY(255) NULL COMMENT '资源互斥键，与任务行一致；空值表示不互斥',
  gate_id BINARY(16) NULL COMMENT '执行门控编号；空值表示不受门控',
  owner_id BINARY(16) NULL COMMENT '流程任务的激活编号；空值表示非流程任务，结束时不写收件箱',
  due_at DATETIME(6) GENERATED ALWAYS AS (CASE state WHEN 2 THEN lease_until WHEN 3 THEN available_at ELSE DATE_SUB(available_at, INTERVAL 30 * priority SECOND) END) STORED COMMENT '数据库生成的排序时刻：排队为可执行时刻减优先级优势，执行中为租约到期，延迟为可执行时刻；不替代可执行时刻检查',
  PRIMARY KEY (namespace_id, task_id),
  KEY open_due (namespace_id, queue_id, state, due_at, task_id, handler_hash),
  KEY open_deadline (namespace_id, deadline_at, task_id)
) COMMENT='开放任务窄行：任务未结束期间的状态、租约与排序，领取、失联与延迟共用一个索引';

CREATE TABLE attempt (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  task_id BINARY(16) NOT NULL COMMENT '所属任务编号',
  attempt_no SMALLINT UNSIGNED NOT NULL COMMENT '尝试序号，从1连续递增',
  outcome TINYINT UNSIGNED NOT NULL COMMENT '结局：1成功，2可重试失败，3永久失败，4未知，5已取消，6归还',
  consumed TINYINT UNSIGNED NOT NULL COMMENT '1表示计入尝试预算；归还为0',
  task_state TINYINT UNSIGNED NOT NULL COMMENT '登记该结局后任务的公开状态：1排队，2成功，3失败，4已取消，5待核查；重复上报据此返回原答复',
  token BINARY(16) NOT NULL COMMENT '该尝试的随机防护令牌，重复上报据此认出',
  worker VARBINARY(128) NOT NULL COMMENT '执行者自报的名称，仅供排查',
  started_at DATETIME(6) NOT NULL COMMENT '开始时刻，数据库时钟UTC微秒',
  lease_until DATETIME(6) NOT NULL COMMENT '结束时的租约到期时刻UTC微秒',
  ended_at DATETIME(6) NOT NULL COMMENT '登记结局的时刻，数据库时钟UTC微秒；未知结局不代表外部执行已结束',
  report_digest BINARY(32) NOT NULL COMMENT '结局上报内容的摘要，重复上报须一致',
  failure_code VARBINARY(64) NULL COMMENT '失败或未知的原因码；空值表示成功',
  failure_message VARBINARY(1024) NULL COMMENT '供人阅读的失败说明；空值表示没有',
  failure_details LONGBLOB NULL COMMENT '执行者附带的失败详情JSON字节；空值表示没有',
  output LONGBLOB NULL COMMENT '成功输出的精确JSON字节；空值表示没有输出',
  PRIMARY KEY (namespace_id, task_id, attempt_no)
) COMMENT='任务尝试：每次执行结束时写一行，从不改写';

CREATE TABLE task_event (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  task_id BINARY(16) NOT NULL COMMENT '所属任务编号',
  event_no INT UNSIGNED NOT NULL COMMENT '事件序号，等于该变更后的状态版本，逐任务连续',
  kind TINYINT UNSIGNED NOT NULL COMMENT '事件种类：1受理，2开始，3成功，4失败，5取消，6安排重试，7失联，8转核查，9请求取消，10归还，11逾期，12人工核查',
  attempt_no SMALLINT UNSIGNED NOT NULL COMMENT '相关尝试序号；0表示与执行无关',
  at DATETIME(6) NOT NULL COMMENT '提交该变更的事务时刻，数据库时钟UTC微秒',
  detail VARBINARY(1024) NULL COMMENT '补充说明JSON，如下次开始时刻或原因码；空值表示没有',
  PRIMARY KEY (namespace_id, task_id, event_no)
) COMMENT='任务事件：每次状态变更一行，与状态同事务，只增不改';

CREATE TABLE late_evidence (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  task_id BINARY(16) NOT NULL COMMENT '所属任务编号',
  attempt_no SMALLINT UNSIGNED NOT NULL COMMENT '上报声称的尝试序号',
  report_digest BINARY(32) NOT NULL COMMENT '迟到上报内容的摘要，相同内容只保留一份',
  outcome TINYINT UNSIGNED NOT NULL COMMENT '执行者声称的结局，取值同尝试结局',
  received_at DATETIME(6) NOT NULL COMMENT '收到时刻，数据库时钟UTC微秒',
  worker VARBINARY(128) NOT NULL COMMENT '上报者自报的名称，仅供排查',
  report LONGBLOB NOT NULL COMMENT '迟到上报的完整JSON字节，供核查人查看，不改变任何状态',
  PRIMARY KEY (namespace_id, task_id, attempt_no, report_digest)
) COMMENT='迟到证据：失联或已结束之后收到的执行上报，只留存不裁决';

CREATE TABLE resource_lock (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  resource_key VARBINARY(255) NOT NULL COMMENT '被占用的资源互斥键，精确字节',
  task_id BINARY(16) NOT NULL COMMENT '占用者任务编号：执行中或结果未知',
  waiters INT UNSIGNED NOT NULL COMMENT '已停靠等待该键的任务数，个，必须等于等待行数',
  PRIMARY KEY (namespace_id, resource_key)
) COMMENT='资源占用：开始执行时写入，真实结果确定后删除，未知期间保持';

CREATE TABLE key_wait (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  resource_key VARBINARY(255) NOT NULL COMMENT '等待的资源互斥键，精确字节',
  due_at DATETIME(6) NOT NULL COMMENT '停靠时的排序时刻，决定唤醒先后',
  task_id BINARY(16) NOT NULL COMMENT '停靠的任务编号',
  application_id BIGINT UNSIGNED NOT NULL COMMENT '停靠任务所属应用编号',
  queue_id BIGINT UNSIGNED NOT NULL COMMENT '停靠任务所在队列编号，唤醒时须先锁该队列',
  PRIMARY KEY (namespace_id, resource_key, due_at, task_id)
) COMMENT='资源等待：被占用键挡住的任务离开领取索引，键释放时按序唤醒';

CREATE TABLE task_review (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  task_id BINARY(16) NOT NULL COMMENT '被核查的任务编号；任务只离开待核查一次，故每个任务至多一行',
  decision TINYINT UNSIGNED NOT NULL COMMENT '裁定后的任务状态：2成功，3失败',
  state_version INT UNSIGNED NOT NULL COMMENT '裁定后的任务状态版本，等于核查事件的序号',
  decided_by VARBINARY(96) NOT NULL COMMENT '裁定者：凭据编号',
  at DATETIME(6) NOT NULL COMMENT '裁定事务时刻，数据库时钟UTC微秒',
  reason VARBINARY(1024) NOT NULL COMMENT '裁定者给出的原因，必填',
  failure_code VARBINARY(64) NULL COMMENT '裁定失败的原因码；空值表示裁定成功',
  failure_message VARBINARY(1024) NULL COMMENT '供人阅读的失败说明；空值表示没有',
  failure_details LONGBLOB NULL COMMENT '失败详情的精确JSON字节；空值表示没有',
  evidence LONGBLOB NOT NULL COMMENT '裁定依据的精确JSON字节，至多64 KiB',
  output LONGBLOB NULL COMMENT '裁定成功时的输出精确JSON字节，已按输出契约校验；空值表示没有输出',
  PRIMARY KEY (namespace_id, task_id),
  CONSTRAINT task_review_decision CHECK (decision IN (2, 3))
) COMMENT='人工核查：裁定、依据与结果，只增不改；不改写尝试与迟到证据';

CREATE TABLE task_retry (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  task_id BINARY(16) NOT NULL COMMENT '原任务编号；主键保证每个任务至多一个直接后继',
  successor_id BINARY(16) NOT NULL COMMENT '人工重试产生的新任务编号，其来源对象为原任务',
  retried_by VARBINARY(96) NOT NULL COMMENT '操作者：凭据编号',
  at DATETIME(6) NOT NULL COMMENT '受理事务时刻，数据库时钟UTC微秒',
  reason VARBINARY(1024) NOT NULL COMMENT '操作者给出的原因，必填',
  PRIMARY KEY (namespace_id, task_id)
) COMMENT='人工重试：原任务到唯一直接后继的关联，只增不改；继续重试沿后继推进';

CREATE TABLE task_slot (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  queue_id BIGINT UNSIGNED NOT NULL COMMENT '所属队列编号；同名键在不同队列互不相关',
  kind TINYINT UNSIGNED NOT NULL COMMENT '用途：1唯一窗口，期间同键只有一个任务；2合并等待，等待期内后到的输入取代先到的',
  slot_key VARBINARY(255) NOT NULL COMMENT '调用方给出的键，精确字节',
  task_id BINARY(16) NOT NULL COMMENT '当前占位的任务编号；任务是否未结束以开放任务行为准',
  first_at DATETIME(6) NOT NULL COMMENT '本轮首次受理时刻UTC微秒；合并等待的最长等待由此起算',
  held_until DATETIME(6) NOT NULL COMMENT '唯一窗口保持到的时刻UTC微秒，任务先结束也保持；合并等待等于其可执行时刻',
  receipt VARBINARY(1024) NOT NULL COMMENT '占位任务受理时的回执正文，窗口内的其他提交据此得到同一任务',
  PRIMARY KEY (namespace_id, queue_id, kind, slot_key),
  KEY slot_held (namespace_id, held_until)
) COMMENT='任务占位：唯一窗口与合并等待的当前任务，只在使用这些功能时写入，由队列锁保护';

CREATE TABLE task_attribute (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  queue_id BIGINT UNSIGNED NOT NULL COMMENT '任务所在队列编号',
  name VARBINARY(48) NOT NULL COMMENT '属性名，提交方自定',
  value VARBINARY(255) NOT NULL COMMENT '属性值，精确字节，区分大小写与尾部空格',
  created_at DATETIME(6) NOT NULL COMMENT '任务受理时刻UTC微秒，列表按此排序',
  task_id BINARY(16) NOT NULL COMMENT '所属任务编号',
  PRIMARY KEY (namespace_id, queue_id, name, value, created_at, task_id),
  KEY attribute_task (namespace_id, task_id)
) COMMENT='任务检索属性：每任务有限个，受理时写入后不变，只在提交带属性时写入';

CREATE TABLE task_progress (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  task_id BINARY(16) NOT NULL COMMENT '所属任务编号',
  attempt_no SMALLINT UNSIGNED NOT NULL COMMENT '上报进度的尝试序号',
  at DATETIME(6) NOT NULL COMMENT '最近一次上报时刻，数据库时钟UTC微秒',
  percent TINYINT UNSIGNED NULL COMMENT '完成百分比0至100；空值表示执行者未给出',
  message VARBINARY(1024) NULL COMMENT '供人阅读的进度说明；空值表示没有',
  detail BLOB NULL COMMENT '执行者附带的进度详情JSON字节，不超过4 KiB；空值表示没有',
  PRIMARY KEY (namespace_id, task_id),
  CONSTRAINT task_progress_percent CHECK (percent <= 100)
) COMMENT='任务进度：执行者随续租给出的最近一次进度，只供查看，不裁决任何事';
