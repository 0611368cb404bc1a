-- Modify "receipt" table
ALTER TABLE `receipt` MODIFY COLUMN `kind` tinyint unsigned NOT NULL COMMENT "操作种类：1任务提交（含人工重试，共用提交键），2任务取消，3定义发布，4实例启动，5任务核查，6流程信号，8计划手动触发；同一键在不同种类下互不相关";
-- Create "claim_record" table
CREATE TABLE `claim_record` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `application_id` bigint unsigned NOT NULL COMMENT "领取者所属应用编号",
  `claim_key` varbinary(64) NOT NULL COMMENT "领取键，每次领取新取，精确字节",
  `digest` binary(32) NOT NULL COMMENT "领取内容的摘要；同键不同内容即为冲突",
  `asked` int unsigned NOT NULL COMMENT "已答复的最大询问序号：0为首次，重新询问逐次加一；更旧的询问不再得到任何尝试",
  `started` blob NOT NULL COMMENT "该次领取开始的任务编号与尝试序号，每项18字节",
  `created_at` datetime(6) NOT NULL COMMENT "首次领取时刻，数据库时钟UTC微秒；租约上限过后即可清除",
  PRIMARY KEY (`namespace_id`, `application_id`, `claim_key`),
  INDEX `claim_created` (`namespace_id`, `created_at`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "带键领取的记录：答复丢失后凭键取回已开始的尝试，由额度行锁保护";
-- Create "step_wait" table
CREATE TABLE `step_wait` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `instance_id` binary(16) NOT NULL COMMENT "所属实例编号",
  `activation_id` binary(16) NOT NULL COMMENT "所属激活编号；每次激活至多一个等待",
  `step_no` smallint unsigned NOT NULL COMMENT "所属步骤序号",
  `kind` tinyint unsigned NOT NULL COMMENT "等待种类，取值同检查点：2定时，3信号，4查询的最终信号",
  `state` tinyint unsigned NOT NULL COMMENT "1等待中，2已满足，3已超期，4已关闭（步骤以其他方式结束）",
  `started_at` datetime(6) NOT NULL COMMENT "激活时刻，数据库时钟UTC微秒；恢复与继续不重新计时",
  `duration_ms` bigint NOT NULL COMMENT "计划等待时长，毫秒；激活时冻结",
  `deadline_at` datetime(6) NOT NULL COMMENT "等待截止UTC微秒，恒等于min(started_at + duration_ms, 外层绝对截止)，唤醒时重新核验",
  `settled_at` datetime(6) NULL COMMENT "结清时刻UTC微秒；空值表示仍在等待",
  `signal_name` varbinary(64) NULL COMMENT "等待的信号名，激活时冻结；定时等待为空值",
  `signal_version` varbinary(32) NULL COMMENT "等待的信号契约版本，激活时冻结；定时等待为空值",
  `correlation` varbinary(512) NULL COMMENT "精确关联键，逐字节比较；定时等待为空值",
  `winner_id` binary(16) NULL COMMENT "被采纳的信号编号，写入后不变；空值表示没有",
  PRIMARY KEY (`namespace_id`, `instance_id`, `activation_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "步骤等待：一次激活的定时或信号等待，起止在激活时冻结";
-- Create "task_attribute" table
CREATE TABLE `task_attribute` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `queue_id` bigint unsigned NOT NULL COMMENT "任务所在队列编号",
  `name` varbinary(48) NOT NULL COMMENT "属性名，提交方自定",
  `value` varbinary(255) NOT NULL COMMENT "属性值，精确字节，区分大小写与尾部空格",
  `created_at` datetime(6) NOT NULL COMMENT "任务受理时刻UTC微秒，列表按此排序",
  `task_id` binary(16) NOT NULL COMMENT "所属任务编号",
  PRIMARY KEY (`namespace_id`, `queue_id`, `name`, `value`, `created_at`, `task_id`),
  INDEX `attribute_task` (`namespace_id`, `task_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "任务检索属性：每任务有限个，受理时写入后不变，只在提交带属性时写入";
-- Create "task_progress" table
CREATE TABLE `task_progress` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `task_id` binary(16) NOT NULL COMMENT "所属任务编号",
  `attempt_no` smallint unsigned NOT NULL COMMENT "上报进度的尝试序号",
  `at` datetime(6) NOT NULL COMMENT "最近一次上报时刻，数据库时钟UTC微秒",
  `percent` tinyint unsigned NULL COMMENT "完成百分比0至100；空值表示执行者未给出",
  `message` varbinary(1024) NULL COMMENT "供人阅读的进度说明；空值表示没有",
  `detail` blob NULL COMMENT "执行者附带的进度详情JSON字节，不超过4 KiB；空值表示没有",
  PRIMARY KEY (`namespace_id`, `task_id`),
  CONSTRAINT `task_progress_percent` CHECK (`percent` <= 100)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "任务进度：执行者随续租给出的最近一次进度，只供查看，不裁决任何事";
-- Create "task_slot" table
CREATE TABLE `task_slot` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `queue_id` bigint unsigned NOT NULL COMMENT "所属队列编号；同名键在不同队列互不相关",
  `kind` tinyint unsigned NOT NULL COMMENT "用途：1唯一窗口，期间同键只有一个任务；2合并等待，等待期内后到的输入取代先到的",
  `slot_key` varbinary(255) NOT NULL COMMENT "调用方给出的键，精确字节",
  `task_id` binary(16) NOT NULL COMMENT "当前占位的任务编号；任务是否未结束以开放任务行为准",
  `first_at` datetime(6) NOT NULL COMMENT "本轮首次受理时刻UTC微秒；合并等待的最长等待由此起算",
  `held_until` datetime(6) NOT NULL COMMENT "唯一窗口保持到的时刻UTC微秒，任务先结束也保持；合并等待等于其可执行时刻",
  `receipt` varbinary(1024) NOT NULL COMMENT "占位任务受理时的回执正文，窗口内的其他提交据此得到同一任务",
  PRIMARY KEY (`namespace_id`, `queue_id`, `kind`, `slot_key`),
  INDEX `slot_held` (`namespace_id`, `held_until`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "任务占位：唯一窗口与合并等待的当前任务，只在使用这些功能时写入，由队列锁保护";
-- Create "weave_poll" table
CREATE TABLE `weave_poll` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `instance_id` binary(16) NOT NULL COMMENT "所属实例编号",
  `activation_id` binary(16) NOT NULL COMMENT "所属激活编号",
  `step_no` smallint unsigned NOT NULL COMMENT "所属步骤序号",
  `state` tinyint unsigned NOT NULL COMMENT "1当前轮次在途，2等待下一轮，3已结清",
  `used_rounds` smallint unsigned NOT NULL COMMENT "从首次激活起已用的业务轮次；请求重试不增加，满额与暂停不消耗",
  `current_task_id` binary(16) NULL COMMENT "在途轮次的任务编号；空值表示没有在途请求",
  `last_task_id` binary(16) NULL COMMENT "最后一轮的任务编号；空值表示尚未提问",
  `started_at` datetime(6) NOT NULL COMMENT "首次激活时刻，数据库时钟UTC微秒；查询总截止以它起算",
  `deadline_at` datetime(6) NOT NULL COMMENT "查询绝对截止UTC微秒，恒等于min(started_at + deadline_ms, 实例截止)，暂停与恢复均不延长",
  `next_poll_at` datetime(6) NULL COMMENT "下一轮时刻UTC微秒：上一轮权威结果发生时刻加固定间隔，受查询截止限制；空值表示没有等待",
  `settled_at` datetime(6) NULL COMMENT "结清时刻UTC微秒；空值表示尚未结清",
  `overdue` tinyint unsigned NOT NULL COMMENT "1表示总截止到达时仍有在途请求且已转核查；0为正常",
  `verdict` tinyint unsigned NOT NULL COMMENT "最终信号的裁决：0无，2完成，3失败，4核查；在途请求结清前先行保存",
  `reason` varbinary(64) NULL COMMENT "最终信号裁决的稳定原因码；空值表示没有",
  `business_key` varbinary(255) NULL COMMENT "首轮解析出的业务键，后续各轮原样复用；空值表示没有",
  `resource_key` varbinary(255) NULL COMMENT "首轮解析出的资源互斥键，后续各轮原样复用；空值表示没有",
  `input` longblob NOT NULL COMMENT "首轮解析出的精确输入JSON字节，后续各轮原样复用，不再求值",
  `output` longblob NULL COMMENT "最终信号映射出的输出JSON字节；空值表示没有",
  PRIMARY KEY (`namespace_id`, `instance_id`, `activation_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "有界查询状态：一次激活的轮次预算、时钟与首轮冻结的请求内容";
-- Create "weave_poll_round" table
CREATE TABLE `weave_poll_round` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `task_id` binary(16) NOT NULL COMMENT "本轮任务编号；一轮一个任务，请求重试在任务内部进行",
  `instance_id` binary(16) NOT NULL COMMENT "所属实例编号",
  `activation_id` binary(16) NOT NULL COMMENT "所属激活编号",
  `round_no` smallint unsigned NOT NULL COMMENT "业务轮次，从1起连续",
  `state` tinyint unsigned NOT NULL COMMENT "1在途，2已答复待处理（POLL_PENDING，唯一可开启下一轮的状态），3完成，4业务失败，5待核查，6已取消",
  `created_at` datetime(6) NOT NULL COMMENT "创建时刻，数据库时钟UTC微秒",
  `deadline_at` datetime(6) NOT NULL COMMENT "本轮任务的绝对截止UTC微秒，不晚于查询截止与实例截止",
  `settled_at` datetime(6) NULL COMMENT "权威结果发生时刻UTC微秒；空值表示在途",
  PRIMARY KEY (`namespace_id`, `task_id`),
  UNIQUE INDEX `poll_round_no` (`namespace_id`, `instance_id`, `activation_id`, `round_no`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "查询轮次：每个业务轮次一行，唯一约束保证同一轮不会创建两次";
-- Create "weave_signal" table
CREATE TABLE `weave_signal` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `instance_id` binary(16) NOT NULL COMMENT "目标实例编号；每个实例全部历史信号至多1024个",
  `signal_id` binary(16) NOT NULL COMMENT "信号编号，UUIDv7，受理时生成",
  `step_no` smallint unsigned NOT NULL COMMENT "固定的目标步骤序号",
  `activation_no` smallint unsigned NOT NULL COMMENT "固定的目标激活代次，从1起；旧代次的信号只留痕",
  `signal_name` varbinary(64) NOT NULL COMMENT "信号名，受理时与固定版本的定义核对",
  `signal_version` varbinary(32) NOT NULL COMMENT "信号契约版本，受理时与固定版本的定义核对",
  `correlation` varbinary(512) NOT NULL COMMENT "精确关联键，与等待逐字节比较",
  `state` tinyint unsigned NOT NULL COMMENT "1待处理（步骤尚未等待），2已采纳，3已超期，4已拒绝；后三者不再变化",
  `classification` varbinary(48) NULL COMMENT "结清时的稳定分类；空值表示尚未结清",
  `version` int unsigned NOT NULL COMMENT "记录版本，结清与退避各加一，用于防止覆盖其他节点的进展",
  `available_at` datetime(6) NOT NULL COMMENT "下次到期检查时刻UTC微秒，仅作退避，不影响业务裁决",
  `pending_at` datetime(6) AS (case when (`state` = 1) then `available_at` else NULL end) STORED COMMENT "待处理扫描键；结清后为空值，自动离开索引",
  `accepted_at` datetime(6) NOT NULL COMMENT "受理时刻，数据库时钟UTC微秒；先后与超期均按它裁决",
  `expires_at` datetime(6) NOT NULL COMMENT "受理时确定的失效时刻UTC微秒：目标等待的截止，步骤尚未等待时为实例截止",
  `settled_at` datetime(6) NULL COMMENT "结清时刻UTC微秒；空值表示尚未结清",
  `digest` binary(32) NOT NULL COMMENT "信号全部受理字段的SHA-256摘要，采纳前与记录及不可变审计核对",
  `audit_id` binary(16) NOT NULL COMMENT "受理审计的编号，其中保存同一摘要与时刻",
  `content` longblob NOT NULL COMMENT "信号内容的精确JSON字节，受理时已按契约校验",
  PRIMARY KEY (`namespace_id`, `instance_id`, `signal_id`),
  INDEX `signal_pending` (`namespace_id`, `pending_at`, `instance_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "流程信号：先存储后应答；早到、重复、迟到均保留并给出分类，从不丢失";
