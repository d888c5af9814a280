#define _GNU_SOURCE
#include "sequence.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"

// Bytes of a fill or a copy that are one thread of a job.
enum { CHUNK = 1 << 16 };

// The depth of formulas, which `packed_steps.py` sees to.
enum { MOST_DEPTH = 64 };

// WebGPU's limit `maxComputeWorkgroupsPerDimension`.
static const uint64_t MOST_WORKGROUPS = 65535;

static uint64_t chunks(uint64_t size) { return (size + CHUNK - 1) / CHUNK; }

static size_t size_of(const uint64_t *numbers, uint64_t begin, uint64_t end) {
    const uint64_t last = end * CHUNK < *numbers ? end * CHUNK : *numbers;
    return last - begin * CHUNK;
}

static void fill(void *const *bindings, const uint64_t *numbers, uint64_t begin, uint64_t end, void *scratch,
                 bool is_shared) {
    (void)scratch, (void)is_shared;
    memset((char *)bindings[0] + begin * CHUNK, 0, size_of(numbers, begin, end));
}

static void copy(void *const *bindings, const uint64_t *numbers, uint64_t begin, uint64_t end, void *scratch,
                 bool is_shared) {
    (void)scratch, (void)is_shared;
    const char *source = (const char *)bindings[0] + begin * CHUNK;
    memcpy((char *)bindings[1] + begin * CHUNK, source, size_of(numbers, begin, end));
}

static char *address(const Sequence *sequence, const Place *place) {
    return sequence->memories[place->memory] + place->offset;
}

static uint32_t word_at(const Sequence *sequence, const Place *place) {
    uint32_t word;
    memcpy(&word, address(sequence, place), sizeof word);
    return word;
}

// The addresses of all places, for the memories as they are now.
static void set_bindings(const Sequence *sequence, void **bindings) {
    for (size_t i = 0; i < sequence->place_count; i++) {
        bindings[i] = address(sequence, &sequence->places[i]);
    }
}

static void set_job(const Sequence *sequence, Step *step, void **bindings, Job *job) {
    const uint64_t *numbers = sequence->numbers + step->first_number;
    *job = (Job){
        .entry = step->kind == FILL ? fill : step->kind == COPY ? copy : (Entry)(uintptr_t)step->entry,
        .bindings = bindings + step->first_place,
        .binding_count = step->place_count,
        .numbers = numbers,
        .count = step->kind == DISPATCH ? step->threads : chunks(*numbers),
        .scratch = step->scratch,
        .privates = sequence->privates + step->first_private,
        .private_count = step->private_count,
        .each = step->each,
        .pace = step->has_pace ? &step->pace : NULL,
    };
}

static uint64_t computed(uint64_t kind, uint64_t left, uint64_t right) {
    switch (kind) {
    case SUM:
        return left + right;
    case DIFFERENCE:
        return left - right;
    case PRODUCT:
        return left * right;
    case QUOTIENT:
        return right == 0 ? 0 : left / right;
    case REMAINDER:
        return right == 0 ? 0 : left % right;
    case MINIMUM:
        return left < right ? left : right;
    default:
        return left > right ? left : right;
    }
}

// The value of a formula; no formula is deeper than `MOST_DEPTH`.
static uint64_t value_of(const Sequence *sequence, const Formula *formula, const uint64_t *numbers) {
    uint64_t stack[MOST_DEPTH];
    size_t depth = 0;
    for (size_t i = 0; i < formula->count; i++) {
        const Term *term = &sequence->terms[formula->first + i];
        if (term->kind == LITERAL || term->kind == NUMBER) {
            stack[depth++] = term->kind == LITERAL ? term->value : numbers[term->value];
        } else {
            depth--;
            stack[depth - 1] = computed(term->kind, stack[depth - 1], stack[depth]);
        }
    }
    return stack[0];
}

// Sets a grid that is computed from extents. False if it is too large.
static bool set_grid(Sequence *sequence, const Step *step, Job *job) {
    uint64_t workgroups[3] = {1, 1, 1};
    unsigned __int128 invocations = 1; // of three u32
    bool is_fine = true;
    for (size_t i = 0; i < step->extent_count; i++) {
        const Extent *extent = &sequence->extents[step->first_extent + i];
        const uint64_t count = extent->is_read ? word_at(sequence, &extent->place) : extent->value;
        workgroups[i] = (count + extent->workgroup_size - 1) / extent->workgroup_size;
        is_fine = is_fine && workgroups[i] <= MOST_WORKGROUPS && !(extent->is_signed && count > INT32_MAX);
        invocations *= count;
        sequence->read[i] = (uint32_t)count;
    }
    uint64_t *numbers = sequence->numbers + step->first_number;
    memcpy(numbers, workgroups, sizeof workgroups);
    const bool is_empty = workgroups[0] == 0 || workgroups[1] == 0 || workgroups[2] == 0;
    job->count = is_empty ? 0 : value_of(sequence, &step->threads_then, numbers);
    job->scratch = value_of(sequence, &step->scratch_then, numbers);
    return is_fine && invocations <= step->capacity;
}

// Does steps that do not depend on each other.
static Result do_level(Caller *caller, Sequence *sequence, size_t first, size_t end, Job *jobs) {
    for (size_t i = first; i < end; i++) {
        const Step *step = &sequence->steps[i];
        if (step->extent_count > 0 && !set_grid(sequence, step, &jobs[i])) {
            sequence->refused = i;
            return DONE;
        }
    }
    const double started = sequence->is_timed ? now() : 0;
    const Result result = crew_do(caller, jobs + first, end - first);
    if (sequence->is_timed) {
        sequence->steps[first].seconds += now() - started;
    }
    return result;
}

// The end of the level that begins with a step.
static size_t end_of_level(const Sequence *sequence, size_t first) {
    size_t end = first + 1;
    while (!sequence->is_timed && end < sequence->count && sequence->steps[end].is_beside) {
        end++;
    }
    return end;
}

static Result execute(Caller *caller, Sequence *sequence, Job *jobs) {
    for (size_t first = 0; first < sequence->count;) {
        const size_t end = end_of_level(sequence, first);
        const Result result = do_level(caller, sequence, first, end, jobs);
        if (result != DONE || sequence->refused < sequence->count) {
            return result;
        }
        first = end;
    }
    sequence->executed++;
    sequence->is_ended = sequence->until != NULL && word_at(sequence, sequence->until) != 0;
    return DONE;
}

// Lets each memory take the place of another; `moved` is room for all.
static void swap(const Sequence *sequence, char **moved) {
    for (size_t i = 0; i < sequence->memory_count; i++) {
        moved[i] = sequence->memories[sequence->swaps[i]];
    }
    memcpy(sequence->memories, moved, sequence->memory_count * sizeof *moved);
}

static Result execute_all(Caller *caller, Sequence *sequence, void **bindings, Job *jobs, char **moved) {
    set_bindings(sequence, bindings);
    for (size_t i = 0; i < sequence->count; i++) {
        set_job(sequence, &sequence->steps[i], bindings, &jobs[i]);
    }
    Result result = DONE;
    while (result == DONE && sequence->executed < sequence->executions) {
        if (sequence->executed > 0 && sequence->swaps != NULL) {
            swap(sequence, moved);
            set_bindings(sequence, bindings);
        }
        result = execute(caller, sequence, jobs);
        if (sequence->is_ended || sequence->refused < sequence->count) {
            break;
        }
    }
    for (size_t i = 0; i < sequence->count; i++) {
        sequence->steps[i].each = jobs[i].each;
    }
    return result;
}

Result sequence_run(Caller *caller, void *context) {
    Sequence *sequence = context;
    sequence->refused = sequence->count;
    void **bindings = calloc(sequence->place_count + 1, sizeof *bindings);
    Job *jobs = calloc(sequence->count + 1, sizeof *jobs);
    char **moved = calloc(sequence->memory_count + 1, sizeof *moved);
    const bool is_fine = bindings != NULL && jobs != NULL && moved != NULL;
    const Result result = is_fine ? execute_all(caller, sequence, bindings, jobs, moved) : OUT_OF_MEMORY;
    free(bindings);
    free(jobs);
    free(moved);
    return result;
}
