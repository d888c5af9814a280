// The grammar of WGSL, after the grammar sections of the WebGPU Shading Language specification.
//
// Where it differs from the specification's rules, it accepts more, so that the tree stays small and errors read well;
// `frontend/` refuses the rest with a diagnostic of its own:
// - operators are ranked by precedence instead of a ladder of rules: `a && b || c` has a tree;
// - keywords and reserved words are identifiers where no keyword is due;
// - directives may stand anywhere at module scope;
// - the left side of an assignment may be a literal, and a member may carry a template list;
// - `print_statement` is wgpu's `debugPrintf`;
// - `malformed_number` stands for digits that run into letters or further digits.
//
// Template lists are found by the external scanner (`src/scanner.c`), as "Template Lists" says.

const PRECEDENCE = {
  or: 1,
  and: 2,
  bit_or: 3,
  bit_xor: 4,
  bit_and: 5,
  relational: 6,
  shift: 7,
  additive: 8,
  multiplicative: 9,
  unary: 10,
};

const BINARY = [
  [PRECEDENCE.or, ["||"]],
  [PRECEDENCE.and, ["&&"]],
  [PRECEDENCE.bit_or, ["|"]],
  [PRECEDENCE.bit_xor, ["^"]],
  [PRECEDENCE.bit_and, ["&"]],
  [PRECEDENCE.relational, ["<", "<=", ">", ">=", "==", "!="]],
  [PRECEDENCE.shift, ["<<", ">>"]],
  [PRECEDENCE.additive, ["+", "-"]],
  [PRECEDENCE.multiplicative, ["*", "/", "%"]],
];

const ASSIGN = ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", ">>=", "<<="];

const list = (item) => seq(item, repeat(seq(",", item)), optional(","));

module.exports = grammar({
  name: "wgsl",

  word: ($) => $.identifier,

  externals: ($) => [
    $._template_args_start,
    $._template_args_end,
    "<",
    $.comment,
    $.unterminated_comment,
    $._error_sentinel,
  ],

  // "Blankspace and Line Breaks": the code points of Pattern_White_Space.
  extras: ($) => [/[ \t\n\x0b\f\r\u0085\u200e\u200f\u2028\u2029]/, $.comment, $.unterminated_comment],

  inline: ($) => [$._callee, $._name],

  rules: {
    translation_unit: ($) => repeat(choice($._directive, $._declaration, $.empty_declaration)),

    empty_declaration: () => ";",

    // Directives

    _directive: ($) => choice($.enable_directive, $.requires_directive, $.diagnostic_directive),

    enable_directive: ($) => seq("enable", list($.identifier), ";"),

    requires_directive: ($) => seq("requires", list($.identifier), ";"),

    diagnostic_directive: ($) => seq("diagnostic", "(", list($._expression), ")", ";"),

    attribute: ($) => seq("@", field("name", $.identifier), optional($._arguments)),

    // Declarations

    _declaration: ($) =>
      choice(
        $.alias_declaration,
        $.struct_declaration,
        $.function_declaration,
        $.override_declaration,
        alias($._global_variable, $.variable_declaration),
        seq($.const_declaration, ";"),
        $.const_assert,
      ),

    alias_declaration: ($) => seq("alias", $._name, "=", field("type", $._type), ";"),

    struct_declaration: ($) => seq("struct", $._name, "{", list($.member), "}"),

    member: ($) => seq(repeat($.attribute), $._name, ":", field("type", $._type)),

    function_declaration: ($) =>
      seq(
        repeat($.attribute),
        "fn",
        $._name,
        "(",
        optional(list($.parameter)),
        ")",
        optional(field("result", $.result)),
        field("body", $.block),
      ),

    parameter: ($) => seq(repeat($.attribute), $._name, ":", field("type", $._type)),

    result: ($) => seq("->", repeat($.attribute), field("type", $._type)),

    override_declaration: ($) =>
      seq(repeat($.attribute), "override", $._typed_name, optional($._initializer), ";"),

    _global_variable: ($) => seq(repeat($.attribute), $._variable, ";"),

    variable_declaration: ($) => $._variable,

    const_declaration: ($) => seq("const", $._typed_name, $._initializer),

    let_declaration: ($) => seq("let", $._typed_name, $._initializer),

    const_assert: ($) => seq("const_assert", field("condition", $._expression), ";"),

    _variable: ($) =>
      seq("var", optional(field("template", $.template_list)), $._typed_name, optional($._initializer)),

    _typed_name: ($) => seq($._name, optional(seq(":", field("type", $._type)))),

    _initializer: ($) => seq("=", field("value", $._expression)),

    _name: ($) => field("name", $.identifier),

    _type: ($) => choice($.identifier, $.template_expression),

    // Statements

    block: ($) => seq(repeat($.attribute), "{", repeat($._statement), "}"),

    _statement: ($) =>
      choice(
        ";",
        $.block,
        $.if_statement,
        $.switch_statement,
        $.loop_statement,
        $.for_statement,
        $.while_statement,
        $.const_assert,
        $.return_statement,
        $.break_statement,
        $.continue_statement,
        $.discard_statement,
        seq($.print_statement, ";"),
        seq($._simple_statement, ";"),
      ),

    // What a `for` header may hold, too.
    _simple_statement: ($) => choice($._local_declaration, $._updating_statement),

    _local_declaration: ($) => choice($.variable_declaration, $.const_declaration, $.let_declaration),

    _updating_statement: ($) =>
      choice($.assignment, $.compound_assignment, $.phony_assignment, $.increment, $.decrement, $.call_statement),

    if_statement: ($) =>
      seq(
        repeat($.attribute),
        "if",
        field("condition", $._expression),
        field("body", $.block),
        optional($._else),
      ),

    _else: ($) => seq("else", field("alternative", choice(alias($._else_if, $.if_statement), $.block))),

    // No attributes stand between `else` and `if`.
    _else_if: ($) =>
      seq("if", field("condition", $._expression), field("body", $.block), optional($._else)),

    switch_statement: ($) =>
      seq(
        repeat($.attribute),
        "switch",
        field("subject", $._expression),
        field("body", $.switch_body),
      ),

    switch_body: ($) => seq(repeat($.attribute), "{", repeat1(choice($.case_clause, $.default_clause)), "}"),

    case_clause: ($) =>
      seq("case", list(choice($._expression, $.default_selector)), optional(":"), field("body", $.block)),

    default_selector: () => "default",

    default_clause: ($) => seq("default", optional(":"), field("body", $.block)),

    loop_statement: ($) => seq(repeat($.attribute), "loop", field("body", $.loop_body)),

    loop_body: ($) => seq(repeat($.attribute), "{", repeat($._statement), optional($.continuing), "}"),

    continuing: ($) => seq("continuing", field("body", $.continuing_body)),

    continuing_body: ($) => seq(repeat($.attribute), "{", repeat($._statement), optional($.break_if), "}"),

    break_if: ($) => seq("break", "if", field("condition", $._expression), ";"),

    for_statement: ($) =>
      seq(
        repeat($.attribute),
        "for",
        "(",
        optional(field("initializer", $._simple_statement)),
        ";",
        optional(field("condition", $._expression)),
        ";",
        optional(field("update", $._updating_statement)),
        ")",
        field("body", $.block),
      ),

    while_statement: ($) =>
      seq(repeat($.attribute), "while", field("condition", $._expression), field("body", $.block)),

    return_statement: ($) => seq("return", optional(field("value", $._expression)), ";"),

    break_statement: () => seq("break", ";"),

    continue_statement: () => seq("continue", ";"),

    discard_statement: () => seq("discard", ";"),

    assignment: ($) => seq(field("target", $._target), "=", field("value", $._expression)),

    compound_assignment: ($) =>
      seq(field("target", $._target), field("operator", choice(...ASSIGN)), field("value", $._expression)),

    phony_assignment: ($) => seq("_", "=", field("value", $._expression)),

    increment: ($) => seq(field("target", $._target), "++"),

    decrement: ($) => seq(field("target", $._target), "--"),

    call_statement: ($) => field("call", $.call_expression),

    // wgpu's extension `wgpu_debug_printf`, the only place of a string.
    print_statement: ($) =>
      seq($._name, "(", field("format", $.string_literal), repeat(seq(",", $._expression)), optional(","), ")"),

    string_literal: () => /"([^"\\\n\r]|\\[^\n\r])*"/,

    _target: ($) => choice($._primary, alias($._target_unary, $.unary_expression)),

    _target_unary: ($) => seq(field("operator", choice("*", "&")), field("operand", $._target)),

    // Expressions

    _expression: ($) => choice($._primary, $.unary_expression, $.binary_expression),

    _primary: ($) =>
      choice(
        $.identifier,
        $.template_expression,
        $.call_expression,
        $.index_expression,
        $.member_expression,
        $.paren_expression,
        $.true,
        $.false,
        $.int_literal,
        $.float_literal,
        $.malformed_number,
      ),

    template_expression: ($) => seq(field("name", $.identifier), field("template", $.template_list)),

    template_list: ($) => seq($._template_args_start, list($._expression), $._template_args_end),

    call_expression: ($) => seq(field("callee", $._callee), $._arguments),

    _callee: ($) => choice($.identifier, $.template_expression),

    _arguments: ($) => seq("(", optional(list($._expression)), ")"),

    index_expression: ($) => seq(field("object", $._primary), "[", field("index", $._expression), "]"),

    member_expression: ($) =>
      seq(field("object", $._primary), ".", field("member", $.identifier), optional($.template_list)),

    paren_expression: ($) => seq("(", field("operand", $._expression), ")"),

    unary_expression: ($) =>
      prec(
        PRECEDENCE.unary,
        seq(field("operator", choice("-", "!", "~", "*", "&")), field("operand", $._expression)),
      ),

    binary_expression: ($) =>
      choice(
        ...BINARY.map(([rank, operators]) =>
          prec.left(
            rank,
            seq(field("left", $._expression), field("operator", choice(...operators)), field("right", $._expression)),
          ),
        ),
      ),

    // Tokens

    identifier: () => /[_\p{XID_Start}][\p{XID_Continue}]+|\p{XID_Start}/,

    true: () => "true",
    false: () => "false",

    int_literal: () => token(choice(/0[iu]?/, /[1-9][0-9]*[iu]?/, /0[xX][0-9a-fA-F]+[iu]?/)),

    float_literal: () =>
      token(
        choice(
          /0[fh]/,
          /[1-9][0-9]*[fh]/,
          /[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?[fh]?/,
          /[0-9]+\.([eE][+-]?[0-9]+)?[fh]?/,
          /[0-9]+[eE][+-]?[0-9]+[fh]?/,
          /0[xX][0-9a-fA-F]*\.[0-9a-fA-F]+([pP][+-]?[0-9]+[fh]?)?/,
          /0[xX][0-9a-fA-F]+\.([pP][+-]?[0-9]+[fh]?)?/,
          /0[xX][0-9a-fA-F]+[pP][+-]?[0-9]+[fh]?/,
        ),
      ),

    malformed_number: () => /[0-9][0-9A-Za-z_.]*/,
  },
});
