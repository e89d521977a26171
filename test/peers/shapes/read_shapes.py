"""A second opinion: the same tables by DuckDB's own Iceberg extension.

Arguments: the storage as JSON (endpoint, accessKeyId, secretAccessKey), and a file of JSON lines with `metadata` and
`sql`, which makes one text of each row. Prints for each the texts, sorted, or what the extension said instead.
"""

import json
import sys
from pathlib import Path

import duckdb
from duckdb_extensions import connect

storage = json.loads(sys.argv[1])
connection = connect()
connection.execute(
    f"""CREATE SECRET (TYPE s3, KEY_ID '{storage["accessKeyId"]}', SECRET '{storage["secretAccessKey"]}', REGION 'us-east-1',
    ENDPOINT '{storage["endpoint"].removeprefix("http://")}', URL_STYLE 'path', USE_SSL false)"""
)
for line in Path(sys.argv[2]).read_text().splitlines():
    case = json.loads(line)
    try:
        rows = connection.execute(f"SELECT {case['sql']} FROM iceberg_scan('{case['metadata']}')").fetchall()
        answer = {"rows": sorted(text for (text,) in rows)}
    except duckdb.Error as error:
        answer = {"error": str(error)}
    print(json.dumps(answer))
