// Machine code in memory of its own. No memory is writable and executable at the same time.
#ifndef TINCT_CODE_H
#define TINCT_CODE_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    char *start; // aligned to a page; null if nothing is loaded
    size_t size;
} Code;

// A 64-bit word of an image, `offset` bytes from its start, and the address of a function that is written there.
typedef struct {
    size_t offset;
    uintptr_t address;
} Slot;

// What became of an image: UNFIT ones have a slot outside, or code that does not end with a page.
typedef enum { CODE_LOADED, CODE_UNFIT, CODE_REFUSED } CodeResult;

// Copies an image, whose first `executable` bytes are code and all others only read, and fills its slots. After
// CODE_REFUSED, errno says why the system gave no such memory.
CodeResult code_load(Code *code, const void *image, size_t size, size_t executable, const Slot *slots, size_t count);

void code_free(Code *code);

#endif
