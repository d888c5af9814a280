"""Functions of Hercules IR in files (`.hir`), run from Python as a shader's kernels are.

- `file`: files, and the functions in them. `function`: one function: its parameters, its results, and `run`.
- `extents`: dynamic constants from the shapes of arguments.
- `dtypes`, `values`: arguments and results as numpy arrays in the layout of `ir.hercules.layout`.
- `results`: the names of results. `structures`: fields of products and sums, and what dynamic constants are for.
- `machine_code`, `on_gpu`: the devices that need more than a call.
"""

from .file import HerculesFile, load_hercules, verified
from .function import DEVICES, FunctionRun, HerculesFunction, ParameterInfo, ResultInfo
from .structures import DynamicConstantInfo, FieldInfo, StructureInfo

__all__ = [
    "DEVICES",
    "DynamicConstantInfo",
    "FieldInfo",
    "FunctionRun",
    "HerculesFile",
    "HerculesFunction",
    "ParameterInfo",
    "ResultInfo",
    "StructureInfo",
    "load_hercules",
    "verified",
]
