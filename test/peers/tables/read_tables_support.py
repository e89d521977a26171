"""What reading by the service and by pyiceberg differ in, and may."""

import pyarrow as pa


def plain_uuids(table: pa.Table) -> pa.Table:
    """The service sends UUIDs as text, pyiceberg as an Arrow extension type."""
    for index, field in enumerate(table.schema):
        if isinstance(field.type, pa.UuidType):
            texts = pa.array([None if value is None else str(value) for value in table.column(index).to_pylist()], pa.string())
            table = table.set_column(index, field.name, texts)
    return table
