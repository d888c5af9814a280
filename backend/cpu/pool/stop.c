#define _GNU_SOURCE
#include "stop.h"

#include <errno.h>
#include <stdint.h>
#include <ucontext.h>
#include <unistd.h>

#define STOP_SIGNAL SIGURG

// Read by a signal handler, so it must exist in each thread without allocation: glibc allocates other variables of a
// library's threads when they are first used.
#ifdef __GLIBC__
#define OF_THREAD _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define OF_THREAD _Thread_local
#endif

static OF_THREAD Runner *volatile here;       // the runner that this thread is, while it runs machine code
static OF_THREAD volatile bool is_passing_on; // whether this thread is in the previous handler
static _Atomic uintptr_t previous_handler;    // the address of the previous handler
static _Atomic bool previous_takes_info;      // whether that handler has three parameters

// Whether all signals that were blocked when the signal came are those that the thread blocks by itself. If not, the
// signal came while the handler of another one was running, which must not be left in the middle.
static bool is_between_handlers(const Runner *runner, const ucontext_t *interrupted) {
    for (int number = 1; number < NSIG; number++) {
        if (sigismember(&interrupted->uc_sigmask, number) == 1 && sigismember(&runner->mask, number) != 1) {
            return false;
        }
    }
    return true;
}

static sigset_t only_stop_signal(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, STOP_SIGNAL);
    return signals;
}

// Sends the signal again, for when the interrupted handler has returned: until then that handler runs with it blocked.
static void send_again_later(ucontext_t *interrupted) {
    pthread_kill(pthread_self(), STOP_SIGNAL); // which is blocked here
    sigaddset(&interrupted->uc_sigmask, STOP_SIGNAL);
}

// Linux gives a handler fresh settings of floating-point arithmetic on x86-64, which longjmp leaves. A thread sanitizer
// calls handlers with what it copied of the context, which does not have the settings.
static void restore_arithmetic(const ucontext_t *interrupted) {
#if defined __linux__ && defined __x86_64__ && !defined __SANITIZE_THREAD__
    if (interrupted->uc_mcontext.fpregs != NULL) {
        const uint32_t vectors = interrupted->uc_mcontext.fpregs->mxcsr;
        const uint16_t scalars = interrupted->uc_mcontext.fpregs->cwd;
        __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(vectors), "m"(scalars));
    }
#else
    (void)interrupted;
#endif
}

// Calls the previous handler. If that handler calls this one in turn, there is nothing left to call.
static void pass_on(int number, siginfo_t *info, void *context) {
    const uintptr_t handler = atomic_load(&previous_handler);
    if (is_passing_on || handler == (uintptr_t)SIG_DFL || handler == (uintptr_t)SIG_IGN) {
        return;
    }
    is_passing_on = true;
    if (atomic_load(&previous_takes_info)) {
        ((void (*)(int, siginfo_t *, void *))handler)(number, info, context);
    } else {
        ((void (*)(int))handler)(number);
    }
    is_passing_on = false;
}

// Leaves the handler, and the machine code in which the signal came.
static _Noreturn void jump_back(Runner *runner, const ucontext_t *interrupted) {
    atomic_store(&runner->inside, NULL);
    is_passing_on = false;
    restore_arithmetic(interrupted);
    _longjmp(runner->back, 1);
}

static void on_signal(int number, siginfo_t *info, void *context) {
    const int error = errno;
    Runner *runner = here;
    const Stop *stop = runner == NULL ? NULL : atomic_load(&runner->inside);
    const bool is_stopped = stop != NULL && stop_is_raised(stop);
    if (!is_stopped || info->si_pid != getpid()) {
        pass_on(number, info, context);
    }
    if (is_stopped && is_between_handlers(runner, context)) {
        jump_back(runner, context);
    } else if (is_stopped) {
        send_again_later(context);
    }
    errno = error;
}

// Makes sure that the signal has our handler, whatever the program has done since. The handler runs on the alternate
// stack of a thread only where the previous handler does: Go's runtime, whose threads get this signal, demands it, but
// an alternate stack may have room for few handlers.
static void set_handler(void) {
    struct sigaction now, ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(STOP_SIGNAL, NULL, &now);
    const bool takes_info = (now.sa_flags & SA_SIGINFO) != 0;
    if (takes_info && now.sa_sigaction == on_signal) {
        return;
    }
    atomic_store(&previous_takes_info, takes_info);
    atomic_store(&previous_handler, takes_info ? (uintptr_t)now.sa_sigaction : (uintptr_t)now.sa_handler);
    ours.sa_mask = handler_mask();
    ours.sa_flags |= now.sa_flags & SA_ONSTACK;
    sigaction(STOP_SIGNAL, &ours, NULL);
}

sigset_t worker_mask(void) {
    sigset_t mask;
    sigfillset(&mask);
    sigdelset(&mask, STOP_SIGNAL);
    return mask;
}

sigset_t handler_mask(void) {
    static const int of_instructions[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t mask;
    sigfillset(&mask);
    for (size_t i = 0; i < sizeof of_instructions / sizeof *of_instructions; i++) {
        sigdelset(&mask, of_instructions[i]);
    }
    return mask;
}

void runner_begin_worker(Runner *runner) {
    runner->thread = pthread_self();
    runner->mask = worker_mask();
}

void runner_call(Runner *runner, Stop *stop, void (*code)(const void *argument), const void *argument) {
    here = runner;
    if (_setjmp(runner->back) == 0) {
        atomic_store(&runner->inside, stop);
        if (!atomic_load(&stop->is_raised)) {
            code(argument);
        }
    } else {
        pthread_sigmask(SIG_SETMASK, &runner->mask, NULL); // the handler had the signal blocked
    }
    atomic_store_explicit(&runner->inside, NULL, memory_order_release);
    here = NULL;
}

void stop_begin(Stop *stop, Runner *workers, size_t count) {
    stop->caller.thread = pthread_self();
    stop->count = count;
    atomic_store(&stop->workers, workers);
}

void stop_admit_caller(Stop *stop) {
    const sigset_t signals = only_stop_signal();
    pthread_sigmask(SIG_UNBLOCK, &signals, &stop->caller.mask);
    stop->was_blocked |= sigismember(&stop->caller.mask, STOP_SIGNAL) == 1;
    sigdelset(&stop->caller.mask, STOP_SIGNAL);
}

void stop_end(Stop *stop) {
    atomic_store(&stop->workers, NULL);
    if (stop->was_blocked) {
        const sigset_t signals = only_stop_signal();
        pthread_sigmask(SIG_BLOCK, &signals, NULL);
        stop->was_blocked = false;
    }
}

static void send_if_inside(Runner *runner, const Stop *stop) {
    if (atomic_load(&runner->inside) == stop) {
        pthread_kill(runner->thread, STOP_SIGNAL);
    }
}

void stop_raise(Stop *stop) {
    atomic_store(&stop->is_raised, true);
    Runner *workers = atomic_load(&stop->workers);
    if (workers == NULL) {
        return;
    }
    set_handler();
    send_if_inside(&stop->caller, stop);
    for (Runner *runner = workers; runner < workers + stop->count; runner++) {
        send_if_inside(runner, stop);
    }
}
