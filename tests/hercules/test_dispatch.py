"""Entry points in the interpreter, on bytes."""

from __future__ import annotations

import struct

import pytest

from tinct.ir.hercules.dispatch import BufferCollection, run_entry_point
from tinct.ir.hercules.entry import Binding, EntryPoint
from tinct.ir.hercules.interp import ThreadOrder, backward, forward, shuffled
from tinct.ir.hercules.text import parse
from tinct.ir.hercules.verify import check
from tinct.ir.types import F32, U32, Access, AddressSpace, BindingPoint, Struct, StructMember, array, matrix, vector

TEXT = """
# out.items[i].yz += matrix column, counted atomically: one thread a workgroup.
fn main<wg_x, wg_y, wg_z, len_out>(m: array<array<f32, 3>, 2>,
    out: product<u32, array<product<array<f32, 3>, u32>, len_out>>)
    -> product<product<u32, array<product<array<f32, 3>, u32>, len_out>>> {
  one = constant(u32 1)
  k1 = constant(u64 1)
  k2 = constant(u64 2)
  f = fork(start, wg_x)
  i = thread_id(f)
  now = reduce(j, out, last)
  column = read(m, position(i), position(k2))
  old = read(now, field(1), position(i), field(0), position(k1))
  new = add(old, column)
  w = write(now, new, field(1), position(i), field(0), position(k1))
  counted = atomic(add, w, field(0), one)
  after = read(counted, field(0))
  ticket = read(counted, field(1))
  last = write(after, ticket, field(1), position(i), field(1))
  j = join(f)
  all = product(now)
  done = return(j, all)
}
"""
ITEM = Struct("Item", (StructMember("v", vector(3, F32)), StructMember("n", U32)))
OUT = Struct("Out", (StructMember("count", U32), StructMember("items", array(ITEM, None))))


def entry_point() -> EntryPoint:
    module = parse(TEXT)
    check(module)
    bindings = (
        Binding("m", BindingPoint(0, 0), matrix(2, 3, F32), AddressSpace.UNIFORM, Access.READ, 0),
        Binding("out", BindingPoint(0, 1), OUT, AddressSpace.STORAGE, Access.READ_WRITE, 1, 3),
    )
    return EntryPoint("main", module, module.functions[0], bindings, (1, 1, 1))


@pytest.mark.parametrize("order", [forward, backward, shuffled(3)])
def test_buffers_change_in_place_in_wgsl_layout(order: ThreadOrder) -> None:
    uniform = bytearray(struct.pack("<3f4x3f4x", 1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
    out = bytearray(struct.pack("<I12x" + "3fI" * 2, 10, *(0.0, 0.5, 0.0, 7), *(0.0, 1.5, 0.0, 7)))
    run_entry_point(entry_point(), {BindingPoint(0, 0): uniform, BindingPoint(0, 1): out}, (2, 1, 1), order)
    count, *items = struct.unpack("<I12x" + "3fI" * 2, out)
    assert count == 12
    assert [items[1], items[5]] == [3.5, 7.5]
    assert sorted([items[3], items[7]]) == [10, 11]


def test_no_workgroups_change_nothing() -> None:
    uniform, out = bytearray(32), bytearray(struct.pack("<I12x3fI", 10, 1.0, 2.0, 3.0, 4))
    before = bytes(out)
    run_entry_point(entry_point(), {BindingPoint(0, 0): uniform, BindingPoint(0, 1): out}, (0, 1, 1))
    assert out == before


def test_collections_copy_and_give_parts() -> None:
    collection = BufferCollection(array(vector(2, F32), 2), bytearray(struct.pack("<4f", 1.0, 2.0, 3.0, 4.0)))
    copy = collection.copy()
    collection.set([1, 0], 9.0)
    assert collection.get([1]) == [9.0, 4.0]
    assert copy.get([]) == [[1.0, 2.0], [3.0, 4.0]]
