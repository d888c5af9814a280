"""WGSL types: copies and unpickled types are the interned ones."""

import copy
import pickle

import pytest

from tinct.ir.types import (
    ABSTRACT_FLOAT,
    BOOL,
    F16,
    F32,
    I32,
    U32,
    VOID,
    Access,
    AddressSpace,
    OverrideCount,
    Struct,
    StructMember,
    TextureKind,
    Type,
    array,
    atomic,
    buffer,
    matrix,
    pointer,
    reference,
    sampler,
    texture,
    vector,
)

INTERNED = [
    BOOL,
    F16,
    ABSTRACT_FLOAT,
    VOID,
    vector(3, F32),
    matrix(2, 4, F16),
    array(vector(2, I32), 5),
    array(array(F32, OverrideCount("n", 2)), None),
    atomic(U32),
    buffer(64),
    pointer(AddressSpace.STORAGE, F32, Access.READ),
    reference(AddressSpace.FUNCTION, vector(4, BOOL), Access.READ_WRITE),
    texture(TextureKind.SAMPLED, "2d", F32),
    texture(TextureKind.STORAGE, "3d", format="rgba8unorm", access=Access.WRITE),
    sampler(comparison=True),
    sampler(comparison=False),
]


@pytest.mark.parametrize("type", INTERNED, ids=str)
def test_one_object_for_each_type(type: Type) -> None:
    assert pickle.loads(pickle.dumps(type)) is type
    assert copy.copy(type) is type
    assert copy.deepcopy(type) is type


def test_structures_keep_the_types_of_their_members() -> None:
    structure = Struct("S", (StructMember("a", vector(3, F32)), StructMember("b", array(U32, None))))
    copied = pickle.loads(pickle.dumps(array(structure, None)))
    assert copied.element is not structure
    assert [it.type for it in copied.element.members] == [vector(3, F32), array(U32, None)]
