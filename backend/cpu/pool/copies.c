#include "copies.h"

#include <stdlib.h>
#include <string.h>

static size_t rounded(size_t size) { return (size + ALIGN - 1) / ALIGN * ALIGN; }

bool has_room(char **memory, size_t *room, size_t size) {
    if (*room >= size) {
        return true;
    }
    free(*memory);
    *memory = aligned_alloc(ALIGN, rounded(size));
    *room = *memory == NULL ? 0 : size;
    return *memory != NULL;
}

size_t copies_size(const Job *job) {
    size_t size = 0;
    for (const Private *it = job->privates; it < job->privates + job->private_count; it++) {
        size += rounded(it->words * sizeof(uint32_t));
    }
    return size;
}

// Copies that may be used for the job, at the head of its list; null if out of memory.
static Copies *added(Copies **of_job, Copies **spare) {
    Copies *copies = *spare;
    if (copies != NULL) {
        *spare = copies->next;
    } else if ((copies = calloc(1, sizeof *copies)) == NULL) {
        return NULL;
    }
    copies->is_used = copies->is_filled = false;
    copies->next = *of_job;
    *of_job = copies;
    return copies;
}

Copies *copies_take(Copies **of_job, Copies **spare, const Job *job) {
    Copies *copies = *of_job;
    while (copies != NULL && copies->is_used) {
        copies = copies->next;
    }
    if (copies == NULL && (copies = added(of_job, spare)) == NULL) {
        return NULL;
    }
    const size_t addresses = job->binding_count * sizeof(void *);
    copies->is_used = has_room(&copies->memory, &copies->size, copies_size(job) + addresses);
    return copies->is_used ? copies : NULL;
}

void *const *copies_bindings(Copies *copies, const Job *job) {
    void **bindings = (void **)(void *)(copies->memory + copies_size(job));
    if (copies->is_filled) {
        return bindings;
    }
    char *end = copies->memory;
    memcpy(bindings, job->bindings, job->binding_count * sizeof *bindings);
    for (const Private *it = job->privates; it < job->privates + job->private_count; it++) {
        uint32_t *words = (uint32_t *)(void *)end;
        for (size_t i = 0; i < it->words; i++) {
            words[i] = it->kind->identity;
        }
        bindings[it->binding] = words;
        end += rounded(it->words * sizeof *words);
    }
    copies->is_filled = true;
    return bindings;
}

void copies_merge(const Copies *of_job, const Job *job) {
    for (const Copies *copies = of_job; copies != NULL; copies = copies->next) {
        void *const *bindings = (void *const *)(const void *)(copies->memory + copies_size(job));
        for (const Private *it = job->privates; copies->is_filled && it < job->privates + job->private_count; it++) {
            it->kind->merge(job->bindings[it->binding], bindings[it->binding], it->words);
        }
    }
}

void copies_give_back(Copies *of_job, Copies **spare) {
    Copies *last = of_job;
    while (last->next != NULL) {
        last = last->next;
    }
    last->next = *spare;
    *spare = of_job;
}

void copies_free(Copies *spare) {
    for (Copies *next; spare != NULL; spare = next) {
        next = spare->next;
        free(spare->memory);
        free(spare);
    }
}
