"""pyiceberg's side of run.mjs: plans on request and answers how long it took. One JSON line in, one out."""
import json
import sys
import time

from pyiceberg.table import StaticTable

for line in sys.stdin:
    request = json.loads(line)
    table = StaticTable.from_metadata(request["metadata"])
    scan = table.scan(row_filter=request["filter"])
    start = time.perf_counter()
    files = [task.file.file_path for task in scan.plan_files()]
    took_ms = (time.perf_counter() - start) * 1000
    print(json.dumps({"ms": took_ms, "files": sorted(files)}), flush=True)
