"""Diagnostics of texts that the grammar rejects.

tree-sitter's tree shows what its error recovery skipped (ERROR nodes) and made up (MISSING nodes), but not where it
first failed, nor which tokens it would have accepted there. Its log does, so a malformed text is parsed a second time
with logging. Each outermost ERROR or MISSING node gives one diagnostic: errors inside it follow from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import LogType, Node, Tree

from ..base.records import dataclass, field
from ..ir.diagnostics import DiagnosticList, Note
from ..ir.hints import closest
from ..ir.source import Source, Span
from .grammar import language
from .habits import QUOTES, character_hint, token_hint
from .tree import parse_tree

LONGEST_LOGGED = 1 << 16
"""Texts of more bytes are not parsed again, so their diagnostics are less precise."""
LONGEST_LOGGING = 0.5
"""Seconds after which the second parse stops; the log up to then is used."""
MOST_DIAGNOSTICS = 50

_PROCESS = re.compile(r"process version:\d+, version_count:\d+, state:(\d+), row:(\d+), col:(\d+)")
_LEXED = re.compile(r"lexed_lookahead sym:(.*), size:(\d+)")
_MISSING = re.compile(r"\(MISSING (\w+)\)")
_BLANK = re.compile(r"[ \t\n\v\f\r\u0085\u200e\u200f\u2028\u2029]*")

_END = "end"
_UNKNOWN = "ERROR"
_NOT_TOKENS = frozenset({"comment", "unterminated_comment"})
_DESCRIPTIONS = {
    "identifier": "a name",
    "int_literal": "a number",
    "end": "the end of the text",
    "_template_args_start": "'<'",
    "_template_args_end": "'>'",
}
_LONGEST_TOKEN = 32
_MOST_EXPECTED = 4  # a longer list of what might stand here helps nobody


@dataclass(frozen=True, slots=True)
class _Fault:
    """A token that the parser could not take: the state it was in, where the token before it ends, and its own kind and
    size, the blankspace before it included.
    """

    state: int
    offset: int
    token: str
    size: int


@dataclass
class _Log:
    """Reads the parser's log for faults."""

    line_starts: list[int]
    faults: list[_Fault] = field(default_factory=list[_Fault])
    _state: int = 0
    _offset: int = 0
    _token: str = _END
    _size: int = 0

    def __call__(self, kind: LogType, message: str) -> None:
        if kind is not LogType.PARSE:
            return
        if process := _PROCESS.match(message):
            state, row, column = map(int, process.groups())
            self._state, self._offset = state, self.line_starts[row] + column
        elif lexed := _LEXED.match(message):
            self._token, self._size = lexed[1], int(lexed[2])
        elif message.startswith("detect_error"):
            self.faults.append(_Fault(self._state, self._offset, self._token, self._size))


def report_syntax_errors(tree: Tree, source: Source, diagnostics: DiagnosticList) -> None:
    """Report the places where a text is malformed: at least one, each once."""
    faults = _faults(source) if len(source.data) <= LONGEST_LOGGED else []
    last = -1
    for node in _error_nodes(tree):
        fault = next((fault for fault in faults if node.start_byte - 1 <= fault.offset <= node.end_byte), None)
        place = fault.offset if fault else node.start_byte
        if place <= last:
            continue
        last = max(place, node.end_byte)
        if fault and fault.token == _UNKNOWN and source.text(_token_span(fault, source)) in QUOTES:
            last = place + len(source.data[place:].partition(b"\n")[0])  # the closing quote stands there
        if node.is_missing:
            _report_missing(node, fault, source, diagnostics)
        elif not node.is_error:
            _report_hidden(node, diagnostics)
        elif fault:
            _report_fault(fault, source, diagnostics)
        else:
            _report_unknown(node, source, diagnostics)
        if len(diagnostics.items) >= MOST_DIAGNOSTICS:
            return


def report_first_fault(source: Source, diagnostics: DiagnosticList) -> None:
    """Report the first place where a text is malformed, when recovering from its errors has taken too long."""
    log = _Log(_line_starts(source))
    parse_tree(source.data, seconds=LONGEST_LOGGING, logger=log, is_enough=lambda: bool(log.faults))
    if log.faults:
        _report_fault(log.faults[0], source, diagnostics)
    else:
        diagnostics.error("unexpected-token", "the text is too malformed to find out where", None)


_OF_OTHER_LANGUAGES = {"def": "fn", "func": "fn", "function": "fn", "typedef": "alias", "void": "fn"}
_DECLARING = ("alias", "const", "const_assert", "diagnostic", "enable", "fn", "override", "requires", "struct", "var")
_WORD = re.compile(rb"\w+|\W")


def _report_unknown(node: Node, source: Source, diagnostics: DiagnosticList) -> None:
    """Report a part of the text that the log does not explain, by its first word."""
    match = _WORD.match(source.data, node.start_byte)
    end = match.end() if match else node.start_byte
    word = source.data[node.start_byte : end].decode("utf-8", "replace")
    is_declaration = node.parent is None or node.parent.parent is None
    message = "unexpected token, expected a declaration" if is_declaration else "unexpected token"
    hint = _OF_OTHER_LANGUAGES.get(word) or closest(word, _DECLARING)
    notes = (Note(f"did you mean '{hint}'?"),) if is_declaration and hint and hint != word else ()
    diagnostics.error("unexpected-token", message, Span(node.start_byte, end), notes)


def _faults(source: Source) -> list[_Fault]:
    log = _Log(_line_starts(source))
    parse_tree(source.data, seconds=LONGEST_LOGGING, logger=log)
    return log.faults


def _line_starts(source: Source) -> list[int]:
    return [0, *(match.end() for match in re.finditer(b"\n", source.data))]


def _error_nodes(tree: Tree) -> Iterator[Node]:
    """The outermost ERROR and MISSING nodes, in source order. A token of a hidden kind is no child of any node: where
    one is missing, the node around it stands for it.
    """
    pending = [tree.root_node]
    while pending:
        node = pending.pop()
        faulty = [it for it in node.children if it.has_error or it.is_error or it.is_missing]
        if node.is_error or node.is_missing or (node.has_error and not faulty):
            yield node
        else:
            pending += reversed(faulty)


def _report_missing(node: Node, fault: _Fault | None, source: Source, diagnostics: DiagnosticList) -> None:
    """Report a missing token, directly after the previous token."""
    if node.type == "identifier":
        expected = _expected(fault) if fault else "a name or an expression"
    else:
        expected = _describe(node.type)
    if fault and node.type == "identifier":
        diagnostics.error("unexpected-token", f"expected {expected}", _token_span(fault, source))
    else:
        end = len(source.data[: node.start_byte].rstrip()) if fault is None else fault.offset
        diagnostics.error("missing-token", f"expected {expected}", Span(end, end))


def _report_hidden(node: Node, diagnostics: DiagnosticList) -> None:
    """Report a token of a hidden kind that is missing in a node, behind the node."""
    missing = _MISSING.search(str(node))
    expected = "another token" if missing is None else _describe(missing[1])
    diagnostics.error("missing-token", f"expected {expected}", Span(node.end_byte, node.end_byte))


def _report_fault(fault: _Fault, source: Source, diagnostics: DiagnosticList) -> None:
    """Report a token that cannot stand where it does."""
    span = _token_span(fault, source)
    text = source.text(span)
    if fault.token == _UNKNOWN:
        message = "no token of WGSL starts with this character"
        diagnostics.error("invalid-character", message, span, character_hint(text))
        return
    expected = _expected(fault)
    names = {name for _, name in language().lookahead_iterator(fault.state) or ()}
    notes = token_hint(
        source.data,
        span.start,
        text,
        is_declaration="struct" in names and "return" not in names,
        is_statement="+=" in names,
    )
    what = _unexpected(fault, text)
    diagnostics.error("unexpected-token", f"{what}, expected {expected}" if expected else what, span, notes)


def _unexpected(fault: _Fault, text: str) -> str:
    if fault.token == _END:
        return "unexpected end of the text"
    return f"unexpected '{text}'" if 0 < len(text) <= _LONGEST_TOKEN and text.isprintable() else "unexpected token"


def _token_span(fault: _Fault, source: Source) -> Span:
    """The place of the token: one character where it is no token at all."""
    behind = source.data[fault.offset : fault.offset + max(fault.size, 64)].decode(errors="ignore")
    blank = _BLANK.match(behind)
    start = fault.offset + len(blank[0].encode() if blank else b"")
    if fault.token == _END:
        return Span(len(source.data), len(source.data))
    if fault.token == _UNKNOWN:
        character = source.data[start : start + 4].decode(errors="ignore")[:1]
        return Span(start, start + len(character.encode()))
    return Span(start, max(start, fault.offset + fault.size))


def _expected(fault: _Fault) -> str:
    """The tokens that the parser would have accepted, in words; empty if there are too many."""
    lookahead = language().lookahead_iterator(fault.state)
    names = {name for number, name in lookahead or () if _is_token(number, name)} - _NOT_TOKENS
    if "int_literal" in names and "if" not in names:
        return "an expression"
    if "return" in names:
        return "a statement" if "struct" not in names else ""
    if "struct" in names:
        return "a declaration"
    words = sorted(_describe(name) for name in names)
    if not 0 < len(words) <= _MOST_EXPECTED:
        return ""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _is_token(number: int, name: str) -> bool:
    """Whether a symbol of the grammar is a token rather than a rule."""
    return name in _DESCRIPTIONS or name in _NOT_TOKENS or name == "int_literal" or not _names_rule(number)


def _names_rule(number: int) -> bool:
    return language().node_kind_is_named(number) or not language().node_kind_is_visible(number)


def _describe(name: str) -> str:
    return _DESCRIPTIONS.get(name, f"'{name}'")
