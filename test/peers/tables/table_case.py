"""A table of the peer tests: how pyiceberg writes it, and which filters its readers are compared on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

NAMESPACE = "peers"


@dataclass(frozen=True)
class Filter:
    """A condition that means the same to SQL and to pyiceberg's parser.

    `prunes`: a reader that uses partitions, bounds and row-group statistics must leave something unread.
    `by`: who says which rows are right, where pyiceberg cannot evaluate the condition (UUIDs, bounds of promoted
    columns) or means something else by it (NaN): DuckDB, over the rows of pyiceberg's whole scan, or over the data files.
    """

    text: str
    prunes: bool = False
    by: Literal["pyiceberg", "rows", "files"] = "pyiceberg"


@dataclass(frozen=True)
class TableCase:
    name: str
    write: Callable[[SqlCatalog, str], Table]
    filters: tuple[Filter, ...] = ()

    @property
    def identifier(self) -> str:
        return f"{NAMESPACE}.{self.name}"


def open_catalog(folder: str) -> SqlCatalog:
    """pyiceberg's own catalog: names in SQLite, tables below `<folder>/warehouse`."""
    return SqlCatalog("peers", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
