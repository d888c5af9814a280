#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interrupts.h"

// From Python's module `_signal`, since `signal.getsignal` takes ten times as long for the same result.
static PyObject *getsignal, *default_int_handler, *number_of_interrupt;

static Interrupts *volatile watched; // by the main thread, on its stack
static pthread_t main_thread;
static volatile sig_atomic_t is_passing_on; // whether the main thread is in the previous handler

// Determined once in each thread: a system call takes longer than the rest of a small dispatch.
static _Thread_local enum { UNKNOWN, MAIN, OTHER } kind_of_thread;

static bool is_main_thread(void) {
    if (kind_of_thread == UNKNOWN) {
#ifdef __linux__
        kind_of_thread = syscall(SYS_gettid) == getpid() ? MAIN : OTHER;
#else
        kind_of_thread = pthread_main_np() ? MAIN : OTHER;
#endif
        main_thread = kind_of_thread == MAIN ? pthread_self() : main_thread;
    }
    return kind_of_thread == MAIN;
}

static void on_interrupt(int number, siginfo_t *info, void *context) {
    if (!pthread_equal(pthread_self(), main_thread)) {
        pthread_kill(main_thread, number); // which may be about to leave what it watches
        return;
    }
    Interrupts *interrupts = watched;
    interrupts->came = 1;
    stop_raise(interrupts->stop);
    if (is_passing_on) {
        return; // the previous handler has raised the signal again
    }
    is_passing_on = 1;
    if (interrupts->python.sa_flags & SA_SIGINFO) {
        interrupts->python.sa_sigaction(number, info, context);
    } else if (interrupts->python.sa_handler != SIG_DFL && interrupts->python.sa_handler != SIG_IGN) {
        interrupts->python.sa_handler(number);
    }
    is_passing_on = 0;
}

static bool is_ours(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == on_interrupt;
}

bool interrupt_raises_here(void) {
    if (!is_main_thread()) {
        return false;
    }
    PyObject *handler = PyObject_CallFunctionObjArgs(getsignal, number_of_interrupt, NULL);
    PyErr_Clear();
    Py_XDECREF(handler);
    return handler == default_int_handler;
}

// The handler runs on the stack of the thread: alternate stacks may have no room for it.
void interrupts_watch(Interrupts *interrupts, Stop *stop) {
    struct sigaction before, action = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO | SA_RESTART};
    action.sa_mask = handler_mask();
    *interrupts = (Interrupts){.stop = stop, .around = watched};
    if (interrupts->around != NULL) {
        interrupts->python = interrupts->around->python;
    }
    watched = interrupts;
    sigaction(SIGINT, &action, &before);
    interrupts->is_first = !is_ours(&before);
    if (interrupts->is_first) {
        interrupts->python = before;
    }
}

// A previous handler may have put the one before it in the place of ours, as LLVM's does before it raises the signal
// again: to restore it then would make it raise the signal for ever.
bool interrupts_unwatch(const Interrupts *interrupts) {
    struct sigaction now;
    if (interrupts->is_first && sigaction(SIGINT, NULL, &now) == 0 && is_ours(&now)) {
        sigaction(SIGINT, &interrupts->python, NULL);
    }
    watched = interrupts->around;
    return interrupts->came;
}

// In the child of a fork: its only thread is the main thread, and may not be the one that watches.
static void forget(void) {
    kind_of_thread = UNKNOWN;
    for (Interrupts *it = watched; it != NULL; it = it->around) {
        sigaction(SIGINT, &it->python, NULL);
    }
    watched = NULL;
}

bool interrupts_set_up(void) {
    PyObject *signals = PyImport_ImportModule("_signal");
    if (signals == NULL) {
        return false;
    }
    getsignal = PyObject_GetAttrString(signals, "getsignal");
    default_int_handler = PyObject_GetAttrString(signals, "default_int_handler");
    number_of_interrupt = PyObject_GetAttrString(signals, "SIGINT");
    Py_DECREF(signals);
    return pthread_atfork(NULL, NULL, forget) == 0 && getsignal != NULL && default_int_handler != NULL &&
           number_of_interrupt != NULL;
}
