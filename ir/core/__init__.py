"""Core IR: the round-trip IR. A WGSL program becomes a Module (`transforms.from_wgsl`), is transformed in place, and
becomes WGSL again (`transforms.to_wgsl`).

A `Module` has a `root` block with the module-scope variables, the overrides and what is computed from them, and
functions, callees first. A `Function` starts at its `start_target`; a return is a branch to its `end_target`, a
Terminator.

Control flow is structured. A `Block` is a straight run of single operations and ends in one `Branch`. Its target is
what it enters (an `If`, `Loop` or `Switch`), or what it goes on to:

- the merge of the arm or case that it ends; the value of an If is an argument of its `merge_target`;
- out of the innermost Loop or Switch, its `merge_target`; on in the innermost Loop, its `continuing_target`;
- from the end of a continuing part back to `start_target`; for `break if` it enters an If without merge, whose arms
  leave and go back;
- the function's end; or a Terminator that is `unreachable`, which is all that a block holds where no branch leads.

A loop's exit condition, of `for` and `while`, is an If in its body with an empty true arm and a false arm that
leaves. Dead code is never built. `merge_target` is None where nothing reaches it; that of a Loop always exists.

A value is an operand of others, and knows its uses: a `Constant` (a new one for each use), `FunctionParameter`,
`BlockArgument`, or an instruction with a result. It is seen by what follows in its region and by the regions nested
there (see `structure`); the continuing part of a loop sees what its body has made before every `continue`. Names are
unique in a function and module scope together; temporaries have none. Types are concrete.

Memory is explicit: `Var` makes a variable and is a pointer to it, `Access` a pointer to a part, `Load` and `Store` go
through pointers. References do not exist, and `&` and `*` leave nothing behind. A `let` names the value it is given;
one that already has a name, or is a constant, keeps none. Operands are evaluated before their users, in the order in
which they stand.

Compound assignments load, operate and store. `a && b` is an If that yields a value, except in `root`, which has no
control flow: there it is `select(false, b, a)`. Phony assignments leave only effects. `Function.resources` is the
interface as the source has it.

    @compute @workgroup_size(64u) @resources(%data)
    fn @main(%id: vec3<u32> @builtin(global_invocation_id)) -> void {
      b0: {
        %i: u32 = access %id, 0u
        %0: ptr<storage, f32, read_write> = access %data, %i
        %1: f32 = load %0
        %2: bool = greater_equal %1, 0.0f
        if %2 [true: b1, false: b2, merge: b3]
      }
        b1: {
          %3: f32 = builtin sqrt(%1)
          branch b3(%3)
        }
        b2: { branch b3(0.0f) }
      b3(%4: f32): {
        store %0, %4
        return
      }
    }
"""

from __future__ import annotations

from .builder import Builder
from .interp import run
from .nodes import Module
from .operations import pure_evaluator
from .root_values import RootValues
from .text import parse, print_module
from .verify import VerifyError, verify

__all__ = [
    "Builder",
    "Module",
    "RootValues",
    "VerifyError",
    "parse",
    "print_module",
    "pure_evaluator",
    "run",
    "verify",
]
