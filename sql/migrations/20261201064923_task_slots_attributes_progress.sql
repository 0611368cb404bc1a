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
