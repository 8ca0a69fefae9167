"""The sessions of the book's chapter on this package print what the chapter shows."""

import doctest
import pathlib
import re

PAGE = pathlib.Path(__file__).parents[3] / "book/src/jax.md"


def test_sessions_print_what_the_page_shows():
    text = "\n".join(re.findall(r"```python\n(>>> .*?)```", PAGE.read_text(), re.S))
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    failures = []
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE 
    doctest.DocTestRunner(optionflags=options).run(test, out=failures.append)
    assert len(test.examples) > 10 and not failures, "".join(failures)
