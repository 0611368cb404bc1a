-- Rung 4: published workflow definitions.

CREATE TABLE workflow_definition (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  application_id BIGINT UNSIGNED NOT NULL COMMENT '发布定义的应用编号',
  name VARBINARY(48) NOT NULL COMMENT '定义名称，应用内唯一',
  latest_version INT UNSIGNED NOT NULL COMMENT '已发布的最大版本号，供未指定版本的查询使用；0表示尚无版本',
  revision INT UNSIGNED NOT NULL COMMENT '定义头的修订号，每次发布新版本加一',
  created_at DATETIME(6) NOT NULL COMMENT '首次发布时刻，数据库时钟UTC微秒',
  updated_at DATETIME(6) NOT NULL COMMENT '最近发布时刻，数据库时钟UTC微秒',
  PRIMARY KEY (namespace_id, application_id, name)
) COMMENT='流程定义头：同名各版本的锁定点，发布时排他锁定';

CREATE TABLE workflow_version (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  application_id BIGINT UNSIGNED NOT NULL COMMENT '发布定义的应用编号',
  name VARBINARY(48) NOT NULL COMMENT '定义名称',
  version INT UNSIGNED NOT NULL COMMENT '发布者选定的版本号，接受后不可变',
  digest BINARY(32) NOT NULL COMMENT '定义的结构摘要，载入时与原文一并校验；同版本不同摘要即为冲突',
  document LONGBLOB NOT NULL COMMENT '首次接受的定义原文字节，数值保持书写形式',
  published_by BIGINT UNSIGNED NOT NULL COMMENT '发布所用凭据编号',
  created_at DATETIME(6) NOT NULL COMMENT '发布时刻，数据库时钟UTC微秒',
  PRIMARY KEY (namespace_id, application_id, name, version)
) COMMENT='流程定义版本：不可变原文与摘要，运行中的实例固定引用一个版本';
