"""Caches that all visitors share hold nothing that follows from a table or from a schema that was read from one."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PRIVATE = {"RunSpec", "Schema", "LinkedSchema", "Workspace", "Dataset", "Job", "Table", "DataFrame", "Comparison"}


def test_a_cache_whose_key_or_value_may_come_from_a_table_is_of_one_visitor():
    seen = 0
    for path in (*ROOT.glob("ui/**/*.py"), *ROOT.glob("pages/*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            for mark in (d for d in node.decorator_list if isinstance(d, ast.Call) and "cache_data" in ast.unparse(d)):
                kinds = {n.id for a in node.args.args for n in ast.walk(a.annotation) if isinstance(n, ast.Name)}
                if kinds & PRIVATE:
                    seen += 1
                    assert "scope='session'" in ast.unparse(mark), f"{path.name}: {node.name}"
    assert seen >= 4
