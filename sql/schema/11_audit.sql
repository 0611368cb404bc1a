-- Written after everything that is decided, before COMMIT; never locked.

CREATE TABLE audit (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  audit_id BINARY(16) NOT NULL COMMENT '审计编号，UUIDv7',
  application_id BIGINT UNSIGNED NOT NULL COMMENT '相关应用编号；0表示命名空间级操作',
  operation_id BINARY(16) NOT NULL COMMENT '操作身份，每次操作或推进独立，不重复使用',
  actor VARBINARY(96) NOT NULL COMMENT '操作者：凭据编号、命令行引导或 system:weave:节点编号',
  action VARBINARY(64) NOT NULL COMMENT '稳定的动作名，如 credential.created、workflow.advanced、task.lost',
  subject VARBINARY(96) NOT NULL COMMENT '作用对象的类型化编号或名称',
  at DATETIME(6) NOT NULL COMMENT '事务时刻，数据库时钟UTC微秒',
  reason VARBINARY(1024) NULL COMMENT '操作者给出的原因；空值表示系统动作无需说明',
  detail LONGBLOB NOT NULL COMMENT '补充事实JSON字节，不含密钥与业务负载',
  PRIMARY KEY (namespace_id, audit_id),
  KEY audit_subject (namespace_id, subject, audit_id)
) COMMENT='审计记录：与其说明的变更同事务写入，只增不改';
