"""The module of the family that declares each builtin function, so that a process imports only those it needs."""

from __future__ import annotations

from typing import Final

_NAMES: Final = {
    "bits": """
        countLeadingZeros countOneBits countTrailingZeros firstLeadingBit firstTrailingBit reverseBits extractBits
        insertBits
        """,
    "buffer_views": """
        bufferLength bufferView bufferArrayView
        """,
    "invocations": """
        arrayLength atomicLoad atomicStore atomicAdd atomicSub atomicMax atomicMin atomicAnd atomicOr atomicXor
        atomicExchange atomicCompareExchangeWeak storageBarrier textureBarrier workgroupBarrier
        workgroupUniformLoad subgroupAdd subgroupExclusiveAdd subgroupInclusiveAdd subgroupMul
        subgroupExclusiveMul subgroupInclusiveMul subgroupMax subgroupMin subgroupAnd subgroupOr subgroupXor
        subgroupAll subgroupAny subgroupBallot subgroupElect subgroupBroadcastFirst quadSwapDiagonal quadSwapX
        quadSwapY subgroupBroadcast subgroupShuffle subgroupShuffleDown subgroupShuffleUp subgroupShuffleXor
        quadBroadcast
        """,
    "logical": """
        all any select bitcast
        """,
    "numeric": """
        abs sign max min clamp saturate ceil floor round trunc fract acos acosh asin asinh atan atanh cos cosh
        degrees exp exp2 inverseSqrt log log2 radians sin sinh sqrt tan tanh atan2 pow fma mix step smoothstep
        ldexp quantizeToF16
        """,
    "packing": """
        pack4x8snorm unpack4x8snorm pack4x8unorm unpack4x8unorm pack2x16snorm unpack2x16snorm pack2x16unorm
        unpack2x16unorm pack2x16float unpack2x16float pack4xI8 pack4xU8 pack4xI8Clamp pack4xU8Clamp unpack4xI8
        unpack4xU8 dot4I8Packed dot4U8Packed
        """,
    "textures": """
        dpdx dpdxCoarse dpdxFine dpdy dpdyCoarse dpdyFine fwidth fwidthCoarse fwidthFine textureDimensions
        textureGather textureGatherCompare textureSampleCompare textureSampleCompareLevel textureLoad
        textureNumLayers textureNumLevels textureNumSamples textureSample textureSampleBias textureSampleGrad
        textureSampleLevel textureSampleBaseClampToEdge textureStore
        """,
    "vectors": """
        dot cross length distance normalize faceForward reflect refract transpose determinant frexp modf
        """,
}

FAMILIES: Final = {name: family for family, names in _NAMES.items() for name in names.split()}
"""The family of each function, by the function's name."""
