"""Nests as text, for several tests."""

from __future__ import annotations

ROW_SUMS = """nest row_sums(rows, columns) {
  dim i: rows
  dim j: columns
  in x: f32[rows, columns]
  out sums: f32[rows]

  x0: f32 = inst x[i, j] on [i, j]
  acc: f32 = 0.0f fby total on [j]
  total: f32 = inst acc + x0 on [i, j]
  row: f32 = last acc on [j]
  sums[i] = row on [i]
}
"""

SOFTMAX = """nest softmax(rows, columns) {
  dim i: rows
  dim j: columns
  dim k: columns
  dim l: columns
  in x: f32[rows, columns]
  out y: f32[rows, columns]

  x0: f32 = inst x[i, j] on [i, j]
  best: f32 = -3.4028235e+38f fby better on [j]
  better: f32 = inst max(best, x0) on [i, j]
  most: f32 = last best on [j]
  again: f32 = map x0 on [j -> k]
  less: f32 = inst again - most on [i, k]
  e: f32 = inst exp(less) on [i, k]
  sum: f32 = 0.0f fby total on [k]
  total: f32 = inst sum + e on [i, k]
  all: f32 = last sum on [k]
  part: f32 = map e on [k -> l]
  share: f32 = inst part / all on [i, l]
  y[i, l] = share on [i, l]
}
"""

EVERYTHING = """nest everything(n, m) {
  dim i: n
  dim j: 2 * m - 1
  dim k: 8
  in x: f16[2 * n + 1, m]
  in one: i32[]
  out y: i32[n]
  out z: u32[n + 2, 3]

  half: f16 = inst x[2 * i + 1, -j + m] clamp on [i, j]
  other: f16 = inst x[i, j - 4] zero on [i, j]
  base: i32 = inst one[] on []
  at: i32 = inst index -j + 2 * i - 3 on [i, j]
  low: bool = inst half <= other on [i, j]
  no: bool = inst !low on [i, j]
  pick: i32 = inst select(at, -7i, no) on [i, j]
  neg: i32 = inst -pick on [i, j]
  big: i32 = inst (-2i) * neg on [i, j]
  spread: i32 = inst copy(base) on [i]
  carry: i32 = spread fby step on [j]
  step: i32 = inst carry ^ big on [i, j]
  end: i32 = last carry on [j]
  y[i] = end on [i]
  seen: bool = last low on [j]
  word: u32 = inst u32(seen) on [i]
  shifted: u32 = inst word << 3u on [i]
  z[i + 2, 1] = shifted on [i]
}
"""

ARGMAX = """nest argmax(rows, columns) {
  dim i: rows
  dim j: columns
  in x: f32[rows, columns]
  out values: f32[rows]
  out places: u32[rows]

  x0: f32 = inst x[i, j] on [i, j]
  best: f32 = -3.4028235e+38f fby better on [j]
  place: u32 = 0u fby there on [j]
  is_better: bool = inst x0 > best on [i, j]
  better: f32 = inst select(best, x0, is_better) on [i, j]
  here: u32 = inst index j on [j]
  there: u32 = inst select(place, here, is_better) on [i, j]
  value: f32 = last best on [j]
  spot: u32 = last place on [j]
  values[i] = value on [i]
  places[i] = spot on [i]

  combine (best, place) from (-3.4028235e+38f, 0u) by (best1, place1), (best2, place2) -> (most, first) {
    greater: bool = inst best2 > best1 on []
    equal: bool = inst best2 == best1 on []
    before: bool = inst place2 < place1 on []
    tie: bool = inst equal & before on []
    second: bool = inst greater | tie on []
    most: f32 = inst select(best1, best2, second) on []
    first: u32 = inst select(place1, place2, second) on []
  }
}
"""
