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
