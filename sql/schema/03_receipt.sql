-- Rung 3: what was answered once is answered the same way again.

CREATE TABLE receipt (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  application_id BIGINT UNSIGNED NOT NULL COMMENT '受理请求的应用编号',
  kind TINYINT UNSIGNED NOT NULL COMMENT '操作种类：1任务提交（含人工重试，共用提交键），2任务取消，3定义发布，4实例启动，5任务核查，6流程信号，8计划手动触发；同一键在不同种类下互不相关',
  receipt_key VARBINARY(255) NOT NULL COMMENT '调用方给出的幂等键，精确字节，区分大小写与尾部空格',
  digest BINARY(32) NOT NULL COMMENT '原请求的结构摘要；同键不同摘要即为冲突',
  subject_id BINARY(16) NOT NULL COMMENT '受理产生或作用的对象编号（任务、实例）；发布定义时为操作编号',
  body BLOB NOT NULL COMMENT '首次受理时冻结的回执正文，重报逐字节返回',
  created_at DATETIME(6) NOT NULL COMMENT '首次受理时刻，数据库时钟UTC微秒',
  PRIMARY KEY (namespace_id, application_id, kind, receipt_key)
) COMMENT='操作回执：同一应用同一键只受理一次，回执冻结且独立于任务保留期';

CREATE TABLE tx_command (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '事务所在命名空间编号，一个事务只涉及一个命名空间',
  command_id BINARY(16) NOT NULL COMMENT '本次事务的唯一编号；提交结果不明时在新连接上再次插入同一编号来判定是否已提交',
  created_at DATETIME(6) NOT NULL COMMENT '写入时刻，数据库时钟UTC微秒；超过保留期后可清除',
  PRIMARY KEY (namespace_id, command_id)
) COMMENT='事务身份：每个写事务插入一行，用于裁决提交结果不明的事务';

CREATE TABLE claim_record (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  application_id BIGINT UNSIGNED NOT NULL COMMENT '领取者所属应用编号',
  claim_key VARBINARY(64) NOT NULL COMMENT '领取键，每次领取新取，精确字节',
  digest BINARY(32) NOT NULL COMMENT '领取内容的摘要；同键不同内容即为冲突',
  asked INT UNSIGNED NOT NULL COMMENT '已答复的最大询问序号：0为首次，重新询问逐次加一；更旧的询问不再得到任何尝试',
  started BLOB NOT NULL COMMENT '该次领取开始的任务编号与尝试序号，每项18字节',
  created_at DATETIME(6) NOT NULL COMMENT '首次领取时刻，数据库时钟UTC微秒；租约上限过后即可清除',
  PRIMARY KEY (namespace_id, application_id, claim_key),
  KEY claim_created (namespace_id, created_at)
) COMMENT='带键领取的记录：答复丢失后凭键取回已开始的尝试，由额度行锁保护';
