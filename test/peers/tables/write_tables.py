"""Writes every table of the peer tests into `<folder>/warehouse`. Usage: write_tables.py FOLDER [NAME…]"""

import sys
import time
import warnings
from pathlib import Path

from evolved_tables import EVOLVED_TABLES
from layout_tables import LAYOUT_TABLES
from partitioned_tables import PARTITIONED_TABLES
from table_case import NAMESPACE, open_catalog
from typed_tables import TYPED_TABLES

ALL_TABLES = [*TYPED_TABLES, *PARTITIONED_TABLES, *EVOLVED_TABLES, *LAYOUT_TABLES]


def main(folder: str, names: list[str]) -> None:
    warnings.simplefilter("ignore")  # deletes that match nothing, and the like
    (Path(folder) / "warehouse").mkdir(parents=True, exist_ok=True)
    catalog = open_catalog(folder)
    catalog.create_namespace_if_not_exists(NAMESPACE)
    failures = 0
    began = time.monotonic()
    for case in ALL_TABLES:
        if names and case.name not in names:
            continue
        try:
            case.write(catalog, case.identifier)
        except Exception as error:  # the rest is written all the same, so that one look shows every problem
            failures += 1
            print(f"{case.name}: {type(error).__name__}: {error}", flush=True)
    print(f"{len(ALL_TABLES)} tables in {time.monotonic() - began:.1f} s, {failures} could not be written")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
