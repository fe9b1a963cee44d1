/* Fails the n-th call that writes to a file of some name, for LD_PRELOAD.

   FAIL_NAME  what the path of the file has to hold
   FAIL_AT    which call fails, from 1; 0 = none
   FAIL_COUNT a file to which one byte is written for every call
   FAIL_ERROR the error's number; the call fails once, those after it go well */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long calls;

static int fails(int file) {
    static __thread int busy;
    const char *name = getenv("FAIL_NAME");
    char link[64], path[4096];
    ssize_t length;
    int is_it = 0;
    if (busy || !name) return 0;
    busy = 1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    length = readlink(link, path, sizeof path - 1);
    if (length > 0) {
        path[length] = 0;
        if (strstr(path, name)) {
            const char *count = getenv("FAIL_COUNT"), *at = getenv("FAIL_AT");
            long number = __sync_add_and_fetch(&calls, 1);
            if (count) {
                int log = open(count, O_WRONLY | O_CREAT | O_APPEND, 0600);
                ssize_t (*put)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
                if (log >= 0) { if (put(log, ".", 1) < 0) calls += 0; close(log); }
            }
            is_it = at && number == atol(at);
        }
    }
    busy = 0;
    if (is_it) {
        const char *error = getenv("FAIL_ERROR");
        errno = error ? atoi(error) : EIO;
    }
    return is_it;
}

#define WRAP(kind, name, declared, passed)                        \
    kind name declared {                                          \
        static kind (*real) declared;                             \
        if (!real) real = dlsym(RTLD_NEXT, #name);                \
        if (fails(file)) return -1;                               \
        return real passed;                                       \
    }

WRAP(ssize_t, write, (int file, const void *data, size_t size), (file, data, size))
WRAP(ssize_t, pwrite, (int file, const void *data, size_t size, off_t at), (file, data, size, at))
WRAP(ssize_t, pwrite64, (int file, const void *data, size_t size, off64_t at), (file, data, size, at))
WRAP(int, ftruncate, (int file, off_t size), (file, size))
WRAP(int, ftruncate64, (int file, off64_t size), (file, size))
WRAP(int, fsync, (int file), (file))
WRAP(int, fdatasync, (int file), (file))
