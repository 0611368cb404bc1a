-- Subscriptions have a ladder of their own: subscription, then deliveries, then dead letters. Producers never come here.

CREATE TABLE subscription (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  subscription_id BIGINT UNSIGNED NOT NULL COMMENT '随机63位订阅编号，命名空间内唯一；同名重建后编号不同',
  application_id BIGINT UNSIGNED NOT NULL COMMENT '所属应用编号，只交付该应用队列的结果',
  name VARBINARY(64) NOT NULL COMMENT '订阅名称，应用内唯一，精确字节比较',
  queue_ids VARBINARY(512) NOT NULL COMMENT '选中的队列编号，每个8字节大端并升序排列，创建后不变；空串表示应用的全部队列，含以后新建的',
  states TINYINT UNSIGNED NOT NULL COMMENT '选中的结果状态，按位：第n位为1表示选中stream_entry.state等于n的结果；0表示全部状态。创建后不变',
  handlers VARBINARY(4128) NOT NULL COMMENT '选中的处理器名称，升序并以换行符分隔，至多32个；空串表示全部处理器。创建后不变',
  in_order TINYINT UNSIGNED NOT NULL COMMENT '1表示严格按序：较早的交付未确认时不越过它；0表示可并行消费。创建后不变',
  paused TINYINT UNSIGNED NOT NULL COMMENT '1表示暂停领取，仍接受确认；0为正常',
  window_max SMALLINT UNSIGNED NOT NULL COMMENT '同时未确认的交付数上限，个；达到后不再读取新结果',
  ack_timeout_ms INT UNSIGNED NOT NULL COMMENT '交付后等待确认的时长，毫秒；超过即可用更高代次重新交付',
  generations_max SMALLINT UNSIGNED NOT NULL COMMENT '交付次数预算，次；用尽仍未确认则转入死信，主动归还的不计入',
  epoch INT UNSIGNED NOT NULL COMMENT '位置纪元，每次改变读取位置加一，旧纪元的交付证明随之失效',
  next_seq BIGINT UNSIGNED NOT NULL COMMENT '下一条尚未读取的结果流序号，小于它的结果均已判定是否选中',
  last_hash BINARY(32) NULL COMMENT '序号next_seq减一的链接摘要，读取时据此核对结果流连续；空值表示从最早保留处开始、尚无可核对的前一条',
  last_seq BIGINT UNSIGNED NOT NULL COMMENT '最近一条被选中结果的序号；0表示本纪元尚未选中任何结果',
  selected_count BIGINT UNSIGNED NOT NULL COMMENT '本纪元选中的结果数，条；用于与结果流逐条核对无遗漏',
  pending_count BIGINT NOT NULL COMMENT '未确认交付数，个，必须等于交付行数；重复确认不再扣减',
  dead_count BIGINT NOT NULL COMMENT '死信数，个，必须等于死信行数',
  secret BINARY(32) NOT NULL COMMENT '随机密钥，仅用于推导交付证明，不出现在任何接口',
  version INT UNSIGNED NOT NULL COMMENT '设置的乐观版本，每次修改设置或位置加一；消费不影响',
  created_at DATETIME(6) NOT NULL COMMENT '创建时刻，数据库时钟UTC微秒',
  PRIMARY KEY (namespace_id, subscription_id),
  UNIQUE KEY subscription_name (namespace_id, application_id, name),
  CONSTRAINT subscription_pending_count CHECK (pending_count >= 0),
  CONSTRAINT subscription_dead_count CHECK (dead_count >= 0)
) COMMENT='结果订阅：读取位置、设置与精确计数；消费先锁本行再锁交付，生产者从不锁定';

CREATE TABLE subscription_delivery (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  subscription_id BIGINT UNSIGNED NOT NULL COMMENT '所属订阅编号',
  seq BIGINT UNSIGNED NOT NULL COMMENT '结果流序号，交付按此升序',
  previous_seq BIGINT UNSIGNED NOT NULL COMMENT '本订阅前一条选中结果的序号，消费者据此发现缺失；0表示本纪元的第一条',
  generation INT UNSIGNED NOT NULL COMMENT '交付代次，从1起每次重新交付加一；只有最近代次可以确认',
  tries SMALLINT UNSIGNED NOT NULL COMMENT '已消耗的交付次数，次；从死信恢复时清零',
  holder BIGINT UNSIGNED NOT NULL COMMENT '持有者名称摘要的前8字节，仅用于同一消费者续取；0表示无人持有（已拒绝或归还）',
  due_at DATETIME(6) NOT NULL COMMENT '可以重新交付的时刻UTC微秒：有持有者时为确认期限，无持有者时为拒绝要求的等待结束',
  PRIMARY KEY (namespace_id, subscription_id, seq)
) COMMENT='未确认的交付：首次交付时写入，确认后删除，行数不超过订阅窗口与恢复的死信之和';

CREATE TABLE subscription_dead_letter (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  subscription_id BIGINT UNSIGNED NOT NULL COMMENT '所属订阅编号',
  seq BIGINT UNSIGNED NOT NULL COMMENT '结果流序号',
  previous_seq BIGINT UNSIGNED NOT NULL COMMENT '本订阅前一条选中结果的序号，恢复交付时沿用',
  generation INT UNSIGNED NOT NULL COMMENT '最后一次交付的代次，其证明仍可确认',
  dead_at DATETIME(6) NOT NULL COMMENT '转入死信的时刻，数据库时钟UTC微秒',
  reason VARBINARY(255) NULL COMMENT '最后一次拒绝的原因，供人阅读；空值表示因超时未确认',
  PRIMARY KEY (namespace_id, subscription_id, seq)
) COMMENT='死信：交付次数用尽仍未确认的结果，等待人工恢复或迟到的确认';
