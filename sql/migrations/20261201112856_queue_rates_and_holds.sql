-- Modify "queue" table: the implicit 0 of existing rows is what they mean, no limit.
-- atlas:nolint MY101
ALTER TABLE `queue` ADD COLUMN `rate_limited` tinyint unsigned NOT NULL COMMENT "1表示设有速率限制，其设置与余量在速率行；0为不限，领取不读速率行";
-- Create "queue_hold" table
CREATE TABLE `queue_hold` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `queue_id` bigint unsigned NOT NULL COMMENT "被暂停或排空的队列编号",
  `kind` tinyint unsigned NOT NULL COMMENT "1暂停，2排空",
  `reason` varbinary(1024) NOT NULL COMMENT "操作者给出的原因，必填",
  `held_by` varbinary(96) NOT NULL COMMENT "操作者：凭据编号",
  `held_at` datetime(6) NOT NULL COMMENT "开始的时刻，数据库时钟UTC微秒",
  PRIMARY KEY (`namespace_id`, `queue_id`, `kind`),
  CONSTRAINT `queue_hold_kind` CHECK (`kind` in (1,2))
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "队列暂停与排空的缘由：以命令暂停或排空时写入，恢复时删除，由队列行锁保护";
-- Create "queue_rate" table
CREATE TABLE `queue_rate` (
  `namespace_id` bigint unsigned NOT NULL COMMENT "所属命名空间编号",
  `queue_id` bigint unsigned NOT NULL COMMENT "限速的队列编号",
  `tokens` bigint NOT NULL COMMENT "每周期补回的启动次数，次",
  `period_ms` bigint NOT NULL COMMENT "周期，毫秒",
  `burst` bigint NOT NULL COMMENT "最多积攒的启动次数，次；任一周期内启动不超过积攒与补回之和",
  `credit` bigint NOT NULL COMMENT "余量，单位为次乘微秒：一次等于周期的微秒数，整数运算无舍入",
  `refilled_at` datetime(6) NOT NULL COMMENT "余量计算到的时刻，数据库时钟UTC微秒",
  PRIMARY KEY (`namespace_id`, `queue_id`),
  CONSTRAINT `queue_rate_credit` CHECK (`credit` >= 0)
) CHARSET utf8mb4 COLLATE utf8mb4_bin COMMENT "队列速率：设置与余量，仅限速队列有行，由队列行锁保护";
