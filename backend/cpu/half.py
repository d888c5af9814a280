"""Conversions between f16 and f32 for processors without instructions for them, by the names that LLVM calls."""

from __future__ import annotations

CONVERSIONS = """\
@llvm.compiler.used = appending global [2 x ptr] [ptr @__extendhfsf2, ptr @__truncsfhf2], section "llvm.metadata"

define weak hidden float @__extendhfsf2(half %x) nounwind willreturn memory(none) {
  %bits = bitcast half %x to i16
  %wide = zext i16 %bits to i32
  %magnitude = and i32 %wide, 32767
  %placed = shl i32 %magnitude, 13
  %small = bitcast i32 %placed to float
  %finite = fmul float %small, 0x46F0000000000000
  %finite.bits = bitcast float %finite to i32
  %beyond = or i32 %placed, 2139095040
  %is.beyond = icmp uge i32 %magnitude, 31744
  %unsigned = select i1 %is.beyond, i32 %beyond, i32 %finite.bits
  %sign = and i32 %wide, 32768
  %sign.placed = shl i32 %sign, 16
  %result = or i32 %unsigned, %sign.placed
  %float = bitcast i32 %result to float
  ret float %float
}

define weak hidden half @__truncsfhf2(float %x) nounwind willreturn memory(none) {
  %bits = bitcast float %x to i32
  %magnitude = and i32 %bits, 2147483647
  %number = bitcast i32 %magnitude to float
  %shifted = fadd float %number, 5.0e-1
  %shifted.bits = bitcast float %shifted to i32
  %subnormal = sub i32 %shifted.bits, 1056964608
  %last = lshr i32 %magnitude, 13
  %odd = and i32 %last, 1
  %rebased = sub i32 %magnitude, 939520001
  %rounded = add i32 %rebased, %odd
  %normal = lshr i32 %rounded, 13
  %is.normal = icmp uge i32 %magnitude, 947912704
  %finite = select i1 %is.normal, i32 %normal, i32 %subnormal
  %is.large = icmp uge i32 %magnitude, 1199566848
  %number.bits = select i1 %is.large, i32 31744, i32 %finite
  %is.nan = icmp ugt i32 %magnitude, 2139095040
  %unsigned = select i1 %is.nan, i32 32256, i32 %number.bits
  %high = lshr i32 %bits, 16
  %sign = and i32 %high, 32768
  %signed = or i32 %unsigned, %sign
  %narrow = trunc i32 %signed to i16
  %result = bitcast i16 %narrow to half
  ret half %result
}
"""
"""A multiplication by 2^112 moves the exponent of an f16 and makes its subnormal numbers normal, exactly. Adding ½, of
which the unit in the last place is the least f16, rounds what becomes subnormal. 939520001 is 112 << 23, less what
rounds ties to even.
"""
