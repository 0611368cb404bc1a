-- Rung 1: who is asking. Locked shared by every transaction, changed only by administration.

CREATE TABLE namespace_name (
  name VARBINARY(64) NOT NULL COMMENT '命名空间的全局唯一名称，精确字节；独立于分片数据保存，仅开通命名空间的事务写入',
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '该名称指向的命名空间编号，写入后不再改变',
  PRIMARY KEY (name)
) COMMENT='命名空间名称登记：唯一不以命名空间编号开头的小表，保证名称全局唯一';

CREATE TABLE namespace (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '随机63位编号，所有业务数据的隔离与分片键，永不修改',
  name VARBINARY(64) NOT NULL COMMENT '名称副本，供展示；唯一性由名称登记表保证',
  status TINYINT UNSIGNED NOT NULL COMMENT '1启用，2停用；停用后不再启动新执行，已落库结果仍继续收集',
  created_at DATETIME(6) NOT NULL COMMENT '开通时刻，数据库时钟UTC微秒',
  PRIMARY KEY (namespace_id)
) COMMENT='命名空间：租户隔离的根，身份共享锁的第一行';

CREATE TABLE application (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  application_id BIGINT UNSIGNED NOT NULL COMMENT '随机63位应用编号，命名空间内唯一',
  name VARBINARY(64) NOT NULL COMMENT '应用名称，命名空间内唯一，精确字节比较',
  status TINYINT UNSIGNED NOT NULL COMMENT '1启用，2停用；停用后凭据全部失效且不启动新执行',
  created_at DATETIME(6) NOT NULL COMMENT '创建时刻，数据库时钟UTC微秒',
  PRIMARY KEY (namespace_id, application_id),
  UNIQUE KEY application_name (namespace_id, name)
) COMMENT='接入应用：拥有凭据、额度与队列；身份行与额度行分离，共享锁从不升级';

CREATE TABLE credential (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号，写在密钥文本内，使查找只需一行',
  credential_id BIGINT UNSIGNED NOT NULL COMMENT '随机63位凭据编号，写在密钥文本内',
  application_id BIGINT UNSIGNED NOT NULL COMMENT '凭据所属应用编号',
  name VARBINARY(64) NOT NULL COMMENT '管理员给出的用途说明名，仅供辨认，不参与鉴权',
  secret_hash BINARY(32) NOT NULL COMMENT '256位随机密钥的SHA-256摘要；原文只在签发时返回一次',
  scopes VARCHAR(1024) NOT NULL COMMENT '以空格分隔的权限范围名，按原样授予，互不隐含',
  expires_at DATETIME(6) NULL COMMENT '失效时刻UTC微秒；空值表示不自动过期',
  revoked_at DATETIME(6) NULL COMMENT '吊销时刻UTC微秒；空值表示未吊销，写入后不可清除',
  rotated_to BIGINT UNSIGNED NULL COMMENT '轮换产生的新凭据编号；空值表示没有后继，旧凭据在重叠期内仍可用',
  last_used_at DATETIME(6) NULL COMMENT '最近一次使用时刻，约一分钟粒度的提示值，不作为鉴权依据；空值表示从未使用',
  created_at DATETIME(6) NOT NULL COMMENT '签发时刻，数据库时钟UTC微秒',
  PRIMARY KEY (namespace_id, credential_id),
  KEY credential_application (namespace_id, application_id, credential_id)
) COMMENT='应用凭据：只存密钥摘要，权限、有效期与吊销均以本行为准';
