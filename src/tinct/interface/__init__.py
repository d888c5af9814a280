"""The interface of a shader as text for programs: JSON, a Python module of dtypes, a Rust module of structures.

- `document`: the JSON document, and the version of its schema. `schema` is the JSON Schema that each document fits.
- `needs`: the limits and features that an entry point needs of a device. `types`: the layout of each type.
- `python`, `rust`: modules with the layouts of structures and constants for bindings, entry points and overrides.
- `names`: identifiers of WGSL as identifiers of another language. `dtypes`: numpy's dtypes as text and JSON.
"""

from .document import VERSION, document, schema
from .python import python_module
from .rust import rust_module

__all__ = ["VERSION", "document", "python_module", "rust_module", "schema"]
