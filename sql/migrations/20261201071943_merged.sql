-- Modify "receipt" table
ALTER TABLE `receipt` MODIFY COLUMN `kind` tinyint unsigned NOT NULL COMMENT "操作种类：1任务提交（含人工重试，共用提交键），2任务取消，3定义发布，4实例启动，5任务核查，6流程信号，8计划手动触发，20带键领取（正文为已开始的任务与尝试）；同一键在不同种类下互不相关";
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
