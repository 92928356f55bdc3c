"""Pages nested deeper than lxml reads: parsed as a browser does, and laid flat below a certain depth."""

import re

import lxml.etree
import lxml.html
from lxml.html import HtmlElement
from selectolax.lexbor import LexborHTMLParser, LexborNode

DEPTH = 200
# Tags that are opened anew in every paragraph make a small page into a huge one.
MOST_NODES = 1_000_000
# The time to read a page grows with the square of these.
MOST_LEVELS = 20_000
MOST_FORMATTING = 2_000_000
_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9-]{0,20})(>?)")
_VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
# Closed by the next of their kind, whatever is still open in them.
_IMPLIED = frozenset(b"a body dd dt head html li option p tbody td tfoot th thead tr".split())
_FORMATTING = frozenset(b"b big code em font i nobr s small strike strong tt u".split())
_NAME = re.compile(r"[A-Za-z_][\w.-]*\Z", re.ASCII)
_UNSTORABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def read_deep(html: bytes) -> HtmlElement:
    """The page in full. Marks on its root: `data-deep`, and `data-cut` where there was too much of it."""
    root = LexborHTMLParser(html.decode("utf-8", "replace")).root
    assert root is not None  # a page always has an <html>, its own or the parser's
    flat = Flat()
    whole = flat.build(root)
    tree = flat.close()
    tree.set("data-deep", "")
    if not whole:
        tree.set("data-cut", "")
    return tree


def is_bearable(html: bytes) -> bool:
    """Whether the page can be read in a short time: by how many tags are open at once."""
    levels = formatting = deepest = most_formatting = starts = 0
    for closing, name, bare in _TAG.findall(html):
        tag = name.lower()
        starts += not closing
        if tag in _VOID or tag in _IMPLIED:
            continue
        levels = max(0, levels + (-1 if closing else 1))
        if tag in _FORMATTING and not bare:  # of those without attributes three are opened anew
            formatting = max(0, formatting + (-1 if closing else 1))
        deepest, most_formatting = max(deepest, levels), max(most_formatting, formatting)
    return deepest <= MOST_LEVELS and most_formatting * starts <= MOST_FORMATTING


class Flat:
    """An lxml tree with every node of a lexbor tree, none deeper than DEPTH.

    As browsers do it: an element that would lie deeper becomes the next sibling of the one above it.
    """

    def __init__(self) -> None:
        self._builder = lxml.etree.TreeBuilder(element_factory=lxml.html.html_parser.makeelement)
        self._open: list[tuple[int, str]] = []

    def build(self, root: LexborNode) -> bool:
        """Walk without recursion; false if there are too many nodes, and the rest was left out."""
        node: LexborNode | None = root
        for _ in range(MOST_NODES):
            assert node is not None
            self._enter(node)
            node = node.first_child or self._after(node, root)
            if node is None:
                return True
        return False

    def _after(self, node: LexborNode, root: LexborNode) -> LexborNode | None:
        """The next node once this one and all in it are done."""
        current: LexborNode | None = node
        while current is not None and current.mem_id != root.mem_id:
            self._leave(current)
            if current.next is not None:
                return current.next
            current = current.parent
        return None

    def _enter(self, node: LexborNode) -> None:
        if node.is_text_node:
            self._builder.data(_UNSTORABLE.sub("", node.text_content or ""))
        elif node.is_element_node:
            while len(self._open) >= DEPTH:
                self._builder.end(self._open.pop()[1])
            tag = str(node.tag) if _NAME.match(str(node.tag)) else "span"
            self._builder.start(tag, _attributes(node))
            self._open.append((node.mem_id, tag))

    def _leave(self, node: LexborNode) -> None:
        if self._open and self._open[-1][0] == node.mem_id:
            self._builder.end(self._open.pop()[1])

    def close(self) -> HtmlElement:
        while self._open:
            self._builder.end(self._open.pop()[1])
        return self._builder.close()


def _attributes(node: LexborNode) -> dict[str, str]:
    return {
        name: _UNSTORABLE.sub("", value or "") for name, value in node.attributes.items() if _NAME.match(name)
    }
