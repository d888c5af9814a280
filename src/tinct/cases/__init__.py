"""Case files: a small TOML beside a kernel says on what inputs it runs and how its outputs are judged.

    # saxpy.toml, beside saxpy.wgsl and reference.py
    reference = "saxpy"                     # a function of reference.py; "other.py:name" for another file
    threads = "n"                           # or workgroups = [...]: up to three numbers or expressions over the sizes
    # kernel = "saxpy.wgsl"                 # default: the .wgsl file of the same name
    # entry = "main"                        # needed where the shader has several entry points

    [buffers]                               # by variable name; types come from the shader
    x = { shape = "n", uniform = [-1, 1] }
    y = { shape = "n", normal = [0, 1], output = { ulp = 1 } }
    params = { value = { a = 2.5, n = "n" } }

    [[case]]
    name = "one element"
    sizes = { n = 1 }
    interp = true                           # small enough for an interpreter

    [[case]]
    name = "tail"
    sizes = { n = 1000 }
    constants = { width = 128 }             # override constants, by name or id
    buffers = { x = { linspace = [0, 1] } } # a case may replace parts of a buffer
    # also: threads or workgroups, entry, reference, seed (0), picture (an output of RGBA pixels in u32, to look at)

A function of Hercules IR (`matmul.hir`) has no threads: `entry` names the function (default: the last), `[buffers]` has
its parameters and the parts of its result that are compared, which have only an `output`. A parameter's shape has the
extents at all levels; without one, it is that of its type, where sizes and constants have the names of its dynamic
constants. `constants` sets dynamic constants that no shape determines.

A buffer has one generator: `uniform = [low, high]`, `normal = [mean, deviation]`, `integers = [low, below]`,
`linspace = [start, stop]`, `arange = [start, step]`, `value = …` (a number, nested lists, or a table of fields),
`file = "x.npy"`, `fields = { name = { generator }, … }` for structures; without one it is zero. `shape` is empty for
a single value. Any number may be an expression over the sizes with + - * / // %, ceil_div, min and max. `output`
marks a buffer to compare: "exact", "multiset" (equal but for the order), or bounds `{ ulp, absolute, relative }` of
which any one suffices, with `multiset = true` in any order, and `outliers` the share of elements that need not agree.
What samplers add on a GPU is estimated for each element: see `sample_allowance`.

A texture's shape is that of its array, with the layers, or the six faces of each cube, in front. With `levels`, a
number, it is a list of so many arrays, one for each mip level, of which each has half the extents of the one before;
`levels = [{ generator }, …]` has a generator for each.
"""

from .loader import load_cases
from .model import BufferPlan, Case, CaseError, Input, KernelCases
from .pictures import save_pictures

__all__ = ["BufferPlan", "Case", "CaseError", "Input", "KernelCases", "load_cases", "save_pictures"]
