"""Makes a site of Markdown that is written for GitHub: a hook of MkDocs.

It adds the pages that are not in docs/, turns links to files that are no pages of the site into
links to the repository, gives headings the anchors that GitHub gives them, redirects the addresses
that pages had before, and adds the Javadoc and mermaid, which docs/site/build has put under target/.
"""

import os
import posixpath
import re
import shutil
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File
from mkdocs.structure.nav import Link
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).resolve().parents[2]
PARTS = ROOT / "target/site-parts"
MERMAID = "assets/mermaid.min.js"
#: The pages that are not in docs/, by their names on the site.
PAGES = {
    "overview.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
}
#: What links to files lead to: a tag, or main.
REF = os.environ.get("SITE_REF", "main")

#: What stands at the address that a page had before; a heading in the address is kept.
REDIRECT = """<!doctype html>
<title>Moved</title>
<link rel="canonical" href="{url}">
<script>location.replace("{url}" + location.hash)</script>
<meta http-equiv="refresh" content="1; url={url}">
<a href="{url}">This page has moved.</a>
"""

_CODE = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"^<!--.*?-->\n", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\()([^)\s]+)(\))")


def slug(heading, separator):
    """Return GitHub's anchor of a heading: no punctuation, and a hyphen for each blank."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = slug
    return config


def _require(part):
    path = PARTS / part
    if not path.exists():
        raise PluginError(f"{path} is missing: docs/site/build makes it, and then the site.")
    return path


def on_files(files, config):
    for name, source in PAGES.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text("utf-8")))
    for before, now in config.extra["moved"].items():
        page = files.get_file_from_path(now)
        if page is None or files.get_file_from_path(before):
            raise PluginError(f"moved: {before} is still there, or {now} is not.")
        folder = before.removesuffix(".md") + "/"
        text = REDIRECT.format(url=get_relative_url(page.url, folder))
        files.append(File.generated(config, folder + "index.html", content=text))
    mermaid = _require("mermaid.min.js")
    files.append(File.generated(config, MERMAID, abs_src_path=str(mermaid)))
    return files


def on_nav(nav, config, files):
    reference = next(item for item in nav.items if item.title == "Reference")
    reference.children.append(Link("Java API (Javadoc)", "javadoc/index.html"))
    return nav


def _outside_code(text, change):
    """Change a text, but for its code."""
    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [change(text[end : code.start()]), code.group()]
        end = code.end()
    return "".join([*parts, change(text[end:])])


def _target(link, page, files, config):
    """Return what a link of a page leads to on the site."""
    path, anchor, heading = link.partition("#")
    if re.match(r"\w+:", link) or not path:
        return link
    source = PAGES.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    pages = {source: name for name, source in PAGES.items()}
    name = pages.get(path, path.removeprefix("docs/"))
    if (path in pages or path.startswith("docs/")) and files.get_file_from_path(name):
        return posixpath.relpath(name, posixpath.dirname(page.file.src_uri) or ".") + anchor + heading
    if not (ROOT / path).exists():
        return link
    kind = "tree" if (ROOT / path).is_dir() else "blob"
    return f"{config.repo_url.rstrip('/')}/{kind}/{REF}/{path}{anchor}{heading}"


def on_page_markdown(markdown, page, config, files):
    # What tests need of a sample is in comments.
    text = _outside_code(markdown, lambda part: _COMMENT.sub("", part))

    def with_links(part):
        return _LINK.sub(lambda m: m[1] + _target(m[2], page, files, config) + m[3], part)

    return _outside_code(text, with_links)


def on_post_page(output, page, config):
    # Material loads mermaid from elsewhere, unless it is there before.
    if 'class="mermaid"' in output:
        script = f'<script src="{get_relative_url(MERMAID, page.url)}"></script>'
        output = output.replace("</head>", script + "</head>", 1)
    return output


def on_post_build(config):
    shutil.copytree(_require("javadoc"), Path(config.site_dir) / "javadoc", dirs_exist_ok=True)
