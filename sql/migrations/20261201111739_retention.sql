-- Create "ended_task" table
CREATE TABLE `ended_task` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `look_at` datetime(6) NOT NULL COMMENT "从此时刻起计任务保留期，UTC微秒；初为结束时刻，仍被需要时推后",
  `task_id` binary(16) NOT NULL COMMENT "结果已离开结果流的已结束任务编号",
  PRIMARY KEY (`namespace_id`, `look_at`, `task_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "待清除任务：终态结果随结果流清除时写入，订阅不再能取到；任务行清除时删除";
-- Create "retention" table
CREATE TABLE `retention` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号，每个命名空间至多一行",
  `tasks_ms` bigint unsigned NOT NULL COMMENT "已结束任务的保留期，毫秒，从结果离开结果流起不早于结束时刻计；0表示永久保留",
  `stream_ms` bigint unsigned NOT NULL COMMENT "结果流条目的保留期，毫秒；0表示永久保留，此时任务也不会清除",
  `receipts_ms` bigint unsigned NOT NULL COMMENT "操作回执的保留期，毫秒，期满后同键视为新请求；0表示永久保留",
  `audit_ms` bigint unsigned NOT NULL COMMENT "审计记录的保留期，毫秒；0表示永久保留",
  `version` int unsigned NOT NULL COMMENT "设置的乐观版本，每次修改加一；清除进度不影响",
  `first_seq` bigint unsigned NOT NULL COMMENT "结果流仍保留的最小序号，更小的均已清除；从1起只增不减",
  `receipt_application` bigint unsigned NOT NULL COMMENT "回执清除游标：应用编号，下一页从其后继续",
  `receipt_kind` tinyint unsigned NOT NULL COMMENT "回执清除游标：操作种类",
  `receipt_key` varbinary(255) NOT NULL COMMENT "回执清除游标：最后看过的幂等键",
  `audit_after` binary(16) NOT NULL COMMENT "审计清除游标：最后看过的审计编号",
  `tasks_removed` bigint unsigned NOT NULL COMMENT "累计清除的任务数，个",
  `entries_removed` bigint unsigned NOT NULL COMMENT "累计清除的结果流条目数，条",
  `receipts_removed` bigint unsigned NOT NULL COMMENT "累计清除的回执数，条",
  `audit_removed` bigint unsigned NOT NULL COMMENT "累计清除的审计记录数，条",
  `changed_at` datetime(6) NOT NULL COMMENT "最近一次修改设置的时刻，数据库时钟UTC微秒",
  PRIMARY KEY (`namespace_id`)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "保留期设置与清除进度：清除事务与移回读取位置的订阅都先锁定本行，故正在被选用的结果不会被清除";
