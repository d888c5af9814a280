// A handler of SIGINT like that of LLVM's libraries: it puts back the handler before it, unblocks the signal, and raises
// it again, also where it is called once more.
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static struct sigaction before;
static bool is_installed;

static void raise_again(int number) {
    if (is_installed) {
        sigaction(number, &before, NULL);
        is_installed = false;
    }
    sigset_t every;
    sigfillset(&every);
    sigprocmask(SIG_UNBLOCK, &every, NULL);
    raise(number);
}

void install(void) {
    struct sigaction action = {.sa_handler = raise_again};
    sigaction(SIGINT, &action, &before);
    is_installed = true;
}
