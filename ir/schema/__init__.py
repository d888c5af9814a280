"""Schemas: every IR is declared once, in a `NAME.asdl` file, and everything else follows from the declaration.

- `asdl` reads a schema, `check` and `check_operations` check it; `model` is what they read it into. The dialect is
  described in `asdl`.
- `generate` writes the typed classes, which are committed. `emit_classes`, `emit_operations` and `emit_builder` write
  their parts, `emit_text` lays them out.
- `runtime` is what generated classes are made of: `SchemaNode`, `Operation`, `FieldInfo`, `Schema`, and `value_key`.
- `traverse` has what works on any tree: `children`, `walk`, `map_children`, `rewrite`, `same`, `mistakes`.
- `codec` turns any tree into JSON or an ATerm and back: `encode` and `decode` go through the `events` that `json_form`
  and `aterm` write and read.
"""
