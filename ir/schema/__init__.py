"""Schemas: every IR is declared once, in a `NAME.asdl` file, from which its classes are generated.

- `asdl` reads a schema into the classes of `model`, `check` and `check_operations` check it. The docstring of `asdl`
  describes the dialect.
- `generate` writes the typed classes, which are committed. `emit_classes`, `emit_operations` and `emit_builder` write
  their parts, `emit_text` lays them out.
- `runtime` has the base classes and metadata of the generated classes: `SchemaNode`, `Operation`, `FieldInfo`,
  `Schema`, and `value_key`.
- `traverse` has functions for any tree: `children`, `walk`, `map_children`, `rewrite`, `same`, `mistakes`.
- `codec` turns any tree into JSON or an ATerm and back: `encode` and `decode` go through the `events` that `json_form`
  and `aterm` write and read.
"""
