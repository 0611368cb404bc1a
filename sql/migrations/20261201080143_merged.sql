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
