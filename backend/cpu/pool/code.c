#define _DEFAULT_SOURCE // MAP_ANONYMOUS
#include "code.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool is_fit(size_t size, size_t executable, const Slot *slots, size_t count) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (executable == 0 || executable > size || (executable < size && executable % page != 0)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t offset = slots[i].offset;
        if (offset < executable || offset > size || size - offset < sizeof(uint64_t)) {
            return false;
        }
    }
    return true;
}

static bool protect(const Code *code, size_t executable) {
    return mprotect(code->start, executable, PROT_READ | PROT_EXEC) == 0 &&
           (executable == code->size || mprotect(code->start + executable, code->size - executable, PROT_READ) == 0);
}

CodeResult code_load(Code *code, const void *image, size_t size, size_t executable, const Slot *slots, size_t count) {
    if (!is_fit(size, executable, slots, count)) {
        return CODE_UNFIT;
    }
    char *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        return CODE_REFUSED;
    }
    *code = (Code){start, size};
    memcpy(start, image, size);
    for (size_t i = 0; i < count; i++) {
        const uint64_t address = slots[i].address;
        memcpy(start + slots[i].offset, &address, sizeof address);
    }
    __builtin___clear_cache(start, start + executable); // instructions that a processor has fetched before
    if (!protect(code, executable)) {
        const int reason = errno;
        code_free(code);
        errno = reason;
        return CODE_REFUSED;
    }
    return CODE_LOADED;
}

void code_free(Code *code) {
    if (code->start != NULL) {
        munmap(code->start, code->size);
        code->start = NULL;
    }
}
