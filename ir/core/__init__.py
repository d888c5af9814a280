"""Core IR: the round-trip IR. A WGSL program becomes a Module (`transforms.from_wgsl`), is transformed in place, and
becomes WGSL again (`transforms.to_wgsl`).

A `Module` has a `root` block with the module-scope variables, the overrides and the operations on them, and functions,
callees first. A `Function` starts at its `start_target`; a return is a branch to its `end_target`, a Terminator.

Control flow is structured. A `Block` is a straight run of single operations and ends in one `Branch`. The target of the
branch is the control-flow node that the block enters (an `If`, `Loop` or `Switch`), or one of these:

- at the end of an arm or a case, the `merge_target` of its If or Switch; the values that an If yields are arguments of
  its `merge_target`;
- for `break`, the `merge_target` of the innermost Loop or Switch;
- for `continue`, the `continuing_target` of the innermost Loop;
- at the end of a continuing part, the `start_target` of the Loop; for `break if`, the block enters an If without a
  merge, whose arms branch to the Loop's `merge_target` and `start_target`;
- for a return, the function's `end_target`;
- a Terminator that is `unreachable`: a block that control never enters holds only a branch to one.

The exit condition of a `for` or `while` loop is an If in the body with an empty true arm and a false arm that branches
to the loop's `merge_target`. Dead code is never built. `merge_target` is None where no branch reaches it; that of a
Loop always exists.

A value can be the operand of users, and it lists its uses. It is a `Constant` (a new one for each use), a
`FunctionParameter`, a `BlockArgument`, or an instruction with a result. A value is visible in the code that follows in
its region and in the regions nested there (see `structure`); the continuing part of a loop sees the values that the
body defines before every `continue`. Names are unique in a function and module scope together; temporaries have none.
Types are concrete.

Memory is explicit: `Var` makes a variable and is a pointer to it, `Access` a pointer to a part, `Load` and `Store` go
through pointers. References do not exist, and `&` and `*` produce no instruction. A `let` names the value of its
initializer, unless that value is a constant or has a name already. Operands are evaluated before their users, in the
order in which they stand.

Compound assignments load, operate and store. `a && b` is an If that yields a value, except in `root`, which has no
control flow: there it is `select(false, b, a)`. A phony assignment leaves only the effects of its expression.
`Function.resources` is the interface of the source, before dead code is dropped.

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

from typing import TYPE_CHECKING

from ...base.lazy_names import lazy_names

if TYPE_CHECKING:
    from .builder import Builder
    from .interp import run
    from .nodes import Module
    from .operations import pure_evaluator
    from .root_values import RootValues
    from .text import parse, print_module
    from .verifier import VerifyError, verify

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

__getattr__ = lazy_names(
    __name__,
    {
        "Builder": "builder",
        "Module": "nodes",
        "RootValues": "root_values",
        "VerifyError": "verifier",
        "parse": "text",
        "print_module": "text",
        "pure_evaluator": "operations",
        "run": "interp",
        "verify": "verifier",
    },
)
