-- Rung 7: may anything of this owner start?

CREATE TABLE execution_gate (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  gate_id BINARY(16) NOT NULL COMMENT '门控编号，等于其实例编号',
  state TINYINT UNSIGNED NOT NULL COMMENT '1打开：允许领取；2关闭：不授予新执行，已在途的继续收集',
  changed_at DATETIME(6) NOT NULL COMMENT '最近开关时刻，数据库时钟UTC微秒',
  PRIMARY KEY (namespace_id, gate_id)
) COMMENT='执行门控：领取时共享锁定，关闭后该实例的任务不再开始';
