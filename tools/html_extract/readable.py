"""What a person would read of a page: its title, its text in order, its links."""

import re
import signal
from collections import Counter
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

LINKS_MAX = 500
LINK_TEXT_MAX = 200
# A page of one endless tag must not become one endless list.
STACK_MAX = 500
# Less than this within <main> or <article> is taken for an empty shell, and the whole page for the text.
MAIN_MIN = 200

HIDDEN = {"script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "select", "datalist", "audio", "video", "head"}
CHROME = {"nav", "footer", "aside", "form", "dialog", "menu"}
MAIN = {"main", "article"}
HEADINGS = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "h5": "#### ", "h6": "#### "}
BLOCKS = {
    "address", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption", "figure",
    "header", "hgroup", "hr", "html", "legend", "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul", "li",
} | CHROME | MAIN | set(HEADINGS)  # fmt: skip
# Stands for <br>, because line ends in the source are only spaces.
BREAK = "\x1e"
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Readable(NamedTuple):
    title: str
    description: str
    language: str
    text: str
    links: list


class TooSlow(Exception):
    """There was no time to read all of the page."""


def read_page(source, base_url, seconds):
    """Never fails, because whatever is no HTML is text; the second part says whether all of it was read."""
    reader, is_whole = Reader(base_url), True
    try:
        # On a busy machine, or in a Python whose parser some broken markup slows down, a part is better than nothing.
        signal.signal(signal.SIGALRM, stop_reading)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        reader.feed(source)
        reader.close()
        reader.end_block()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except TooSlow:
        is_whole = False
    main = [text for text, is_main in reader.blocks if is_main]
    blocks = main if sum(map(len, main)) >= MAIN_MIN else [text for text, _ in reader.blocks]
    title = collapse(reader.title) or reader.named.get("og:title", "") or reader.first_heading
    description = reader.named.get("description", "") or reader.named.get("og:description", "")
    readable = Readable(title[:300], description[:600], reader.language[:40], join(blocks), list(reader.links.values()))
    return readable, is_whole


def stop_reading(*_):
    raise TooSlow


def collapse(text):
    return " ".join(text.split())


def join(blocks):
    """Items of one list and rows of one table stand close together, everything else apart."""
    parts, before = [], ""
    for block in blocks:
        mark = block[:2] if block.startswith(("- ", "| ")) else ""
        parts.append("" if not parts else "\n" if mark and mark == before else "\n\n")
        parts.append(block)
        before = mark
    return "".join(parts)


class Reader(HTMLParser):
    def __init__(self, base_url):
        super().__init__(convert_charrefs=True)
        self.base_url = base_url
        self.blocks, self.words, self.prefix = [], [], ""
        self.open, self.open_names = [], Counter()
        self.counts = {"hidden": 0, "chrome": 0, "main": 0, "pre": 0}
        self.title, self.is_title, self.first_heading = "", False, ""
        self.named, self.language, self.links, self.link = {}, "", {}, None

    def handle_starttag(self, tag, attrs):
        attributes = {name: value or "" for name, value in reversed(attrs)}
        if tag in ("html", "meta", "base"):
            self.read_about(tag, attributes)
        if tag == "title" and not self.title:
            self.is_title = True
        if tag == "a":
            self.begin_link(attributes)
        if tag in BLOCKS and tag != "html":
            # A head or a title that was never closed hides nothing of the page.
            self.drop("head")
            self.is_title = False
        if tag in BLOCKS:
            self.end_block()
        if tag in HEADINGS:
            self.prefix = HEADINGS[tag]
        elif tag == "li":
            self.prefix = "- "
        elif tag == "tr":
            self.prefix = "| "
        elif tag in ("td", "th") and self.words:
            self.words.append(" | ")
        elif tag == "br":
            self.words.append(BREAK)
        elif tag == "img" and not self.is_hidden():
            self.words.append(f" {attributes.get('alt', '')} ")
        if tag not in VOID:
            is_hidden = tag in HIDDEN or "hidden" in attributes or attributes.get("aria-hidden") == "true"
            self.push(tag, is_hidden)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        # Only in foreign content does a slash close an element.
        if tag not in VOID and self.counts["hidden"]:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag == "title":
            self.is_title = False
        if tag == "a":
            self.end_link()
        if tag in BLOCKS:
            self.end_block()
        self.drop(tag)

    def handle_data(self, data):
        if self.is_title:
            self.title = (self.title + data)[:1_000]
        elif not self.is_hidden():
            self.words.append(data.replace(BREAK, " "))
            if self.link is not None:
                self.link[1] = (self.link[1] + data)[:1_000]

    def push(self, tag, is_hidden):
        if len(self.open) >= STACK_MAX:
            return
        kinds = [kind for kind, tags in (("chrome", CHROME), ("main", MAIN), ("pre", ("pre",))) if tag in tags]
        kinds += ["hidden"] if is_hidden else []
        self.open.append((tag, kinds))
        self.open_names[tag] += 1
        for kind in kinds:
            self.counts[kind] += 1

    def drop(self, tag):
        """Closes the innermost element of that name and all within it."""
        if not self.open_names[tag]:
            return
        closed = None
        while closed != tag:
            closed, kinds = self.open.pop()
            self.open_names[closed] -= 1
            for kind in kinds:
                self.counts[kind] -= 1

    def is_hidden(self):
        return self.counts["hidden"] > 0

    def end_block(self):
        text, prefix = "".join(self.words), self.prefix
        self.words, self.prefix = [], ""
        if self.counts["pre"]:
            text = text.replace(BREAK, "\n").strip("\n")
        else:
            text = "\n".join(line for line in map(collapse, text.split(BREAK)) if line)
        if text.strip(" |\n") == "":
            return
        if prefix.startswith("#") and not self.first_heading:
            self.first_heading = text
        if not self.counts["chrome"]:
            self.blocks.append((f"{prefix}{text}", self.counts["main"] > 0))

    def read_about(self, tag, attributes):
        if tag == "html":
            self.language = self.language or attributes.get("lang", "")
        elif tag == "base" and attributes.get("href"):
            self.base_url = absolute(self.base_url, attributes["href"]) or self.base_url
        elif tag == "meta":
            name = (attributes.get("name") or attributes.get("property", "")).lower()
            self.named.setdefault(name, collapse(attributes.get("content", "")))

    def begin_link(self, attributes):
        self.end_link()
        target = absolute(self.base_url, attributes.get("href", "")) if len(self.links) < LINKS_MAX else None
        self.link = [target, ""] if target else None

    def end_link(self):
        if self.link is not None:
            url, text = self.link
            text = collapse(text)[:LINK_TEXT_MAX]
            if text and url not in self.links:
                self.links[url] = {"text": text, "url": url}
        self.link = None


def absolute(base_url, href):
    """A link of the web without its fragment, or None: those of scripts, mail and the page itself are left out."""
    if not href.strip() or href.strip().startswith("#") or len(href) > 2_000:
        return None
    try:
        url = urljoin(base_url, href.strip())
        parts = urlsplit(url)
        is_web = parts.scheme in ("http", "https") and parts.hostname and not re.search(r"[\s\x00-\x1f]", url)
        return parts._replace(fragment="").geturl() if is_web else None
    except ValueError:
        return None
