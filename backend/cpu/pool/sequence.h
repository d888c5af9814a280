// Steps on memories that one caller executes in order, any number of times: dispatches, fills with zeros, copies.
//
// The tables are arrays of 64-bit words, which Python packs (`backend/cpu/packed_steps.py`): the types below have no
// other members, in the same order.
#ifndef TINCT_SEQUENCE_H
#define TINCT_SEQUENCE_H

#include "crew.h"

// Bytes of a memory, from `offset` on.
typedef struct {
    uint64_t memory, offset;
} Place;

// The invocations of a dispatch in one dimension: `value`, or the u32 at `place` if it `is_read`, an i32 if it
// `is_signed`.
typedef struct {
    uint64_t is_read, is_signed, value;
    Place place;
    uint64_t workgroup_size;
} Extent;

// A part of a formula in postfix order: a literal, the number of a step with this index, or an operation on the two
// values before it. Arithmetic is modulo 2^64, and division by zero gives zero.
typedef struct {
    uint64_t kind, value;
} Term;

enum { LITERAL, NUMBER, SUM, DIFFERENCE, PRODUCT, QUOTIENT, REMAINDER, MINIMUM, MAXIMUM };

typedef struct {
    uint64_t first, count;
} Formula;

enum { DISPATCH, FILL, COPY };

typedef struct {
    uint64_t kind;
    uint64_t entry;                     // of a dispatch
    uint64_t first_place, place_count;  // of bindings; of the target; of the source and the target
    uint64_t first_number;              // of a dispatch, workgroups first; of a fill or a copy, its bytes
    uint64_t threads;                   // of a dispatch
    uint64_t scratch;                   // bytes
    uint64_t first_private, private_count;
    uint64_t first_extent, extent_count; // of a dispatch whose grid is computed when it runs: 3, else none
    uint64_t capacity;                   // the most invocations of such a dispatch
    Formula threads_then, scratch_then;  // of such a dispatch
    uint64_t is_beside;                  // whether it does not depend on the step before, nor on those that one is beside
    uint64_t has_pace;                   // of a dispatch whose code is quicker if it is not shared
    Pace pace;                           // in and out, as in `Job`, with the next
    double each;
    double seconds;                      // added to if the sequence is timed
} Step;

typedef struct {
    Step *steps;
    size_t count;
    const Place *places;
    size_t place_count;
    uint64_t *numbers;
    const Private *privates;
    const Extent *extents;
    const Term *terms;
    char **memories; // changed by swaps
    size_t memory_count;
    const uint64_t *swaps; // which memory takes the place of each between two executions; null for none
    uint64_t executions;
    const Place *until; // a u32 that ends the sequence after the execution that makes it other than zero; may be null
    bool is_timed;      // then steps run one by one

    uint64_t executed; // whole executions
    bool is_ended;     // by `until`
    size_t refused;    // the step whose grid is too large, which ended the sequence; else `count`
    uint32_t read[3];  // the extents of that step
} Sequence;

// Executes the steps. The `context` is a Sequence.
Result sequence_run(Caller *caller, void *context);

#endif
