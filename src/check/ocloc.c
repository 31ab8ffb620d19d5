/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ocloc ids NAME`: device IP versions, one a line, after a line that ends in "ids:".
 * Source: measured with ocloc 22.43 ("Matched ids:\n12.55.8\n"; exit 226 for an unknown name);
 * intel/compute-runtime shared/offline_compiler/source/ocloc_api.cpp.
 */
#include "check/ocloc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check/policy.h"
#include "image/image.h"

extern char **environ;

enum { MOST_OUTPUT = 64 * 1024 };

struct child {
    pid_t pid;
    int output; /* read end of its stdout */
    struct timespec end;
};

static enum devimg_status start(const char *program, const char *name, unsigned seconds,
                                struct child *out, struct devimg_error *err)
{
    int ends[2];
    char *const argv[] = { strdup(program), strdup("ids"), strdup(name), NULL };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int problem = argv[0] == NULL || argv[1] == NULL || argv[2] == NULL ? ENOMEM : 0;
    if (problem == 0 && pipe2(ends, O_CLOEXEC) != 0)
        problem = errno;
    if (problem == 0) {
        (void)posix_spawn_file_actions_init(&files);
        (void)posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        (void)posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
        (void)posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        (void)posix_spawnattr_init(&attributes);
        /* a group of its own: what it starts is stopped with it */
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        problem = posix_spawnp(&out->pid, program, &files, &attributes, argv, environ);
        (void)posix_spawnattr_destroy(&attributes);
        (void)posix_spawn_file_actions_destroy(&files);
        (void)close(ends[1]);
        out->output = ends[0];
        if (problem != 0)
            (void)close(ends[0]);
    }
    for (size_t i = 0; i < 3; i++)
        free(argv[i]);
    if (problem != 0)
        return dvi_fail_plain(err, DEVIMG_IO, program, "cannot be started: %s", strerror(problem));
    (void)clock_gettime(CLOCK_MONOTONIC, &out->end);
    out->end.tv_sec += (time_t)seconds;
    return DEVIMG_OK;
}

/* Milliseconds until the child's time is up, at least 0. */
static int time_left(const struct child *child)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const long long left = ((long long)child->end.tv_sec - now.tv_sec) * 1000 +
                           (child->end.tv_nsec - now.tv_nsec) / 1000000;
    return left <= 0 ? 0 : left > 3600000 ? 3600000 : (int)left;
}

/* Everything it prints, up to the room; false: its time is up. */
static bool read_output(const struct child *child, char *text, size_t room, size_t *size)
{
    char rest[4096] = "";
    *size = 0;
    for (;;) {
        struct pollfd wait = { .fd = child->output, .events = POLLIN };
        const int ready = poll(&wait, 1, time_left(child));
        if (ready == 0)
            return false;
        if (ready < 0 && errno == EINTR)
            continue;
        const bool keep = *size < room; /* what is past the room is read and dropped */
        const ssize_t got =
            read(child->output, keep ? text + *size : rest, keep ? room - *size : sizeof rest);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return true;
        if (keep)
            *size += (size_t)got;
        if (time_left(child) == 0)
            return false;
    }
}

/* Wait until it has ended, at most until its time is up; then stop it and its group. */
static int finish(const struct child *child, bool in_time)
{
    int status = 0;
    (void)close(child->output);
    while (in_time) {
        const pid_t ended = waitpid(child->pid, &status, WNOHANG);
        if (ended == child->pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        if ((ended < 0 && errno != EINTR) || time_left(child) == 0)
            break;
        const struct timespec pause = { .tv_nsec = 2000000 };
        (void)nanosleep(&pause, NULL);
    }
    (void)kill(-child->pid, SIGKILL);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return -1;
}

static enum devimg_status take_answer(struct dvi_view text, struct dvi_ocloc_answer *out,
                                      struct devimg_error *err)
{
    bool after_mark = false;
    struct dvi_view line = { 0 }, word = { 0 };
    while (dvi_next_line(&text, &line)) {
        while (dvi_next_field(&line, ' ', &word)) {
            uint64_t ip = 0;
            const bool is_ip = after_mark && dvi_ip_of_text(word, '.', &ip);
            if (is_ip && out->ip_count == DVI_MOST_IPS)
                return dvi_fail_plain(err, DEVIMG_LIMIT, text.source,
                                      "ids: answers with more than %d IP versions", DVI_MOST_IPS);
            if (is_ip)
                out->ips[out->ip_count++] = ip;
            after_mark = after_mark || dvi_ends_with(word, "ids:");
        }
    }
    return DEVIMG_OK;
}

enum devimg_status dvi_ocloc_ask(const char *program, const char *name, unsigned seconds,
                                 struct dvi_ocloc_answer *out, struct devimg_error *err)
{
    struct child child = { 0 };
    size_t size = 0;
    char *text = malloc(MOST_OUTPUT);
    if (text == NULL)
        return dvi_fail_memory(err, program);
    enum devimg_status st = start(program, name, seconds, &child, err);
    if (st == DEVIMG_OK) {
        *out = (struct dvi_ocloc_answer){ 0 };
        const bool in_time = read_output(&child, text, MOST_OUTPUT, &size);
        out->exit_code = finish(&child, in_time);
        out->timed_out = !in_time || (out->exit_code < 0 && time_left(&child) == 0);
        if (size == MOST_OUTPUT)
            st = dvi_fail_plain(err, DEVIMG_LIMIT, program, "ids %s: prints %d bytes or more", name,
                                MOST_OUTPUT);
        else if (out->exit_code == 0)
            st = take_answer(dvi_view_of(text, size, program), out, err);
    }
    free(text);
    return st;
}
