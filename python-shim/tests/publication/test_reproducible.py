"""Who builds a release again gets the same bytes."""

import zipfile

from publication.conftest import TIMESTAMP, packages


def difference(first, second):
    """Name the entries in which two archives differ."""
    if not zipfile.is_zipfile(first):
        return first.name
    with zipfile.ZipFile(first) as one, zipfile.ZipFile(second) as two:
        names = {*one.namelist(), *two.namelist()}
        both = {*one.namelist()} & {*two.namelist()}
        differ = sorted((names - both) | {n for n in both if one.read(n) != two.read(n)})
    return f"{first.name}: {differ[:10] or 'the order or the times of its entries'}"


def check_same(first, second):
    assert first.keys() == second.keys()
    differ = [name for name in first if first[name].read_bytes() != second[name].read_bytes()]
    assert [difference(first[name], second[name]) for name in differ] == []


def test_two_builds_in_two_folders_publish_the_same_bytes(publication, another_publication):
    check_same(publication.files(), another_publication.files())


def test_all_entries_have_the_time_of_the_commit(publication):
    for name, path in publication.files().items():
        if name.endswith(".jar"):
            with zipfile.ZipFile(path) as jar:
                days = {entry.date_time[:3] for entry in jar.infolist()}
            assert days == {tuple(map(int, TIMESTAMP[:10].split("-")))}, name


def test_two_builds_give_the_same_python_packages(wheels, another_publication, tmp_path):
    again = packages(another_publication, tmp_path)
    assert len(again) == 2
    check_same(wheels, again)
