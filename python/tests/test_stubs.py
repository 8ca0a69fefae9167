"""The stubs are those that ``stubs.py`` writes (``BLESS=1`` writes them)."""

import os

import pytest

import stubs


@pytest.mark.parametrize("file", stubs.STUBS)
def test_a_stub_is_what_the_signatures_say(file):
    path, text = stubs.FOLDER / file, stubs.STUBS[file]()
    if os.environ.get("BLESS"):
        path.write_text(text)
    assert path.read_text() == text, "run BLESS=1 pytest python/tests/test_stubs.py"
