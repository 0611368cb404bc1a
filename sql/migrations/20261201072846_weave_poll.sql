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
