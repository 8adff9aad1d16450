"""Guards of the structure that the import contracts cannot express."""

import ast
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

CORE_MAY_IMPORT = {
    "babel",
    "grapheme",
    "markdown_it",
    "numpy",
    "phonenumbers",
    "py3langid",
    "sentencex",
    "stdnum",
    "stopwordsiso",
    "text_to_num",
}
"""Small pure libraries, none of which does I/O."""


def imported_packages(source: Path) -> set[str]:
    """The top-level names that a module imports, wherever in the module it does so."""
    names = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("module", sorted((ROOT / "core").rglob("*.py")), ids=lambda path: path.stem)
def test_core_imports_only_itself_the_standard_library_and_small_pure_libraries(module: Path) -> None:
    """Nothing in core can reach the network, a database or a platform."""
    allowed = set(sys.stdlib_module_names) | {"core"} | CORE_MAY_IMPORT

    foreign = imported_packages(module) - allowed

    assert foreign == set()


@pytest.mark.parametrize("package", ["bot", "adapters", "core", "migrations"])
def test_top_level_packages_are_the_ones_of_this_project(package: str) -> None:
    """The generic names resolve to the folders at the root, not to somebody else's package."""
    spec = find_spec(package)

    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).parent == ROOT / package


def test_every_test_folder_is_a_package() -> None:
    """A test folder without __init__.py would shadow the package it mirrors."""
    folders = {path.parent for path in (ROOT / "tests").rglob("*.py")}

    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []
