"""The Arrow schemas of metadata answers, as FlightSql.proto of Apache Arrow prescribes them."""

import pyarrow as pa


def _text(name: str, nullable: bool = True) -> pa.Field:
    return pa.field(name, pa.string(), nullable)


def _int32(name: str, nullable: bool = True) -> pa.Field:
    return pa.field(name, pa.int32(), nullable)


def _flag(name: str, nullable: bool = True) -> pa.Field:
    return pa.field(name, pa.bool_(), nullable)


CATALOGS = pa.schema([_text("catalog_name", False)])
SCHEMAS = pa.schema([_text("catalog_name"), _text("db_schema_name", False)])
TABLES = pa.schema([_text("catalog_name"), _text("db_schema_name"), _text("table_name", False), _text("table_type", False)])
TABLES_WITH_SCHEMA = TABLES.append(pa.field("table_schema", pa.binary(), nullable=False))
TABLE_TYPES = pa.schema([_text("table_type", False)])
PRIMARY_KEYS = pa.schema(
    [
        _text("catalog_name"),
        _text("db_schema_name"),
        _text("table_name", False),
        _text("column_name", False),
        _text("key_name"),
        _int32("key_sequence", False),
    ]
)
FOREIGN_KEYS = pa.schema(
    [
        *(
            _text(f"{side}_{name}", nullable)
            for side in ("pk", "fk")
            for name, nullable in (("catalog_name", True), ("db_schema_name", True), ("table_name", False), ("column_name", False))
        ),
        _int32("key_sequence", False),
        _text("fk_key_name"),
        _text("pk_key_name"),
        pa.field("update_rule", pa.uint8(), False),
        pa.field("delete_rule", pa.uint8(), False),
    ]
)
XDBC_TYPES = pa.schema(
    [
        _text("type_name", False),
        _int32("data_type", False),
        _int32("column_size"),
        _text("literal_prefix"),
        _text("literal_suffix"),
        pa.field("create_params", pa.list_(pa.field("item", pa.string(), False))),
        _int32("nullable", False),
        _flag("case_sensitive", False),
        _int32("searchable", False),
        _flag("unsigned_attribute"),
        _flag("fixed_prec_scale", False),
        _flag("auto_increment"),
        _text("local_type_name"),
        _int32("minimum_scale"),
        _int32("maximum_scale"),
        _int32("sql_data_type", False),
        _int32("datetime_subcode"),
        _int32("num_prec_radix"),
        _int32("interval_precision"),
    ]
)
SQL_INFO = pa.schema(
    [
        pa.field("info_name", pa.uint32(), False),
        pa.field(
            "value",
            pa.dense_union(
                [
                    _text("string_value"),
                    _flag("bool_value"),
                    pa.field("bigint_value", pa.int64()),
                    _int32("int32_bitmask"),
                    pa.field("string_list", pa.list_(pa.field("string_data", pa.string()))),
                    pa.field("int32_to_int32_list_map", pa.map_(pa.int32(), pa.list_(pa.field("$data$", pa.int32())))),
                ]
            ),
            False,
        ),
    ]
)
