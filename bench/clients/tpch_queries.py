"""The TPC-H statements as text, by name (`q01` … `q22`)."""

from pathlib import Path

FOLDER = Path(__file__).parent.parent / "tpch" / "queries"

#: Their ORDER BY leaves no ties, so the order of the rows is part of the answer.
TOTALLY_ORDERED = {f"q{number:02}" for number in (1, 2, 4, 7, 8, 9, 12, 13, 15, 16, 20, 21, 22)}


def tpch_queries() -> dict[str, str]:
    return {path.stem: path.read_text() for path in sorted(FOLDER.glob("q*.sql"))}
