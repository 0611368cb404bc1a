-- Create "activation" table
CREATE TABLE `activation` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `instance_id` binary(16) NOT NULL COMMENT "所属实例编号",
  `activation_id` binary(16) NOT NULL COMMENT "激活编号，UUIDv7；任务所有者与收件记录均固定引用它",
  `step_no` smallint unsigned NOT NULL COMMENT "所属步骤序号",
  `activation_no` smallint unsigned NOT NULL COMMENT "该步骤的激活代次，从1起",
  `task_id` binary(16) NULL COMMENT "本次激活创建的任务编号；空值表示此类节点不直接对应任务",
  `deadline_at` datetime(6) NOT NULL COMMENT "本次工作的绝对截止UTC微秒，不晚于实例截止",
  `created_at` datetime(6) NOT NULL COMMENT "激活时刻，数据库时钟UTC微秒",
  `settled_at` datetime(6) NULL COMMENT "结清时刻UTC微秒；空值表示仍在途",
  PRIMARY KEY (`namespace_id`, `instance_id`, `activation_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "步骤激活：一次具体执行的身份，迟到结果据此辨认新旧";
-- Create "application" table
CREATE TABLE `application` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `application_id` bigint unsigned NOT NULL COMMENT "随机63位应用编号，命名空间内唯一",
  `name` varbinary(64) NOT NULL COMMENT "应用名称，命名空间内唯一，精确字节比较",
  `status` tinyint unsigned NOT NULL COMMENT "1启用，2停用；停用后凭据全部失效且不启动新执行",
  `created_at` datetime(6) NOT NULL COMMENT "创建时刻，数据库时钟UTC微秒",
  PRIMARY KEY (`namespace_id`, `application_id`),
  UNIQUE INDEX `application_name` (`namespace_id`, `name`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "接入应用：拥有凭据、额度与队列；身份行与额度行分离，共享锁从不升级";
-- Create "attempt" table
CREATE TABLE `attempt` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `task_id` binary(16) NOT NULL COMMENT "所属任务编号",
  `attempt_no` smallint unsigned NOT NULL COMMENT "尝试序号，从1连续递增",
  `outcome` tinyint unsigned NOT NULL COMMENT "结局：1成功，2可重试失败，3永久失败，4未知，5已取消，6归还",
  `consumed` tinyint unsigned NOT NULL COMMENT "1表示计入尝试预算；归还为0",
  `task_state` tinyint unsigned NOT NULL COMMENT "登记该结局后任务的公开状态：1排队，2成功，3失败，4已取消，5待核查；重复上报据此返回原答复",
  `token` binary(16) NOT NULL COMMENT "该尝试的随机防护令牌，重复上报据此认出",
  `worker` varbinary(128) NOT NULL COMMENT "执行者自报的名称，仅供排查",
  `started_at` datetime(6) NOT NULL COMMENT "开始时刻，数据库时钟UTC微秒",
  `lease_until` datetime(6) NOT NULL COMMENT "结束时的租约到期时刻UTC微秒",
  `ended_at` datetime(6) NOT NULL COMMENT "登记结局的时刻，数据库时钟UTC微秒；未知结局不代表外部执行已结束",
  `report_digest` binary(32) NOT NULL COMMENT "结局上报内容的摘要，重复上报须一致",
  `failure_code` varbinary(64) NULL COMMENT "失败或未知的原因码；空值表示成功",
  `failure_message` varbinary(1024) NULL COMMENT "供人阅读的失败说明；空值表示没有",
  `failure_details` longblob NULL COMMENT "执行者附带的失败详情JSON字节；空值表示没有",
  `output` longblob NULL COMMENT "成功输出的精确JSON字节；空值表示没有输出",
  PRIMARY KEY (`namespace_id`, `task_id`, `attempt_no`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "任务尝试：每次执行结束时写一行，从不改写";
-- Create "audit" table
CREATE TABLE `audit` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `audit_id` binary(16) NOT NULL COMMENT "审计编号，UUIDv7",
  `application_id` bigint unsigned NOT NULL COMMENT "相关应用编号；0表示命名空间级操作",
  `operation_id` binary(16) NOT NULL COMMENT "操作身份，每次操作或推进独立，不重复使用",
  `actor` varbinary(96) NOT NULL COMMENT "操作者：凭据编号、命令行引导或 system:weave:节点编号",
  `action` varbinary(64) NOT NULL COMMENT "稳定的动作名，如 credential.created、workflow.advanced、task.lost",
  `subject` varbinary(96) NOT NULL COMMENT "作用对象的类型化编号或名称",
  `at` datetime(6) NOT NULL COMMENT "事务时刻，数据库时钟UTC微秒",
  `reason` varbinary(1024) NULL COMMENT "操作者给出的原因；空值表示系统动作无需说明",
  `detail` longblob NOT NULL COMMENT "补充事实JSON字节，不含密钥与业务负载",
  PRIMARY KEY (`namespace_id`, `audit_id`),
  INDEX `audit_subject` (`namespace_id`, `subject`, `audit_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "审计记录：与其说明的变更同事务写入，只增不改";
-- Create "credential" table
CREATE TABLE `credential` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号，写在密钥文本内，使查找只需一行",
  `credential_id` bigint unsigned NOT NULL COMMENT "随机63位凭据编号，写在密钥文本内",
  `application_id` bigint unsigned NOT NULL COMMENT "凭据所属应用编号",
  `name` varbinary(64) NOT NULL COMMENT "管理员给出的用途说明名，仅供辨认，不参与鉴权",
  `secret_hash` binary(32) NOT NULL COMMENT "256位随机密钥的SHA-256摘要；原文只在签发时返回一次",
  `scopes` varchar(1024) NOT NULL COMMENT "以空格分隔的权限范围名，按原样授予，互不隐含",
  `expires_at` datetime(6) NULL COMMENT "失效时刻UTC微秒；空值表示不自动过期",
  `revoked_at` datetime(6) NULL COMMENT "吊销时刻UTC微秒；空值表示未吊销，写入后不可清除",
  `rotated_to` bigint unsigned NULL COMMENT "轮换产生的新凭据编号；空值表示没有后继，旧凭据在重叠期内仍可用",
  `last_used_at` datetime(6) NULL COMMENT "最近一次使用时刻，约一分钟粒度的提示值，不作为鉴权依据；空值表示从未使用",
  `created_at` datetime(6) NOT NULL COMMENT "签发时刻，数据库时钟UTC微秒",
  PRIMARY KEY (`namespace_id`, `credential_id`),
  INDEX `credential_application` (`namespace_id`, `application_id`, `credential_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "应用凭据：只存密钥摘要，权限、有效期与吊销均以本行为准";
-- Create "execution_gate" table
CREATE TABLE `execution_gate` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `gate_id` binary(16) NOT NULL COMMENT "门控编号，等于其实例编号",
  `state` tinyint unsigned NOT NULL COMMENT "1打开：允许领取；2关闭：不授予新执行，已在途的继续收集",
  `changed_at` datetime(6) NOT NULL COMMENT "最近开关时刻，数据库时钟UTC微秒",
  PRIMARY KEY (`namespace_id`, `gate_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "执行门控：领取时共享锁定，关闭后该实例的任务不再开始";
-- Create "instance" table
CREATE TABLE `instance` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `instance_id` binary(16) NOT NULL COMMENT "实例编号，UUIDv7",
  `application_id` bigint unsigned NOT NULL COMMENT "启动实例的应用编号",
  `definition` varbinary(48) NOT NULL COMMENT "固定引用的定义名称",
  `version` int unsigned NOT NULL COMMENT "固定引用的定义版本，实例一生不变",
  `state` tinyint unsigned NOT NULL COMMENT "1运行，2成功，3失败，4已取消，5待核查，6停止结清中",
  `paused` tinyint unsigned NOT NULL COMMENT "1表示用户暂停：收集结果但不启动新步骤；0为正常，与状态相互独立",
  `revision` int unsigned NOT NULL COMMENT "通用修订号，任何已提交变更加一；启动后首批推进为2",
  `control_revision` int unsigned NOT NULL COMMENT "用户控制修订号，仅暂停、继续、取消时加一",
  `stop_kind` tinyint unsigned NULL COMMENT "首次停止目标：1取消，2失败；空值表示没有停止意图，写入后冻结",
  `stop_requested_at` datetime(6) NULL COMMENT "首次停止意图时刻UTC微秒；空值表示没有停止意图",
  `reason` varbinary(64) NULL COMMENT "进入核查或失败的稳定原因码；空值表示没有",
  `business_key` varbinary(255) NULL COMMENT "调用方业务键，精确字节；空值表示未提供",
  `traceparent` varbinary(64) NULL COMMENT "启动请求的W3C跟踪上下文，传给各步骤任务；空值表示未提供",
  `deadline_at` datetime(6) NOT NULL COMMENT "实例绝对截止UTC微秒，暂停、重启与恢复均不延长",
  `created_at` datetime(6) NOT NULL COMMENT "启动受理时刻，数据库时钟UTC微秒",
  `ended_at` datetime(6) NULL COMMENT "进入终态时刻UTC微秒；空值表示尚未终结",
  `input` longblob NOT NULL COMMENT "启动输入的精确JSON字节",
  `output` longblob NULL COMMENT "成功时的输出JSON字节；空值表示尚无输出",
  PRIMARY KEY (`namespace_id`, `instance_id`),
  INDEX `instance_list` (`namespace_id`, `application_id`, `created_at`, `instance_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "流程实例：固定定义版本的一次运行，先于门控、步骤与任务锁定";
-- Create "instance_history" table
CREATE TABLE `instance_history` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `instance_id` binary(16) NOT NULL COMMENT "所属实例编号",
  `revision` int unsigned NOT NULL COMMENT "本条记录对应的实例修订号，连续且唯一",
  `kind` varbinary(48) NOT NULL COMMENT "变更种类，如 started、advanced、result_consumed、late_result",
  `at` datetime(6) NOT NULL COMMENT "提交该修订的事务时刻，数据库时钟UTC微秒",
  `actor` varbinary(96) NOT NULL COMMENT "触发者：凭据编号或 system:weave:节点编号",
  `detail` longblob NOT NULL COMMENT "该修订改变的步骤与状态，JSON字节，不含业务负载",
  PRIMARY KEY (`namespace_id`, `instance_id`, `revision`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "实例历史：每个修订一行，与状态变更同事务写入，只增不改";
-- Create "key_wait" table
CREATE TABLE `key_wait` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `resource_key` varbinary(255) NOT NULL COMMENT "等待的资源互斥键，精确字节",
  `due_at` datetime(6) NOT NULL COMMENT "停靠时的排序时刻，决定唤醒先后",
  `task_id` binary(16) NOT NULL COMMENT "停靠的任务编号",
  `application_id` bigint unsigned NOT NULL COMMENT "停靠任务所属应用编号",
  `queue_id` bigint unsigned NOT NULL COMMENT "停靠任务所在队列编号，唤醒时须先锁该队列",
  PRIMARY KEY (`namespace_id`, `resource_key`, `due_at`, `task_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "资源等待：被占用键挡住的任务离开领取索引，键释放时按序唤醒";
-- Create "late_evidence" table
CREATE TABLE `late_evidence` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `task_id` binary(16) NOT NULL COMMENT "所属任务编号",
  `attempt_no` smallint unsigned NOT NULL COMMENT "上报声称的尝试序号",
  `report_digest` binary(32) NOT NULL COMMENT "迟到上报内容的摘要，相同内容只保留一份",
  `outcome` tinyint unsigned NOT NULL COMMENT "执行者声称的结局，取值同尝试结局",
  `received_at` datetime(6) NOT NULL COMMENT "收到时刻，数据库时钟UTC微秒",
  `worker` varbinary(128) NOT NULL COMMENT "上报者自报的名称，仅供排查",
  `report` longblob NOT NULL COMMENT "迟到上报的完整JSON字节，供核查人查看，不改变任何状态",
  PRIMARY KEY (`namespace_id`, `task_id`, `attempt_no`, `report_digest`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "迟到证据：失联或已结束之后收到的执行上报，只留存不裁决";
-- Create "namespace" table
CREATE TABLE `namespace` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "随机63位编号，所有业务数据的隔离与分片键，永不修改",
  `name` varbinary(64) NOT NULL COMMENT "名称副本，供展示；唯一性由名称登记表保证",
  `status` tinyint unsigned NOT NULL COMMENT "1启用，2停用；停用后不再启动新执行，已落库结果仍继续收集",
  `created_at` datetime(6) NOT NULL COMMENT "开通时刻，数据库时钟UTC微秒",
  PRIMARY KEY (`namespace_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "命名空间：租户隔离的根，身份共享锁的第一行";
-- Create "namespace_name" table
CREATE TABLE `namespace_name` (
  `name` varbinary(64) NOT NULL COMMENT "命名空间的全局唯一名称，精确字节；独立于分片数据保存，仅开通命名空间的事务写入",
  `namespace_id` bigint unsigned NOT NULL COMMENT "该名称指向的命名空间编号，写入后不再改变",
  PRIMARY KEY (`name`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "命名空间名称登记：唯一不以命名空间编号开头的小表，保证名称全局唯一";
-- Create "open_task" table
CREATE TABLE `open_task` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `task_id` binary(16) NOT NULL COMMENT "任务编号，结束时删除本行",
  `application_id` bigint unsigned NOT NULL COMMENT "所属应用编号，用于确定应锁的额度行",
  `queue_id` bigint unsigned NOT NULL COMMENT "所在队列编号",
  `state` tinyint unsigned NOT NULL COMMENT "1排队，2执行中，3延迟未到，4等待资源键，5等待门控，6待核查；3至5对外均为排队",
  `state_version` int unsigned NOT NULL COMMENT "任务状态版本，每次公开状态变更加一并写事件",
  `priority` tinyint unsigned NOT NULL COMMENT "优先级0至9，与任务行一致",
  `attempt_no` smallint unsigned NOT NULL COMMENT "已开始的尝试序号；0表示从未开始",
  `attempts_used` smallint unsigned NOT NULL COMMENT "已消耗的尝试预算，次；归还的尝试不计入",
  `max_attempts` smallint unsigned NOT NULL COMMENT "尝试预算，次，与任务行一致",
  `lost_policy` tinyint unsigned NOT NULL COMMENT "失联策略，与任务行一致",
  `has_contract` tinyint unsigned NOT NULL COMMENT "1表示任务行带输出契约，完成时须读取校验",
  `permit_held` tinyint unsigned NOT NULL COMMENT "1表示执行许可未释放：执行中，或曾失联且效果未知（含声明可重做后的等待）；真实结果确定前不得归零",
  `handler_hash` bigint unsigned NOT NULL COMMENT "处理器名称与版本摘要的前8字节，仅用于领取时过滤",
  `attempt_timeout_ms` bigint unsigned NOT NULL COMMENT "单次执行租约链的时长上限，毫秒，与任务行一致",
  `input_bytes` int unsigned NOT NULL COMMENT "输入字节数，用于归还应用负载额度",
  `available_at` datetime(6) NOT NULL COMMENT "最早可开始时刻UTC微秒；重试后为下次开始时刻",
  `deadline_at` datetime(6) NOT NULL COMMENT "绝对截止UTC微秒，与任务行一致",
  `started_at` datetime(6) NULL COMMENT "当前尝试开始时刻UTC微秒；空值表示没有当前尝试",
  `lease_until` datetime(6) NULL COMMENT "当前租约到期时刻UTC微秒；空值表示没有租约",
  `cancel_requested_at` datetime(6) NULL COMMENT "请求取消执行的时刻UTC微秒；空值表示未请求",
  `token` binary(16) NULL COMMENT "当前尝试的随机防护令牌，与尝试序号共同校验上报；空值表示没有当前尝试",
  `worker` varbinary(128) NULL COMMENT "当前执行者自报的名称，仅供排查；空值表示没有当前尝试",
  `resource_key` varbinary(255) NULL COMMENT "资源互斥键，与任务行一致；空值表示不互斥",
  `gate_id` binary(16) NULL COMMENT "执行门控编号；空值表示不受门控",
  `owner_id` binary(16) NULL COMMENT "流程任务的激活编号；空值表示非流程任务，结束时不写收件箱",
  `due_at` datetime(6) AS (case `state` when 2 then `lease_until` when 3 then `available_at` else (`available_at` - interval (30 * `priority`) second) end) STORED COMMENT "数据库生成的排序时刻：排队为可执行时刻减优先级优势，执行中为租约到期，延迟为可执行时刻；不替代可执行时刻检查",
  PRIMARY KEY (`namespace_id`, `task_id`),
  INDEX `open_deadline` (`namespace_id`, `deadline_at`, `task_id`),
  INDEX `open_due` (`namespace_id`, `queue_id`, `state`, `due_at`, `task_id`, `handler_hash`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "开放任务窄行：任务未结束期间的状态、租约与排序，领取、失联与延迟共用一个索引";
-- Create "queue" table
CREATE TABLE `queue` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `queue_id` bigint unsigned NOT NULL COMMENT "随机63位队列编号，命名空间内唯一，多队列按此排序加锁",
  `application_id` bigint unsigned NOT NULL COMMENT "队列所属应用编号",
  `name` varbinary(64) NOT NULL COMMENT "队列名称，应用内唯一，精确字节比较",
  `open_tasks_max` bigint NOT NULL COMMENT "未结束任务数上限，个",
  `running_attempts_max` bigint NOT NULL COMMENT "同时执行的尝试数上限，个",
  `paused` tinyint unsigned NOT NULL COMMENT "1表示暂停领取，仍可提交；0为正常",
  `draining` tinyint unsigned NOT NULL COMMENT "1表示排空：拒绝新提交，仍可领取；0为正常",
  `open_tasks` bigint NOT NULL COMMENT "当前未结束任务数，必须等于该队列开放任务行数",
  `running_attempts` bigint NOT NULL COMMENT "当前执行中的尝试数，必须等于该队列执行中的开放任务行数",
  `version` int unsigned NOT NULL COMMENT "设置的乐观版本，每次修改设置加一；计数变化不影响",
  `created_at` datetime(6) NOT NULL COMMENT "创建时刻，数据库时钟UTC微秒",
  PRIMARY KEY (`namespace_id`, `queue_id`),
  UNIQUE INDEX `queue_name` (`namespace_id`, `application_id`, `name`),
  CONSTRAINT `queue_open_tasks` CHECK (`open_tasks` >= 0),
  CONSTRAINT `queue_running_attempts` CHECK (`running_attempts` >= 0)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "任务队列：设置、限额与精确计数，在应用额度之后锁定";
-- Create "quota" table
CREATE TABLE `quota` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `application_id` bigint unsigned NOT NULL COMMENT "额度所属应用编号",
  `open_tasks_max` bigint NOT NULL COMMENT "未结束任务数上限，个；含排队、执行与待核查",
  `running_attempts_max` bigint NOT NULL COMMENT "同时执行的尝试数上限，个",
  `open_instances_max` bigint NOT NULL COMMENT "未结束流程实例数上限，个",
  `open_payload_bytes_max` bigint NOT NULL COMMENT "未结束任务输入总字节上限，字节",
  `open_tasks` bigint NOT NULL COMMENT "当前未结束任务数，必须等于开放任务行数",
  `running_attempts` bigint NOT NULL COMMENT "当前执行中的尝试数，必须等于状态为执行中的开放任务行数；失联后立即释放",
  `open_instances` bigint NOT NULL COMMENT "当前未结束流程实例数，必须等于未终结实例行数",
  `open_payload_bytes` bigint NOT NULL COMMENT "当前未结束任务的输入总字节，字节",
  PRIMARY KEY (`namespace_id`, `application_id`),
  CONSTRAINT `quota_open_instances` CHECK (`open_instances` >= 0),
  CONSTRAINT `quota_open_payload_bytes` CHECK (`open_payload_bytes` >= 0),
  CONSTRAINT `quota_open_tasks` CHECK (`open_tasks` >= 0),
  CONSTRAINT `quota_running_attempts` CHECK (`running_attempts` >= 0)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "应用额度与精确用量：涉及用量的事务最先排他锁定，先于任何队列行";
-- Create "receipt" table
CREATE TABLE `receipt` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `application_id` bigint unsigned NOT NULL COMMENT "受理请求的应用编号",
  `kind` tinyint unsigned NOT NULL COMMENT "操作种类：1任务提交（含人工重试，共用提交键），2任务取消，3定义发布，4实例启动，5任务核查，8计划手动触发；同一键在不同种类下互不相关",
  `receipt_key` varbinary(255) NOT NULL COMMENT "调用方给出的幂等键，精确字节，区分大小写与尾部空格",
  `digest` binary(32) NOT NULL COMMENT "原请求的结构摘要；同键不同摘要即为冲突",
  `subject_id` binary(16) NOT NULL COMMENT "受理产生或作用的对象编号（任务、实例）；发布定义时为操作编号",
  `body` blob NOT NULL COMMENT "首次受理时冻结的回执正文，重报逐字节返回",
  `created_at` datetime(6) NOT NULL COMMENT "首次受理时刻，数据库时钟UTC微秒",
  PRIMARY KEY (`namespace_id`, `application_id`, `kind`, `receipt_key`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "操作回执：同一应用同一键只受理一次，回执冻结且独立于任务保留期";
-- Create "resource_lock" table
CREATE TABLE `resource_lock` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `resource_key` varbinary(255) NOT NULL COMMENT "被占用的资源互斥键，精确字节",
  `task_id` binary(16) NOT NULL COMMENT "占用者任务编号：执行中或结果未知",
  `waiters` int unsigned NOT NULL COMMENT "已停靠等待该键的任务数，个，必须等于等待行数",
  PRIMARY KEY (`namespace_id`, `resource_key`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "资源占用：开始执行时写入，真实结果确定后删除，未知期间保持";
-- Create "schedule" table
CREATE TABLE `schedule` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `schedule_id` bigint unsigned NOT NULL COMMENT "随机63位计划编号，命名空间内唯一",
  `application_id` bigint unsigned NOT NULL COMMENT "拥有该计划的应用编号，触发的任务计入其额度",
  `name` varbinary(64) NOT NULL COMMENT "计划名称，应用内唯一，精确字节比较",
  `version` int unsigned NOT NULL COMMENT "最新定义版本号，从1起，每次改变定义加一",
  `plan_version` int unsigned NOT NULL COMMENT "下一时点所属的定义版本；小于最新版本表示旧版本仍有未裁决的时点",
  `revision` int unsigned NOT NULL COMMENT "用户修改的修订号：改定义、暂停、继续各加一；触发不影响",
  `paused` tinyint unsigned NOT NULL COMMENT "1表示暂停：时点照常裁决但记为暂停跳过；0为正常",
  `pause_reason` varbinary(1024) NULL COMMENT "暂停原因；空值表示未暂停",
  `skip_before` datetime(6) NOT NULL COMMENT "最近一次继续的时刻UTC微秒，早于它的未裁决时点记为暂停跳过",
  `last_at` datetime(6) NOT NULL COMMENT "已裁决的最后时点；尚无时点时为版本生效时刻UTC微秒",
  `next_at` datetime(6) NULL COMMENT "第一个未裁决的计划时点UTC微秒；空值表示当前版本不再有时点",
  `due_at` datetime(6) NULL COMMENT "扫描键：下次应查看的时刻UTC微秒，额度已满时晚于时点，仅作退避；空值表示无需查看",
  `waiting_at` datetime(6) NULL COMMENT "排队一个策略下等待前一任务结束的时点UTC微秒；空值表示没有",
  `waiting_version` int unsigned NOT NULL COMMENT "等待时点固定的定义版本；0表示没有等待的时点",
  `last_task_id` binary(16) NULL COMMENT "最近由时点触发的任务编号，用于判断重叠；空值表示尚未触发",
  `created_at` datetime(6) NOT NULL COMMENT "创建时刻，数据库时钟UTC微秒",
  `changed_at` datetime(6) NOT NULL COMMENT "最近一次用户修改的时刻，数据库时钟UTC微秒",
  PRIMARY KEY (`namespace_id`, `schedule_id`),
  INDEX `schedule_due` (`namespace_id`, `due_at`, `schedule_id`),
  UNIQUE INDEX `schedule_name` (`namespace_id`, `application_id`, `name`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "计划头：裁决时点时排他锁定，先于队列；内存与节点时钟从不授予触发权";
-- Create "schedule_trigger" table
CREATE TABLE `schedule_trigger` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `trigger_id` binary(16) NOT NULL COMMENT "触发编号，UUIDv7；触发的任务以它为来源",
  `schedule_id` bigint unsigned NOT NULL COMMENT "所属计划编号",
  `version` int unsigned NOT NULL COMMENT "固定引用的定义版本，此后改变定义不影响",
  `planned_at` datetime(6) NOT NULL COMMENT "计划时点UTC微秒；手动触发为受理时刻",
  `origin` tinyint unsigned NOT NULL COMMENT "由来：1时点，2手动，3补跑，4夏令时变更中未成为时点的本地时间",
  `outcome` tinyint unsigned NOT NULL COMMENT "结局：1已触发，2错过跳过，3重叠跳过，4暂停跳过，5本地时间不成为时点，6合并，7手动触发，8补跑触发",
  `task_id` binary(16) NULL COMMENT "产生的任务编号；空值表示没有任务",
  `merged_into` datetime(6) NULL COMMENT "代替它的时点UTC微秒；空值表示未合并",
  `reason` varbinary(1024) NULL COMMENT "妨碍触发的原因码、本地时间或操作者给出的原因；空值表示没有",
  `decided_at` datetime(6) NOT NULL COMMENT "裁决时刻，数据库时钟UTC微秒",
  PRIMARY KEY (`namespace_id`, `trigger_id`),
  INDEX `trigger_list` (`namespace_id`, `schedule_id`, `planned_at`, `trigger_id`),
  UNIQUE INDEX `trigger_slot` (`namespace_id`, `schedule_id`, `version`, `planned_at`, `origin`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "计划触发：每个已裁决的时点一行，跳过与合并亦然；唯一键保证多节点只触发一次";
-- Create "schedule_version" table
CREATE TABLE `schedule_version` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `schedule_id` bigint unsigned NOT NULL COMMENT "所属计划编号",
  `version` int unsigned NOT NULL COMMENT "版本号，从1连续递增，写入后不可变",
  `effective_from` datetime(6) NOT NULL COMMENT "生效时刻UTC微秒；此刻起至下一版本生效前的时点属于本版本",
  `kind` tinyint unsigned NOT NULL COMMENT "1为cron表达式，2为固定间隔",
  `expression` varbinary(255) NOT NULL COMMENT "cron表达式原文，五个字段；固定间隔为空文本",
  `time_zone` varbinary(64) NOT NULL COMMENT "IANA时区名称；固定间隔为空文本",
  `every_ms` bigint unsigned NOT NULL COMMENT "固定间隔，毫秒；cron为0",
  `anchor_at` datetime(6) NOT NULL COMMENT "固定间隔的起点时点UTC微秒，默认1970-01-01；cron不使用",
  `dst_gap` tinyint unsigned NOT NULL COMMENT "不存在的本地时间：1不成为时点，2移到空隙后的第一个时刻",
  `dst_repeat` tinyint unsigned NOT NULL COMMENT "出现两次的本地时间：1仅第一次，2两次都是时点",
  `overlap` tinyint unsigned NOT NULL COMMENT "前一任务未结束时：1照常触发，2跳过，3排队一个其余合并",
  `misfire` tinyint unsigned NOT NULL COMMENT "超出补发窗口的时点：1跳过，2合并为一次触发",
  `catch_up_window_ms` bigint unsigned NOT NULL COMMENT "补发窗口，毫秒；时点至多迟到这么久仍触发",
  `queue_id` bigint unsigned NOT NULL COMMENT "任务模板：目标队列编号，属于同一应用",
  `handler` varbinary(128) NOT NULL COMMENT "任务模板：处理器名称",
  `handler_version` varbinary(64) NOT NULL COMMENT "任务模板：处理器版本文本",
  `priority` tinyint unsigned NOT NULL COMMENT "任务模板：优先级0至9",
  `deadline_ms` bigint unsigned NOT NULL COMMENT "任务模板：从触发起的总时限，毫秒",
  `attempt_timeout_ms` bigint unsigned NOT NULL COMMENT "任务模板：单次执行租约链的时长上限，毫秒",
  `retry_policy` varbinary(1024) NOT NULL COMMENT "任务模板：重试策略JSON",
  `lost_policy` tinyint unsigned NOT NULL COMMENT "任务模板：失联策略，1转人工核查，2可安全重做",
  `business_key` varbinary(255) NULL COMMENT "任务模板：业务键；空值表示没有",
  `resource_key` varbinary(255) NULL COMMENT "任务模板：资源互斥键；空值表示不互斥",
  `created_by` bigint unsigned NOT NULL COMMENT "写入该版本所用凭据编号",
  `created_at` datetime(6) NOT NULL COMMENT "写入时刻，数据库时钟UTC微秒",
  `digest` binary(32) NOT NULL COMMENT "定义的结构摘要，相同定义再次写入不产生新版本",
  `output_contract` longblob NULL COMMENT "任务模板：输出契约JSON字节；空值表示没有",
  `input` longblob NOT NULL COMMENT "任务模板：输入的精确JSON字节，模板不允许首次延迟",
  PRIMARY KEY (`namespace_id`, `schedule_id`, `version`),
  CONSTRAINT `schedule_version_priority` CHECK (`priority` <= 9)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "计划版本：时点规则、策略与任务模板，不可变；每个时点固定引用一个版本";
-- Create "step" table
CREATE TABLE `step` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `instance_id` binary(16) NOT NULL COMMENT "所属实例编号",
  `step_no` smallint unsigned NOT NULL COMMENT "定义展开后的步骤序号；0为内部根步骤$root，不出现在步骤查询中",
  `name` varbinary(64) NOT NULL COMMENT "步骤名，定义内唯一；以$开头的为内部步骤",
  `kind` tinyint unsigned NOT NULL COMMENT "节点种类：0根，1任务；其余种类随运行能力登记",
  `state` tinyint unsigned NOT NULL COMMENT "1等待，2活动，3成功，4失败，5已取消，6待核查，7跳过",
  `version` int unsigned NOT NULL COMMENT "步骤版本，每次状态变更加一；旧检查点不能覆盖更高版本",
  `activation_no` smallint unsigned NOT NULL COMMENT "当前激活代次，从1起；0表示尚未激活",
  `activation_id` binary(16) NULL COMMENT "当前激活编号；空值表示尚未激活",
  `reason` varbinary(64) NULL COMMENT "失败或待核查的稳定原因码；空值表示没有",
  `settled_at` datetime(6) NULL COMMENT "结清时刻UTC微秒；空值表示尚未结清",
  `output` longblob NULL COMMENT "成功步骤的输出JSON字节；空值表示尚无输出",
  PRIMARY KEY (`namespace_id`, `instance_id`, `step_no`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "流程步骤：启动时按固定版本全部写入，由有限决策逐步推进";
-- Create "stream_entry" table
CREATE TABLE `stream_entry` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `seq` bigint unsigned NOT NULL COMMENT "命名空间内连续序号，与提交顺序一致",
  `application_id` bigint unsigned NOT NULL COMMENT "任务所属应用编号",
  `queue_id` bigint unsigned NOT NULL COMMENT "任务所在队列编号",
  `task_id` binary(16) NOT NULL COMMENT "产生结果的任务编号",
  `state` tinyint unsigned NOT NULL COMMENT "结果状态：2成功，3失败，4已取消，5待核查",
  `state_version` int unsigned NOT NULL COMMENT "产生该结果的任务状态版本",
  `at` datetime(6) NOT NULL COMMENT "提交该结果的事务时刻，数据库时钟UTC微秒",
  `hash` binary(32) NOT NULL COMMENT "前一条摘要与本条字段的SHA-256，供消费者离线验证无缺失无乱序",
  PRIMARY KEY (`namespace_id`, `seq`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "结果流：终态与待核查结果的无空洞序列，只增不改";
-- Create "stream_head" table
CREATE TABLE `stream_head` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号，每个命名空间一行",
  `next_seq` bigint unsigned NOT NULL COMMENT "下一条结果的序号，从1连续递增，按提交顺序分配",
  `last_hash` binary(32) NOT NULL COMMENT "最近一条结果的链接摘要；尚无结果时为全零",
  PRIMARY KEY (`namespace_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "结果流行锁：事务最后锁定，分配无空洞的提交序号";
-- Create "subscription" table
CREATE TABLE `subscription` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `subscription_id` bigint unsigned NOT NULL COMMENT "随机63位订阅编号，命名空间内唯一；同名重建后编号不同",
  `application_id` bigint unsigned NOT NULL COMMENT "所属应用编号，只交付该应用队列的结果",
  `name` varbinary(64) NOT NULL COMMENT "订阅名称，应用内唯一，精确字节比较",
  `queue_ids` varbinary(512) NOT NULL COMMENT "选中的队列编号，每个8字节大端并升序排列，创建后不变；空串表示应用的全部队列，含以后新建的",
  `in_order` tinyint unsigned NOT NULL COMMENT "1表示严格按序：较早的交付未确认时不越过它；0表示可并行消费。创建后不变",
  `paused` tinyint unsigned NOT NULL COMMENT "1表示暂停领取，仍接受确认；0为正常",
  `window_max` smallint unsigned NOT NULL COMMENT "同时未确认的交付数上限，个；达到后不再读取新结果",
  `ack_timeout_ms` int unsigned NOT NULL COMMENT "交付后等待确认的时长，毫秒；超过即可用更高代次重新交付",
  `generations_max` smallint unsigned NOT NULL COMMENT "交付次数预算，次；用尽仍未确认则转入死信，主动归还的不计入",
  `epoch` int unsigned NOT NULL COMMENT "位置纪元，每次改变读取位置加一，旧纪元的交付证明随之失效",
  `next_seq` bigint unsigned NOT NULL COMMENT "下一条尚未读取的结果流序号，小于它的结果均已判定是否选中",
  `last_hash` binary(32) NULL COMMENT "序号next_seq减一的链接摘要，读取时据此核对结果流连续；空值表示从最早保留处开始、尚无可核对的前一条",
  `last_seq` bigint unsigned NOT NULL COMMENT "最近一条被选中结果的序号；0表示本纪元尚未选中任何结果",
  `selected_count` bigint unsigned NOT NULL COMMENT "本纪元选中的结果数，条；用于与结果流逐条核对无遗漏",
  `pending_count` bigint NOT NULL COMMENT "未确认交付数，个，必须等于交付行数；重复确认不再扣减",
  `dead_count` bigint NOT NULL COMMENT "死信数，个，必须等于死信行数",
  `secret` binary(32) NOT NULL COMMENT "随机密钥，仅用于推导交付证明，不出现在任何接口",
  `version` int unsigned NOT NULL COMMENT "设置的乐观版本，每次修改设置或位置加一；消费不影响",
  `created_at` datetime(6) NOT NULL COMMENT "创建时刻，数据库时钟UTC微秒",
  PRIMARY KEY (`namespace_id`, `subscription_id`),
  UNIQUE INDEX `subscription_name` (`namespace_id`, `application_id`, `name`),
  CONSTRAINT `subscription_dead_count` CHECK (`dead_count` >= 0),
  CONSTRAINT `subscription_pending_count` CHECK (`pending_count` >= 0)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "结果订阅：读取位置、设置与精确计数；消费先锁本行再锁交付，生产者从不锁定";
-- Create "subscription_dead_letter" table
CREATE TABLE `subscription_dead_letter` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `subscription_id` bigint unsigned NOT NULL COMMENT "所属订阅编号",
  `seq` bigint unsigned NOT NULL COMMENT "结果流序号",
  `previous_seq` bigint unsigned NOT NULL COMMENT "本订阅前一条选中结果的序号，恢复交付时沿用",
  `generation` int unsigned NOT NULL COMMENT "最后一次交付的代次，其证明仍可确认",
  `dead_at` datetime(6) NOT NULL COMMENT "转入死信的时刻，数据库时钟UTC微秒",
  `reason` varbinary(255) NULL COMMENT "最后一次拒绝的原因，供人阅读；空值表示因超时未确认",
  PRIMARY KEY (`namespace_id`, `subscription_id`, `seq`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "死信：交付次数用尽仍未确认的结果，等待人工恢复或迟到的确认";
-- Create "subscription_delivery" table
CREATE TABLE `subscription_delivery` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `subscription_id` bigint unsigned NOT NULL COMMENT "所属订阅编号",
  `seq` bigint unsigned NOT NULL COMMENT "结果流序号，交付按此升序",
  `previous_seq` bigint unsigned NOT NULL COMMENT "本订阅前一条选中结果的序号，消费者据此发现缺失；0表示本纪元的第一条",
  `generation` int unsigned NOT NULL COMMENT "交付代次，从1起每次重新交付加一；只有最近代次可以确认",
  `tries` smallint unsigned NOT NULL COMMENT "已消耗的交付次数，次；从死信恢复时清零",
  `holder` bigint unsigned NOT NULL COMMENT "持有者名称摘要的前8字节，仅用于同一消费者续取；0表示无人持有（已拒绝或归还）",
  `due_at` datetime(6) NOT NULL COMMENT "可以重新交付的时刻UTC微秒：有持有者时为确认期限，无持有者时为拒绝要求的等待结束",
  PRIMARY KEY (`namespace_id`, `subscription_id`, `seq`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "未确认的交付：首次交付时写入，确认后删除，行数不超过订阅窗口与恢复的死信之和";
-- Create "task" table
CREATE TABLE `task` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `task_id` binary(16) NOT NULL COMMENT "任务编号，UUIDv7",
  `application_id` bigint unsigned NOT NULL COMMENT "提交任务的应用编号",
  `queue_id` bigint unsigned NOT NULL COMMENT "所在队列编号，受理后不变",
  `state` tinyint unsigned NOT NULL COMMENT "1开放（排队或执行，细分见开放任务行），2成功，3失败，4已取消，5待核查",
  `state_version` int unsigned NOT NULL COMMENT "最近写入本行时的状态版本；开放期间以开放任务行为准",
  `priority` tinyint unsigned NOT NULL COMMENT "优先级0至9，受理时冻结，每级相当于30秒排序优势",
  `source` tinyint unsigned NOT NULL COMMENT "来源：1直接提交，2人工重试，3计划，4流程",
  `owner_id` binary(16) NULL COMMENT "来源对象编号：流程为激活编号，计划为触发编号，人工重试为原任务编号；直接提交为空值",
  `gate_id` binary(16) NULL COMMENT "执行门控编号（流程任务为实例编号）；空值表示不受门控",
  `handler` varbinary(128) NOT NULL COMMENT "处理器名称，受理时冻结",
  `handler_version` varbinary(64) NOT NULL COMMENT "处理器版本文本，受理时冻结",
  `attempt_timeout_ms` bigint unsigned NOT NULL COMMENT "单次执行租约链的时长上限，毫秒",
  `max_attempts` smallint unsigned NOT NULL COMMENT "尝试预算，次；归还的尝试不计入",
  `retry_policy` varbinary(1024) NOT NULL COMMENT "冻结的重试策略JSON，固定、线性、指数或列表之一",
  `lost_policy` tinyint unsigned NOT NULL COMMENT "失联策略：1转人工核查，2提交方声明可安全重做",
  `available_at` datetime(6) NOT NULL COMMENT "首次可执行时刻UTC微秒，首次受理时计算一次",
  `deadline_at` datetime(6) NOT NULL COMMENT "绝对截止UTC微秒，覆盖等待、全部尝试与重试",
  `created_at` datetime(6) NOT NULL COMMENT "受理时刻，数据库时钟UTC微秒",
  `changed_at` datetime(6) NOT NULL COMMENT "最近写入本行的时刻，数据库时钟UTC微秒",
  `result_attempt_no` smallint unsigned NOT NULL COMMENT "给出最终结果的尝试序号；0表示尚无结果、未经执行或由人工核查裁定",
  `failure_code` varbinary(64) NULL COMMENT "失败、取消或核查的原因码；空值表示没有",
  `business_key` varbinary(255) NULL COMMENT "业务键，精确匹配含尾部空格与大小写；空值表示未提供",
  `resource_key` varbinary(255) NULL COMMENT "资源互斥键：命名空间内同键至多一个在途或未知执行；空值表示不互斥",
  `traceparent` varbinary(64) NULL COMMENT "提交请求的W3C跟踪上下文，随任务交给执行者；空值表示未提供",
  `output_contract` blob NULL COMMENT "输出契约JSON；成功输出不符合时转核查；空值表示不校验",
  `input` longblob NOT NULL COMMENT "输入的精确JSON字节",
  PRIMARY KEY (`namespace_id`, `task_id`),
  INDEX `task_list` (`namespace_id`, `queue_id`, `created_at`, `task_id`),
  INDEX `task_list_key` (`namespace_id`, `queue_id`, `business_key`, `created_at`, `task_id`),
  INDEX `task_list_key_state` (`namespace_id`, `queue_id`, `business_key`, `state`, `created_at`, `task_id`),
  INDEX `task_list_state` (`namespace_id`, `queue_id`, `state`, `created_at`, `task_id`),
  CONSTRAINT `task_priority` CHECK (`priority` <= 9)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "任务全量行：受理与结束时各写一次，开放期间的变化在开放任务行";
-- Create "task_event" table
CREATE TABLE `task_event` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `task_id` binary(16) NOT NULL COMMENT "所属任务编号",
  `event_no` int unsigned NOT NULL COMMENT "事件序号，等于该变更后的状态版本，逐任务连续",
  `kind` tinyint unsigned NOT NULL COMMENT "事件种类：1受理，2开始，3成功，4失败，5取消，6安排重试，7失联，8转核查，9请求取消，10归还，11逾期，12人工核查",
  `attempt_no` smallint unsigned NOT NULL COMMENT "相关尝试序号；0表示与执行无关",
  `at` datetime(6) NOT NULL COMMENT "提交该变更的事务时刻，数据库时钟UTC微秒",
  `detail` varbinary(1024) NULL COMMENT "补充说明JSON，如下次开始时刻或原因码；空值表示没有",
  PRIMARY KEY (`namespace_id`, `task_id`, `event_no`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "任务事件：每次状态变更一行，与状态同事务，只增不改";
-- Create "task_retry" table
CREATE TABLE `task_retry` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `task_id` binary(16) NOT NULL COMMENT "原任务编号；主键保证每个任务至多一个直接后继",
  `successor_id` binary(16) NOT NULL COMMENT "人工重试产生的新任务编号，其来源对象为原任务",
  `retried_by` varbinary(96) NOT NULL COMMENT "操作者：凭据编号",
  `at` datetime(6) NOT NULL COMMENT "受理事务时刻，数据库时钟UTC微秒",
  `reason` varbinary(1024) NOT NULL COMMENT "操作者给出的原因，必填",
  PRIMARY KEY (`namespace_id`, `task_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "人工重试：原任务到唯一直接后继的关联，只增不改；继续重试沿后继推进";
-- Create "task_review" table
CREATE TABLE `task_review` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `task_id` binary(16) NOT NULL COMMENT "被核查的任务编号；任务只离开待核查一次，故每个任务至多一行",
  `decision` tinyint unsigned NOT NULL COMMENT "裁定后的任务状态：2成功，3失败",
  `state_version` int unsigned NOT NULL COMMENT "裁定后的任务状态版本，等于核查事件的序号",
  `decided_by` varbinary(96) NOT NULL COMMENT "裁定者：凭据编号",
  `at` datetime(6) NOT NULL COMMENT "裁定事务时刻，数据库时钟UTC微秒",
  `reason` varbinary(1024) NOT NULL COMMENT "裁定者给出的原因，必填",
  `failure_code` varbinary(64) NULL COMMENT "裁定失败的原因码；空值表示裁定成功",
  `failure_message` varbinary(1024) NULL COMMENT "供人阅读的失败说明；空值表示没有",
  `failure_details` longblob NULL COMMENT "失败详情的精确JSON字节；空值表示没有",
  `evidence` longblob NOT NULL COMMENT "裁定依据的精确JSON字节，至多64 KiB",
  `output` longblob NULL COMMENT "裁定成功时的输出精确JSON字节，已按输出契约校验；空值表示没有输出",
  PRIMARY KEY (`namespace_id`, `task_id`),
  CONSTRAINT `task_review_decision` CHECK (`decision` in (2,3))
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "人工核查：裁定、依据与结果，只增不改；不改写尝试与迟到证据";
-- Create "tx_command" table
CREATE TABLE `tx_command` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "事务所在命名空间编号，一个事务只涉及一个命名空间",
  `command_id` binary(16) NOT NULL COMMENT "本次事务的唯一编号；提交结果不明时在新连接上再次插入同一编号来判定是否已提交",
  `created_at` datetime(6) NOT NULL COMMENT "写入时刻，数据库时钟UTC微秒；超过保留期后可清除",
  PRIMARY KEY (`namespace_id`, `command_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "事务身份：每个写事务插入一行，用于裁决提交结果不明的事务";
-- Create "weave_inbox" table
CREATE TABLE `weave_inbox` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `instance_id` binary(16) NOT NULL COMMENT "结果应交付的实例编号",
  `task_id` binary(16) NOT NULL COMMENT "产生结果的任务编号",
  `state_version` int unsigned NOT NULL COMMENT "产生结果时的任务状态版本，与任务编号共同构成来源身份",
  `activation_id` binary(16) NOT NULL COMMENT "任务所有者：固定的激活编号",
  `state` tinyint unsigned NOT NULL COMMENT "1待消费，2已确认，3已隔离；后两者不再重复消费",
  `classification` varbinary(48) NULL COMMENT "消费时给出的稳定分类；空值表示尚未消费",
  `version` int unsigned NOT NULL COMMENT "记录版本，确认与退避各加一，用于防止覆盖其他节点的进展",
  `available_at` datetime(6) NOT NULL COMMENT "下次可消费时刻UTC微秒，仅作退避，不影响业务裁决",
  `pending_at` datetime(6) AS (case when (`state` = 1) then `available_at` else NULL end) STORED COMMENT "待消费扫描键；已确认或隔离后为空值，自动离开索引",
  `task_state` tinyint unsigned NOT NULL COMMENT "冻结的任务结果状态，取值同任务公开状态",
  `attempt_no` smallint unsigned NOT NULL COMMENT "给出结果的尝试序号；0表示没有执行过",
  `failure_code` varbinary(64) NULL COMMENT "失败、取消或核查的原因码；空值表示成功",
  `failure_message` varbinary(1024) NULL COMMENT "供人阅读的失败说明；空值表示没有",
  `occurred_at` datetime(6) NOT NULL COMMENT "结果成立的权威时刻，数据库时钟UTC微秒",
  `snapshot_digest` binary(32) NOT NULL COMMENT "冻结快照各字段的SHA-256摘要，消费时校验",
  `output` longblob NULL COMMENT "成功输出的精确JSON字节；空值表示没有输出",
  PRIMARY KEY (`namespace_id`, `instance_id`, `task_id`, `state_version`),
  INDEX `inbox_pending` (`namespace_id`, `pending_at`, `instance_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "流程收件箱：任务结果的冻结快照，与任务结果同事务写入，此后不随任务行变化";
-- Create "weave_pending_advance" table
CREATE TABLE `weave_pending_advance` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `instance_id` binary(16) NOT NULL COMMENT "待继续推进的实例编号",
  `step_no` smallint unsigned NOT NULL COMMENT "检查点所属步骤序号；0为根",
  `kind` tinyint unsigned NOT NULL COMMENT "检查点种类：1根，2定时，3信号，4查询",
  `activation_id` binary(16) NULL COMMENT "时钟检查点固定的激活编号；根检查点为空值",
  `step_version` int unsigned NOT NULL COMMENT "写入时的步骤版本；高于当前步骤版本的检查点拒绝执行",
  `version` int unsigned NOT NULL COMMENT "检查点版本，每次改写加一，用于防止覆盖其他节点的进展",
  `due_at` datetime(6) NOT NULL COMMENT "下次检查时刻，数据库时钟UTC微秒",
  PRIMARY KEY (`namespace_id`, `instance_id`, `step_no`),
  INDEX `advance_due` (`namespace_id`, `due_at`, `instance_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "待续推进：每个实例步骤至多一个检查点，扫描只提供候选，不授予推进权";
-- Create "workflow_definition" table
CREATE TABLE `workflow_definition` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `application_id` bigint unsigned NOT NULL COMMENT "发布定义的应用编号",
  `name` varbinary(48) NOT NULL COMMENT "定义名称，应用内唯一",
  `latest_version` int unsigned NOT NULL COMMENT "已发布的最大版本号，供未指定版本的查询使用；0表示尚无版本",
  `revision` int unsigned NOT NULL COMMENT "定义头的修订号，每次发布新版本加一",
  `created_at` datetime(6) NOT NULL COMMENT "首次发布时刻，数据库时钟UTC微秒",
  `updated_at` datetime(6) NOT NULL COMMENT "最近发布时刻，数据库时钟UTC微秒",
  PRIMARY KEY (`namespace_id`, `application_id`, `name`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "流程定义头：同名各版本的锁定点，发布时排他锁定";
-- Create "workflow_version" table
CREATE TABLE `workflow_version` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `application_id` bigint unsigned NOT NULL COMMENT "发布定义的应用编号",
  `name` varbinary(48) NOT NULL COMMENT "定义名称",
  `version` int unsigned NOT NULL COMMENT "发布者选定的版本号，接受后不可变",
  `digest` binary(32) NOT NULL COMMENT "定义的结构摘要，载入时与原文一并校验；同版本不同摘要即为冲突",
  `document` longblob NOT NULL COMMENT "首次接受的定义原文字节，数值保持书写形式",
  `published_by` bigint unsigned NOT NULL COMMENT "发布所用凭据编号",
  `created_at` datetime(6) NOT NULL COMMENT "发布时刻，数据库时钟UTC微秒",
  PRIMARY KEY (`namespace_id`, `application_id`, `name`, `version`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "流程定义版本：不可变原文与摘要，运行中的实例固定引用一个版本";
