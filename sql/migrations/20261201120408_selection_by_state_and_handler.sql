-- Modify "subscription" table: the implicit 0 and empty text of existing rows are what they mean, everything is selected.
-- atlas:nolint MY101
ALTER TABLE `subscription` ADD COLUMN `states` tinyint unsigned NOT NULL COMMENT "选中的结果状态，按位：第n位为1表示选中stream_entry.state等于n的结果；0表示全部状态。创建后不变", ADD COLUMN `handlers` varbinary(4128) NOT NULL COMMENT "选中的处理器名称，升序并以换行符分隔，至多32个；空串表示全部处理器。创建后不变";
