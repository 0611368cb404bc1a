-- Modify "receipt" table
ALTER TABLE `receipt` MODIFY COLUMN `kind` tinyint unsigned NOT NULL COMMENT "操作种类：1任务提交（含人工重试，共用提交键），2任务取消，3定义发布，4实例启动，5任务核查，8计划手动触发，20带键领取（正文为已开始的任务与尝试）；同一键在不同种类下互不相关";
