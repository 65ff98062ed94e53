/*
 * Stands between a program and glibc (LD_PRELOAD) and records what the program does to the files below one folder, so that
 * the state after a power cut can be computed: what was synced, and some of what was not. `power_cut/` of this crate reads
 * the record and computes that state.
 *
 * The kernel goes on when a process is killed, so the record itself is complete up to the moment of the kill. Every operation
 * is recorded before it is done, under one lock: at most the last one in the record was not done, or done in part. A sync is
 * recorded after it is done, with the length that the record had before it began: only what lies before that is durable by it.
 *
 * What is not recorded (mapped memory, calls that this file does not have, other processes) is not lost from sight: the reader
 * applies the whole record to the first state and refuses a result that differs from the files.
 *
 * Environment:
 *   POWER_CUT_FOLDER   the files below it are recorded; an absolute path without links
 *   POWER_CUT_RECORD   the file to append the record to, outside of that folder
 *   POWER_CUT_MOMENT   optional: "write:SUFFIX:N" kills the process at the Nth write to a file whose name ends with SUFFIX,
 *                      "sync:SUFFIX:N" before the Nth sync of one
 *   POWER_CUT_IGNORES_SYNC  optional: syncs do nothing and are not recorded, as by a disk that lies
 *   POWER_CUT_READ_ONLY     optional: while this file exists, every change of a recorded file fails with EROFS
 *   POWER_CUT_SYNC_FAILS    optional: while this file exists, every sync of a recorded file fails with EIO and syncs nothing
 *
 * A record: kind (1 byte), length of the path (4), number (8), length of the data (8), path below the folder, data.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kinds of records. The number is an offset, a size, or how long the record was before a sync began. */
enum kind { CREATE = 'c', WRITE = 'w', TRUNCATE = 't', SYNC = 's', RENAME = 'r', UNLINK = 'u', FOLDER = 'd', FAILED = 'x', MAPPED = 'm' };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];
static size_t folder_length;
static const char *read_only, *sync_fails;
static int record_file = -1;
static int ignores_sync;
static uint64_t record_length;
static struct { char what; char suffix[32]; long count; } moment;

#define REAL(result, name, ...) static result (*real_##name)(__VA_ARGS__)
REAL(int, open64, const char *, int, ...);
REAL(int, openat64, int, const char *, int, ...);
REAL(ssize_t, write, int, const void *, size_t);
REAL(ssize_t, writev, int, const struct iovec *, int);
REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
REAL(int, ftruncate64, int, off64_t);
REAL(int, fsync, int);
REAL(int, fdatasync, int);
REAL(int, rename, const char *, const char *);
REAL(int, unlink, const char *);
REAL(int, unlinkat, int, const char *, int);
REAL(int, mkdir, const char *, mode_t);
REAL(void *, mmap64, void *, size_t, int, int, int, off64_t);

/* Ends the program: a record with a hole would prove nothing. */
static void give_up(const char *why) {
    dprintf(2, "power cut: %s: %s\n", why, strerror(errno));
    _exit(97);
}

__attribute__((constructor)) static void begin(void) {
#define FIND(name) if (!(real_##name = dlsym(RTLD_NEXT, #name))) give_up(#name)
    FIND(open64); FIND(openat64); FIND(write); FIND(writev); FIND(pwrite64); FIND(ftruncate64); FIND(fsync); FIND(fdatasync);
    FIND(rename); FIND(unlink); FIND(unlinkat); FIND(mkdir); FIND(mmap64);
    const char *below = getenv("POWER_CUT_FOLDER"), *record = getenv("POWER_CUT_RECORD"), *cut = getenv("POWER_CUT_MOMENT");
    read_only = getenv("POWER_CUT_READ_ONLY");
    sync_fails = getenv("POWER_CUT_SYNC_FAILS");
    ignores_sync = getenv("POWER_CUT_IGNORES_SYNC") != NULL;
    if (!below || !record || !realpath(below, folder)) give_up("POWER_CUT_FOLDER and POWER_CUT_RECORD must be set");
    folder_length = strlen(folder);
    record_file = real_open64(record, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    struct stat64 status;
    if (record_file < 0 || fstat64(record_file, &status) != 0) give_up(record);
    record_length = status.st_size; /* of a process before this one */
    char what[8];
    if (cut && sscanf(cut, "%7[^:]:%31[^:]:%ld", what, moment.suffix, &moment.count) == 3) moment.what = what[0];
}

/* The path below the folder, or NULL. */
static const char *below_folder(const char *path) {
    if (strncmp(path, folder, folder_length) != 0) return NULL;
    if (path[folder_length] == 0) return ".";
    return path[folder_length] == '/' ? path + folder_length + 1 : NULL;
}

/* The path of an open file below the folder, or NULL. The kernel knows it after a rename too; what is unlinked has none. */
static const char *path_of(int fd, char *buffer) {
    struct stat64 status;
    if (folder_length == 0 || fd == record_file || fstat64(fd, &status) != 0) return NULL;
    if ((!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) || status.st_nlink == 0) return NULL;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, buffer, PATH_MAX - 1);
    if (length < 0) return NULL;
    buffer[length] = 0;
    return below_folder(buffer);
}

/* The same for a path as the program gives it; its last part need not exist. */
static const char *path_named(int at, const char *path, char *buffer) {
    if (folder_length == 0 || (path[0] != '/' && at != AT_FDCWD)) return NULL;
    char parent[PATH_MAX];
    const char *name = strrchr(path, '/');
    if (name == path || snprintf(parent, sizeof parent, "%.*s", name ? (int)(name - path) : 1, name ? path : ".") >= PATH_MAX) return NULL;
    name = name ? name + 1 : path;
    if (!realpath(parent, buffer) || strlen(buffer) + strlen(name) + 2 > PATH_MAX) return NULL;
    strcat(strcat(buffer, "/"), name);
    return below_folder(buffer);
}

/* Appends a record; the lock is held. */
static void append(enum kind kind, const char *path, uint64_t number, const struct iovec *pieces, int count, uint64_t length) {
    unsigned char head[21];
    uint32_t path_length = strlen(path);
    struct iovec parts[2 + 64] = {{head, sizeof head}, {(void *)path, path_length}};
    if (count > 64) give_up("too many pieces");
    head[0] = kind;
    memcpy(head + 1, &path_length, 4);
    memcpy(head + 5, &number, 8);
    memcpy(head + 13, &length, 8);
    if (count > 0) memcpy(parts + 2, pieces, count * sizeof *pieces);
    ssize_t expected = sizeof head + path_length + length;
    if (real_writev(record_file, parts, 2 + count) != expected) give_up("cannot write the record");
    record_length += expected;
}

/* Kills the process where its moment has come; the lock is held, so that nothing else happens. */
static void cut_at(char what, const char *path) {
    size_t length = strlen(path), suffix = strlen(moment.suffix);
    if (moment.what != what || length < suffix || strcmp(path + length - suffix, moment.suffix) != 0) return;
    if (--moment.count > 0) return;
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* The file system is read-only now; sets errno. */
static int refuses(void) {
    if (!read_only || access(read_only, F_OK) != 0) return 0;
    errno = EROFS;
    return 1;
}

/* Every function below returns what the real one does. `pieces` may be written at once or not at all. */
static ssize_t write_to(int fd, const char *path, const struct iovec *pieces, int count, off64_t at, int has_place) {
    struct stat64 status;
    uint64_t length = 0;
    for (int i = 0; i < count; i++) length += pieces[i].iov_len;
    pthread_mutex_lock(&lock);
    if (refuses()) {
        pthread_mutex_unlock(&lock);
        return -1;
    }
    off64_t place = at;
    if (!has_place) place = fcntl(fd, F_GETFL) & O_APPEND ? (fstat64(fd, &status) ? -1 : status.st_size) : lseek64(fd, 0, SEEK_CUR);
    append(WRITE, path, place, pieces, count, length);
    cut_at('w', path);
    ssize_t done = has_place ? real_pwrite64(fd, pieces[0].iov_base, pieces[0].iov_len, at) : real_writev(fd, pieces, count);
    int error = errno;
    if (done != (ssize_t)length) append(FAILED, path, 0, NULL, 0, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at) {
    char buffer[PATH_MAX];
    const char *path = path_of(fd, buffer);
    struct iovec piece = {(void *)data, length};
    return path ? write_to(fd, path, &piece, 1, at, 1) : real_pwrite64(fd, data, length, at);
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t at) { return pwrite64(fd, data, length, at); }

ssize_t write(int fd, const void *data, size_t length) {
    char buffer[PATH_MAX];
    const char *path = path_of(fd, buffer);
    struct iovec piece = {(void *)data, length};
    return path ? write_to(fd, path, &piece, 1, 0, 0) : real_write(fd, data, length);
}

ssize_t writev(int fd, const struct iovec *pieces, int count) {
    char buffer[PATH_MAX];
    const char *path = path_of(fd, buffer);
    return path ? write_to(fd, path, pieces, count, 0, 0) : real_writev(fd, pieces, count);
}

/* Records a change of names or sizes, and does it. */
#define CHANGE(path, kind, number, data, length, call) do {                                  \
        int result = -1, error;                                                              \
        struct iovec piece = {(void *)(data), (length)};                                     \
        pthread_mutex_lock(&lock);                                                           \
        if (!refuses()) {                                                                    \
            append(kind, path, number, &piece, 1, length);                                   \
            result = (call);                                                                 \
        }                                                                                    \
        error = errno;                                                                       \
        if (result != 0 && error != EROFS) append(FAILED, path, 0, NULL, 0, 0);              \
        pthread_mutex_unlock(&lock);                                                         \
        errno = error;                                                                       \
        return result;                                                                       \
    } while (0)

int ftruncate64(int fd, off64_t size) {
    char buffer[PATH_MAX];
    const char *path = path_of(fd, buffer);
    if (!path) return real_ftruncate64(fd, size);
    CHANGE(path, TRUNCATE, size, "", 0, real_ftruncate64(fd, size));
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int rename(const char *from, const char *to) {
    char from_buffer[PATH_MAX], to_buffer[PATH_MAX];
    const char *old = path_named(AT_FDCWD, from, from_buffer), *new = path_named(AT_FDCWD, to, to_buffer);
    if (!old || !new || access(from, F_OK) != 0) return real_rename(from, to);
    CHANGE(old, RENAME, 0, new, strlen(new), real_rename(from, to));
}

int unlink(const char *name) {
    char buffer[PATH_MAX];
    const char *path = path_named(AT_FDCWD, name, buffer);
    if (!path || access(name, F_OK) != 0) return real_unlink(name);
    CHANGE(path, UNLINK, 0, "", 0, real_unlink(name));
}

int unlinkat(int at, const char *name, int flags) {
    char buffer[PATH_MAX];
    const char *path = path_named(at, name, buffer);
    if (!path || faccessat(at, name, F_OK, 0) != 0) return real_unlinkat(at, name, flags);
    CHANGE(path, UNLINK, 0, "", 0, real_unlinkat(at, name, flags));
}

int mkdir(const char *name, mode_t mode) {
    char buffer[PATH_MAX];
    const char *path = path_named(AT_FDCWD, name, buffer);
    if (!path || access(name, F_OK) == 0) return real_mkdir(name, mode);
    CHANGE(path, FOLDER, 0, "", 0, real_mkdir(name, mode));
}

static int open_file(int at, const char *name, int flags, mode_t mode) {
    char buffer[PATH_MAX];
    const char *path = flags & (O_CREAT | O_TRUNC) ? path_named(at, name, buffer) : NULL;
    struct stat64 status;
    if (!path) return real_openat64(at, name, flags, mode);
    pthread_mutex_lock(&lock);
    int is_new = fstatat64(at, name, &status, 0) != 0;
    if (is_new && refuses()) {
        pthread_mutex_unlock(&lock);
        return -1;
    }
    if (is_new) append(CREATE, path, 0, NULL, 0, 0);
    else if (flags & O_TRUNC && !(flags & O_EXCL)) append(TRUNCATE, path, 0, NULL, 0, 0);
    int fd = real_openat64(at, name, flags, mode), error = errno;
    if (is_new && fd < 0) append(FAILED, path, 0, NULL, 0, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return fd;
}

#define MODE(flags) mode_t mode = 0; if ((flags) & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }
int open64(const char *name, int flags, ...) { MODE(flags) return open_file(AT_FDCWD, name, flags, mode); }
int open(const char *name, int flags, ...) { MODE(flags) return open_file(AT_FDCWD, name, flags, mode); }
int openat64(int at, const char *name, int flags, ...) { MODE(flags) return open_file(at, name, flags, mode); }
int openat(int at, const char *name, int flags, ...) { MODE(flags) return open_file(at, name, flags, mode); }

static int sync_file(int fd, int (*real)(int)) {
    char buffer[PATH_MAX];
    const char *path = path_of(fd, buffer);
    if (!path) return real(fd);
    if (ignores_sync) return 0;
    pthread_mutex_lock(&lock);
    cut_at('s', path);
    uint64_t before = record_length;
    int is_refused = refuses();
    if (!is_refused && sync_fails && access(sync_fails, F_OK) == 0) {
        errno = EIO;
        is_refused = 1;
    }
    pthread_mutex_unlock(&lock);
    if (is_refused) return -1;
    int result = real(fd), error = errno;
    pthread_mutex_lock(&lock);
    if (result == 0) append(SYNC, path, before, NULL, 0, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int fsync(int fd) { return sync_file(fd, real_fsync); }
int fdatasync(int fd) { return sync_file(fd, real_fdatasync); }

void *mmap64(void *where, size_t length, int protection, int flags, int fd, off64_t at) {
    char buffer[PATH_MAX];
    const char *path = fd >= 0 && protection & PROT_WRITE && flags & MAP_SHARED ? path_of(fd, buffer) : NULL;
    if (path) {
        pthread_mutex_lock(&lock);
        append(MAPPED, path, 0, NULL, 0, 0);
        pthread_mutex_unlock(&lock);
    }
    return real_mmap64(where, length, protection, flags, fd, at);
}
void *mmap(void *where, size_t length, int protection, int flags, int fd, off_t at) { return mmap64(where, length, protection, flags, fd, at); }
