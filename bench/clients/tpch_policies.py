"""Policies on TPC-H's tables for one role each (bench/tpch/policies.json), and the statements with the same written by hand."""

import json
import re
from pathlib import Path

POLICIES: dict[str, dict] = json.loads((Path(__file__).parent.parent / "tpch" / "policies.json").read_text())

#: What follows a table's name without being its alias.
NO_ALIAS = "on|where|left|group|order"


def handwritten(sql: str, kind: str) -> str:
    """Each table of these policies as a subquery with its filter and masks."""
    tables = POLICIES[kind]["tables"]

    def subquery(match: re.Match) -> str:
        name, alias = match.groups()
        masks = ", ".join(
            f"cast({mask['expression']} as {mask['type']}) as {column}" for column, mask in tables[name]["masks"].items()
        )
        columns = f"* replace ({masks})" if masks else "*"
        return f"(select {columns} from {name} where {tables[name]['filter']}) as {alias or name}"

    return re.sub(rf"\b({'|'.join(tables)})\b(?!\.)(?:[ ]+(?!(?:{NO_ALIAS})\b)(\w+))?", subquery, sql)
