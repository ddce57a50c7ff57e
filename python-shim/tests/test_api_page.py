"""The page with the API of the package, which is written from the docstrings."""

import re
from pathlib import Path

import pytest

import scripts
import spark_collectives

SHIM = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def api_page():
    return scripts.load(SHIM / "api_page.py")


def test_the_page_is_as_new_as_the_docstrings(api_page):
    assert api_page.PAGE.read_text(encoding="utf-8") == api_page.page(), "run api_page.py"


def test_the_page_has_each_public_name_and_says_something_of_it(api_page):
    parts = re.split(r"^###+ (?:class )?`(\w[\w.]*).*`$", api_page.page(), flags=re.MULTILINE)
    said = dict(zip(parts[1::2], parts[2::2]))
    assert set(spark_collectives.__all__) <= set(said)
    assert {"ProcessGroup.all_reduce", "ProcessGroup.send", "Work.wait", "Store.get"} <= set(said)
    assert [name for name, text in said.items() if not text.strip()] == []


def test_a_class_that_callers_make_has_its_parameters(api_page):
    title = next(api_page.described("P2POp", spark_collectives.P2POp))
    arguments = "op, tensor, peer=None, group=None, tag=0, group_peer=None"
    assert title == f"### class `P2POp({arguments})`"
    assert next(api_page.described("Work", spark_collectives.Work)) == "### class `Work`"


def test_nothing_on_the_page_differs_between_two_runs(api_page):
    assert not re.search(r"0x[0-9a-f]{6}| object at ", api_page.page())


def example(array, op=spark_collectives.ReduceOp.MAX, *, limit=None, **others):
    """Do something with ``array``, as :func:`~torch.distributed.all_reduce` does::

        example(array)

    :param array: what it is done with, in a text that
        goes on in the next line
    :return: nothing
    :raises ValueError: never
    """


def test_a_docstring_becomes_markdown(api_page):
    name = "(array, op=ReduceOp.MAX, *, limit=None, **others)"
    assert api_page.signature(example) == name
    assert api_page.signature(example, skip_first=True) == name.replace("array, ", "")
    assert api_page.markdown(example.__doc__).split("\n") == [
        "Do something with `array`, as `all_reduce` does:",
        "",
        "    example(array)",
        "",
        "* `array`: what it is done with, in a text that",
        "  goes on in the next line",
        "* Returns nothing",
        "* Raises `ValueError`: never",
    ]
