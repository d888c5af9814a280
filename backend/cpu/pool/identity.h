// What tells one kind of processor from another, as the processor itself tells it.
#ifndef TINCT_IDENTITY_H
#define TINCT_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

enum { IDENTITY_WORDS = 64 };

// Writes words that are equal on all processors with the same instructions and the same model, and returns how many; 0
// if the processor does not tell.
size_t identity_of_processor(uint32_t words[IDENTITY_WORDS]);

#endif
