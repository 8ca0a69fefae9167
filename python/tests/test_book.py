"""The sessions of the book's pages on Python print what the pages show, and its tables are those of the package."""

import doctest
import pathlib
import re

import pytest

import cotangent as ct

BOOK = pathlib.Path(__file__).parent.parent.parent / "book" / "src"
# The tests of the package `cotangent-jax` run the page on it.
PAGES = sorted(p.name for p in BOOK.glob("*.md") if "```python\n>>> " in p.read_text() and p.name != "jax.md")
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def sessions(page):
    """The blocks of a page that are sessions."""
    return re.findall(r"```python\n(>>> .*?)```", (BOOK / page).read_text(), re.S)


def test_there_are_pages():
    assert len(PAGES) >= 7, "run the tests from a checkout"


@pytest.mark.parametrize("page", PAGES)
def test_sessions_print_what_the_page_shows(page):
    text = "\n".join(sessions(page))
    if "import jax" in text:
        pytest.importorskip("jax")
    if "scipy" in text:
        pytest.importorskip("scipy")
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    failures = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=failures.append)
    assert test.examples and not failures, "".join(failures)


def test_the_table_of_errors_is_the_package_s():
    from cotangent import _errors
    rows = re.findall(r"^\| `(\w+Error)` \| ([^|]*) \| ([^|]*) \|$", (BOOK / "python-errors.md").read_text(), re.M)
    listed = {code: name for name, _, codes in rows for code in re.findall(r"`(\w+)`", codes)}
    mine = {code: c.__name__ for code, c in _errors._CLASSES.items() if issubclass(c, ct.Error)}
    mine["FileNotFound"] = "FileError"  # a class of it
    assert listed == mine
    for name, bases, _ in rows:
        builtins = [b for b in re.findall(r"`(\w+)`", bases) if b != "FileNotFoundError"]
        assert all(issubclass(getattr(ct, name), getattr(ct, b, None) or __builtins__[b]) for b in builtins), name
