// The part of WGSL's lexical grammar that no regular expression describes: nested block comments, and the template
// lists that are told from comparisons by reading ahead ("Template Lists", template list discovery).
//
// Whether a `<` that follows an identifier starts a template list depends only on the text after it: an enclosing
// candidate never changes the fate of an inner one. So each is decided where the parser meets it, by running the
// discovery forward from there until that candidate is closed or given up.
//
// Reading ahead anew at every candidate would take quadratic time on texts made to that end. A discovery that read far
// leaves its verdicts on the candidates it passed, in order, as the scanner's state; the parser meets the same
// candidates in the same order.
#include "tree_sitter/parser.h"

#include <stdlib.h>
#include <string.h>

enum Token {
    TEMPLATE_ARGS_START,
    TEMPLATE_ARGS_END,
    LESS_THAN,
    COMMENT,
    UNTERMINATED_COMMENT,
    ERROR_SENTINEL, // never in a rule: valid only while the parser recovers from an error
};

// How many verdicts are kept, and how far a discovery must read for that to pay.
#define VERDICTS 1000
#define FAR 256

// How far a discovery reads while the parser recovers from an error, where no verdicts are kept.
#define RECOVERY_LIMIT 512

typedef struct {
    uint32_t depth;     // how many brackets were open at the candidate
    uint32_t candidate; // its place in the order of discovery
} Pending;

typedef struct {
    uint16_t count, next; // verdicts known, and how many of them are used up
    uint8_t verdicts[VERDICTS / 8];
} State;

typedef struct {
    State state;
    Pending *pending; // a stack, kept between calls for its memory
    uint32_t capacity;
} Scanner;

// One run of template list discovery.
typedef struct {
    TSLexer *lexer;
    Scanner *scanner;
    uint32_t open;       // height of the stack of pending candidates
    uint32_t depth;      // brackets open
    uint32_t candidates; // candidates met after the first
    uint32_t distance;   // code points read
    uint32_t limit;      // and how many of them at most
    State verdicts;
} Discovery;

static bool is_blank(int32_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0x200e || c == 0x200f || c == 0x2028 || c == 0x2029;
}

static bool is_line_break(int32_t c) {
    return (c >= '\n' && c <= '\r') || c == 0x85 || c == 0x2028 || c == 0x2029;
}

static bool is_digit(int32_t c) {
    return c >= '0' && c <= '9';
}

// Code points past ASCII count as letters: where they are not, the parser refuses them anyway.
static bool is_name_start(int32_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c > 0x7f && !is_blank(c));
}

static bool is_name_part(int32_t c) {
    return is_name_start(c) || is_digit(c);
}

static void advance(Discovery *discovery) {
    discovery->lexer->advance(discovery->lexer, false);
    discovery->distance++;
}

static bool accept(Discovery *discovery, int32_t c) {
    if (discovery->lexer->lookahead != c) return false;
    advance(discovery);
    return true;
}

// Skips the rest of a line-ending comment, after its slashes.
static void skip_line_comment(Discovery *discovery) {
    TSLexer *lexer = discovery->lexer;
    while (!lexer->eof(lexer) && !is_line_break(lexer->lookahead)) advance(discovery);
}

// Skips the rest of a block comment and of those nested in it, after its first `/*`; whether it is terminated.
static bool skip_block_comment(Discovery *discovery) {
    TSLexer *lexer = discovery->lexer;
    for (uint32_t depth = 1; depth > 0;) {
        if (lexer->eof(lexer)) return false;
        if (accept(discovery, '/')) {
            if (accept(discovery, '*')) depth++;
        } else if (accept(discovery, '*')) {
            if (accept(discovery, '/')) depth--;
        } else {
            advance(discovery);
        }
    }
    return true;
}

// Skips blankspace and comments; stops behind a slash that starts none.
static void skip_blank(Discovery *discovery) {
    TSLexer *lexer = discovery->lexer;
    while (!lexer->eof(lexer)) {
        if (is_blank(lexer->lookahead)) {
            advance(discovery);
        } else if (lexer->lookahead == '/') {
            advance(discovery);
            if (accept(discovery, '/')) skip_line_comment(discovery);
            else if (accept(discovery, '*')) skip_block_comment(discovery);
            else return;
        } else {
            return;
        }
    }
}

// Skips a numeric literal: its letters must not be taken for a name.
static void skip_number(Discovery *discovery) {
    TSLexer *lexer = discovery->lexer;
    int32_t exponent = 'e';
    if (accept(discovery, '0') && (lexer->lookahead == 'x' || lexer->lookahead == 'X')) exponent = 'p';
    while (is_digit(lexer->lookahead) || lexer->lookahead == '.' || (lexer->lookahead | 0x20) == exponent ||
           ((lexer->lookahead | 0x20) >= 'a' && (lexer->lookahead | 0x20) <= 'z')) {
        bool signed_exponent = (lexer->lookahead | 0x20) == exponent;
        advance(discovery);
        if (signed_exponent && (lexer->lookahead == '+' || lexer->lookahead == '-')) advance(discovery);
    }
}

// Skips a name; whether a template list may follow it, which the literals `true` and `false` rule out.
static bool skip_name(Discovery *discovery) {
    TSLexer *lexer = discovery->lexer;
    char start[6];
    uint32_t length = 0;
    while (is_name_part(lexer->lookahead)) {
        if (length < sizeof start) start[length] = lexer->lookahead <= 0x7f ? (char)lexer->lookahead : '?';
        length++;
        advance(discovery);
    }
    bool literal = (length == 4 && memcmp(start, "true", 4) == 0) || (length == 5 && memcmp(start, "false", 5) == 0);
    return !literal;
}

static bool push(Discovery *discovery, uint32_t candidate) {
    Scanner *scanner = discovery->scanner;
    if (discovery->open == scanner->capacity) {
        uint32_t capacity = scanner->capacity ? 2 * scanner->capacity : 64;
        Pending *grown = realloc(scanner->pending, capacity * sizeof(Pending));
        if (!grown) return false;
        scanner->pending = grown;
        scanner->capacity = capacity;
    }
    scanner->pending[discovery->open++] = (Pending){discovery->depth, candidate};
    return true;
}

// Gives up the candidates at the present bracket depth or deeper.
static void drop_deep(Discovery *discovery) {
    const Pending *pending = discovery->scanner->pending;
    while (discovery->open > 0 && pending[discovery->open - 1].depth >= discovery->depth) discovery->open--;
}

// Notes a verdict; candidate 0 is the one that the discovery is about, and has none kept.
static void mark_template(State *verdicts, uint32_t candidate) {
    if (candidate == 0 || candidate > VERDICTS) return;
    verdicts->verdicts[(candidate - 1) / 8] |= (uint8_t)(1u << ((candidate - 1) % 8));
}

// A name, and the `<` after it where there is one. `<<` and `<=` start no template list.
static bool read_name(Discovery *discovery) {
    if (!skip_name(discovery)) return true;
    skip_blank(discovery);
    if (!accept(discovery, '<')) return true;
    if (accept(discovery, '<') || accept(discovery, '=')) return true;
    return push(discovery, ++discovery->candidates);
}

// A `>`: closes the innermost candidate of this bracket depth, or is an operator.
static void read_greater(Discovery *discovery) {
    advance(discovery);
    const Pending *pending = discovery->scanner->pending;
    if (discovery->open > 0 && pending[discovery->open - 1].depth == discovery->depth) {
        mark_template(&discovery->verdicts, pending[--discovery->open].candidate);
    } else {
        accept(discovery, '=');
    }
}

// Runs the discovery for the candidate whose `<` has just been consumed; whether it starts a template list.
static bool discover(Discovery *discovery) {
    TSLexer *lexer = discovery->lexer;
    if (!push(discovery, 0)) return false;
    while (discovery->open > 0) {
        if (lexer->eof(lexer) || discovery->distance > discovery->limit) return false;
        int32_t c = lexer->lookahead;
        bool closing = false;
        if (is_blank(c) || c == '/') {
            skip_blank(discovery);
        } else if (is_digit(c)) {
            skip_number(discovery);
        } else if (is_name_start(c)) {
            if (!read_name(discovery)) return false;
        } else if (c == '>') {
            read_greater(discovery);
            closing = true;
        } else if (c == '(' || c == '[') {
            advance(discovery);
            discovery->depth++;
        } else if (c == ')' || c == ']') {
            advance(discovery);
            drop_deep(discovery);
            if (discovery->depth > 0) discovery->depth--;
        } else if (c == '=') {
            advance(discovery);
            if (!accept(discovery, '=')) return false;
        } else if (c == ';' || c == '{' || c == ':') {
            return false;
        } else if (c == '&' || c == '|') {
            advance(discovery);
            if (accept(discovery, c)) drop_deep(discovery);
        } else {
            advance(discovery);
            if (c == '!' || c == '<') accept(discovery, '=');
        }
        if (discovery->open == 0) return closing;
    }
    return false;
}

// The verdict on the candidate whose `<` has just been consumed: the next one known, or that of a discovery from here.
static bool is_template(Scanner *scanner, TSLexer *lexer, bool recovering) {
    State *state = &scanner->state;
    if (!recovering && state->next < state->count) {
        uint16_t next = state->next++;
        return state->verdicts[next / 8] >> (next % 8) & 1;
    }
    Discovery discovery = {.lexer = lexer, .scanner = scanner, .limit = recovering ? RECOVERY_LIMIT : UINT32_MAX};
    bool found = discover(&discovery);
    *state = discovery.verdicts;
    state->count = (uint16_t)(discovery.candidates < VERDICTS ? discovery.candidates : VERDICTS);
    if (recovering || discovery.distance < FAR) state->count = 0;
    return found;
}

static bool scan_less_than(Scanner *scanner, TSLexer *lexer, const bool *valid) {
    lexer->advance(lexer, false);
    if (lexer->lookahead == '<' || lexer->lookahead == '=') return false;
    lexer->mark_end(lexer);
    bool found = is_template(scanner, lexer, valid[ERROR_SENTINEL]);
    lexer->result_symbol = found ? TEMPLATE_ARGS_START : LESS_THAN;
    return true;
}

static bool scan_comment(TSLexer *lexer) {
    Discovery reader = {.lexer = lexer};
    lexer->advance(lexer, false);
    lexer->result_symbol = COMMENT;
    if (accept(&reader, '/')) {
        skip_line_comment(&reader);
    } else if (accept(&reader, '*')) {
        if (!skip_block_comment(&reader)) lexer->result_symbol = UNTERMINATED_COMMENT;
    } else {
        return false;
    }
    lexer->mark_end(lexer);
    return true;
}

bool tree_sitter_wgsl_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
    while (is_blank(lexer->lookahead)) lexer->advance(lexer, true);
    switch (lexer->lookahead) {
    case '/':
        return scan_comment(lexer);
    case '<':
        return valid[TEMPLATE_ARGS_START] && scan_less_than(payload, lexer, valid);
    case '>':
        // While recovering, both readings are possible; an operator is what the parser's own lexer makes of it.
        if (!valid[TEMPLATE_ARGS_END] || valid[ERROR_SENTINEL]) return false;
        lexer->advance(lexer, false);
        lexer->mark_end(lexer);
        lexer->result_symbol = TEMPLATE_ARGS_END;
        return true;
    default:
        return false;
    }
}

void *tree_sitter_wgsl_external_scanner_create(void) {
    return calloc(1, sizeof(Scanner));
}

void tree_sitter_wgsl_external_scanner_destroy(void *payload) {
    Scanner *scanner = payload;
    free(scanner->pending);
    free(scanner);
}

// The state is what is left of the verdicts; none in most texts.
unsigned tree_sitter_wgsl_external_scanner_serialize(void *payload, char *buffer) {
    const State *state = &((const Scanner *)payload)->state;
    if (state->next >= state->count) return 0;
    unsigned size = sizeof state->count + sizeof state->next + (state->count + 7u) / 8u;
    memcpy(buffer, state, size);
    return size;
}

void tree_sitter_wgsl_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
    State *state = &((Scanner *)payload)->state;
    memset(state, 0, sizeof *state);
    memcpy(state, buffer, length);
}
