"""Coefficients as f32 values, written by tools/fit_polynomials.py. Each tuple begins with the constant term."""

EXP = (
    float.fromhex("0x1.0p+0"),
    float.fromhex("0x1.0p+0"),
    float.fromhex("0x1.fffffcp-2"),
    float.fromhex("0x1.555492p-3"),
    float.fromhex("0x1.555882p-5"),
    float.fromhex("0x1.123a42p-7"),
    float.fromhex("0x1.6a8012p-10"),
)
"""e^r for |r| ≤ ln 2 / 2. Relative error below 2^-28."""

EXP2 = (
    float.fromhex("0x1.0p+0"),
    float.fromhex("0x1.62e43p-1"),
    float.fromhex("0x1.ebfbep-3"),
    float.fromhex("0x1.c6af8ep-5"),
    float.fromhex("0x1.3b2be6p-7"),
    float.fromhex("0x1.5efecap-10"),
    float.fromhex("0x1.4263d2p-13"),
)
"""2^r for |r| ≤ ½. Relative error below 2^-28."""

LOG = (
    float.fromhex("-0x1.0p-1"),
    float.fromhex("0x1.555554p-2"),
    float.fromhex("-0x1.000226p-2"),
    float.fromhex("0x1.99a008p-3"),
    float.fromhex("-0x1.547244p-3"),
    float.fromhex("0x1.22da1cp-3"),
    float.fromhex("-0x1.0d853ep-3"),
    float.fromhex("0x1.055b6ep-3"),
    float.fromhex("-0x1.38b594p-4"),
)
"""ln(1 + f) = f + f² P(f), 1 + f between √½ and √2. Relative error below 2^-27."""

LOG2 = (
    float.fromhex("0x1.c551dap-2"),
    float.fromhex("-0x1.715476p-1"),
    float.fromhex("0x1.ec7022p-2"),
    float.fromhex("-0x1.7156cap-2"),
    float.fromhex("0x1.278bcap-2"),
    float.fromhex("-0x1.eb6b3p-3"),
    float.fromhex("0x1.a21562p-3"),
    float.fromhex("-0x1.818a26p-3"),
    float.fromhex("0x1.7ef2eep-3"),
    float.fromhex("-0x1.dd7f5p-4"),
)
"""log2(1 + f) = f + f P(f), 1 + f between √½ and √2. Relative error below 2^-26."""

LOG2_ATANH = (
    float.fromhex("0x1.ec709ep-1"),
    float.fromhex("0x1.2776e2p-1"),
    float.fromhex("0x1.a5ceb8p-2"),
    float.fromhex("0x1.58b52ap-2"),
)
"""log2((1 + s) / (1 - s)) = 2 s / ln 2 + s³ P(s²), |s| ≤ 0.1716. Relative error below 2^-36."""

SIN = (
    float.fromhex("-0x1.555544p-3"),
    float.fromhex("0x1.1106aep-7"),
    float.fromhex("-0x1.990f92p-13"),
)
"""sin r = r + r³ P(r²), |r| ≤ 0.8. Relative error below 2^-27."""

COS = (
    float.fromhex("0x1.0p+0"),
    float.fromhex("-0x1.0p-1"),
    float.fromhex("0x1.555548p-5"),
    float.fromhex("-0x1.6c0af4p-10"),
    float.fromhex("0x1.99911cp-16"),
)
"""cos r = P(r²), |r| ≤ 0.8. Relative error below 2^-32."""

TAN = (
    float.fromhex("0x1.555564p-2"),
    float.fromhex("0x1.110c88p-3"),
    float.fromhex("0x1.bb0b9cp-5"),
    float.fromhex("0x1.5ab798p-6"),
    float.fromhex("0x1.6d77ap-7"),
    float.fromhex("-0x1.4e350ep-12"),
    float.fromhex("0x1.2c2974p-8"),
)
"""tan r = r + r³ P(r²), |r| ≤ 0.8. Relative error below 2^-29."""

ASIN = (
    float.fromhex("0x1.5555ccp-3"),
    float.fromhex("0x1.3300acp-4"),
    float.fromhex("0x1.749f9cp-5"),
    float.fromhex("0x1.8ac726p-6"),
    float.fromhex("0x1.5aaba6p-5"),
)
"""asin a = a + a³ P(a²), |a| ≤ ½. Relative error below 2^-27."""

ATAN = (
    float.fromhex("-0x1.55553ep-2"),
    float.fromhex("0x1.9991e4p-3"),
    float.fromhex("-0x1.242084p-3"),
    float.fromhex("0x1.c08c1ap-4"),
    float.fromhex("-0x1.580814p-4"),
    float.fromhex("0x1.da24cap-5"),
    float.fromhex("-0x1.fd6fbcp-6"),
    float.fromhex("0x1.6410e4p-7"),
    float.fromhex("-0x1.d32dacp-10"),
)
"""atan t = t + t³ P(t²), |t| ≤ 1. Relative error below 2^-28."""

SINH = (
    float.fromhex("0x1.55555ep-3"),
    float.fromhex("0x1.110a82p-7"),
    float.fromhex("0x1.a5b8aep-13"),
)
"""sinh r = r + r³ P(r²), 0 ≤ r ≤ ln 2. Relative error below 2^-29."""

TANH = (
    float.fromhex("-0x1.55553p-2"),
    float.fromhex("0x1.110684p-3"),
    float.fromhex("-0x1.b82628p-5"),
    float.fromhex("0x1.51904p-6"),
    float.fromhex("-0x1.732bccp-8"),
)
"""tanh a = a + a³ P(a²), 0 ≤ a ≤ 0.625. Relative error below 2^-27."""

COSH = (
    float.fromhex("0x1.0p+0"),
    float.fromhex("0x1.0p-1"),
    float.fromhex("0x1.55555ap-5"),
    float.fromhex("0x1.6c10b4p-10"),
    float.fromhex("0x1.a4d854p-16"),
)
"""cosh r = P(r²), 0 ≤ r ≤ ln 2. Relative error below 2^-34."""

PI_2_PARTS = (
    float.fromhex("0x1.921fb6p+0"),
    float.fromhex("-0x1.777a5cp-25"),
    float.fromhex("-0x1.ee59dap-50"),
)
"""π/2 as a sum."""

PI_PARTS = (
    float.fromhex("0x1.921fb6p+1"),
    float.fromhex("-0x1.777a5cp-24"),
)
"""π as a sum."""

LN2_PARTS = (
    float.fromhex("0x1.62e4p-1"),
    float.fromhex("0x1.7f7d1cp-20"),
)
"""ln 2 as a sum; products of the first term and 8-bit integers are exact."""

TWO_BY_LN2_PARTS = (
    float.fromhex("0x1.715476p+1"),
    float.fromhex("0x1.4ae0cp-25"),
)
"""2 / ln 2 as a sum."""

DEGREES_PARTS = (
    float.fromhex("0x1.ca5dcp+5"),
    float.fromhex("0x1.a63c2p-19"),
)
"""180 / π as a sum of positive numbers."""

RADIANS_PARTS = (
    float.fromhex("0x1.1df468p-6"),
    float.fromhex("0x1.1294eap-29"),
)
"""π / 180 as a sum of positive numbers."""
