/* nfs-walk: reads every file of a tree over NFS v3 or v4, as find and cat would on a mounted one.
 *
 *   nfs-walk [--stat | --tar] [--for SECONDS] nfs://SERVER/EXPORT[/PATH][?version=4&uid=0&gid=0]
 *
 * Depth first, files in the order the server lists them, up to four reads in flight. --stat asks
 * for the attributes of every file and reads none (what GNU tar does when the archive is
 * /dev/null); --tar writes a ustar archive to standard output. --for walks again and again until
 * the time is over. The last line, on standard output (standard error with --tar), also after
 * SIGTERM and SIGINT:
 *
 *   bytes N files N seconds S.SSS
 *
 * Bytes are those of file contents. Exit status 0 if everything was read, 1 after an error, 2 for
 * wrong usage. Nothing is forked.
 */
#include <sys/time.h> /* before libnfs, which forgets it */

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <nfsc/libnfs.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEPTH_MAX 64
#define CHUNK_MAX (256 << 10)
#define SLOTS 4
#define TAR_BLOCK 512

typedef enum { READ, STAT, TAR } Mode;

/* A read that was asked for, and its answer. */
typedef struct {
  char *bytes;
  size_t wanted;
  int got;
  bool waiting;
} Slot;

typedef struct {
  struct nfs_context *nfs;
  Mode mode;
  Slot slots[SLOTS];
  size_t chunk_size;
  double started, until; /* until: 0 without a limit */
  uint64_t bytes, files;
  bool failed;
} Walk;

static volatile sig_atomic_t stopped;

static void
stop(int number)
{
  (void)number;
  stopped = 1;
}

static double
now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool
is_over(const Walk *walk)
{
  return stopped || (walk->until > 0 && now() >= walk->until);
}

static void
complain(Walk *walk, const char *path, const char *what)
{
  fprintf(stderr, "nfs-walk: %s: %s: %s\n", path, what, nfs_get_error(walk->nfs));
  walk->failed = true;
}

static bool
put(Walk *walk, const void *bytes, size_t n)
{
  if (fwrite(bytes, 1, n, stdout) == n)
    return true;
  fprintf(stderr, "nfs-walk: standard output: %s\n", strerror(errno));
  walk->failed = true;
  stopped = 1;
  return false;
}

/* A ustar header; long paths are split at a slash into prefix and name. */
static bool
put_tar_header(Walk *walk, const char *path, const struct nfs_stat_64 *st)
{
  char block[TAR_BLOCK] = {0};
  const char *name = path;
  while (*name == '/')
    name++;
  size_t length = strlen(name), prefix = 0;
  if (length > 100) {
    for (size_t i = 1; i < length && i <= 155; i++)
      if (name[i] == '/' && length - i - 1 <= 100) {
        prefix = i;
        break;
      }
    if (prefix == 0) {
      fprintf(stderr, "nfs-walk: %s: name too long for the archive\n", path);
      walk->failed = true;
      return false;
    }
    memcpy(block + 345, name, prefix);
    name += prefix + 1;
  }
  memcpy(block, name, strlen(name));
  snprintf(block + 100, 8, "%07o", (unsigned)(st->nfs_mode & 07777));
  snprintf(block + 108, 8, "%07o", (unsigned)(st->nfs_uid & 07777777));
  snprintf(block + 116, 8, "%07o", (unsigned)(st->nfs_gid & 07777777));
  snprintf(block + 124, 12, "%011" PRIo64, st->nfs_size & 077777777777);
  snprintf(block + 136, 12, "%011" PRIo64, st->nfs_mtime & 077777777777);
  block[156] = '0';
  memcpy(block + 257, "ustar\00000", 8);
  memset(block + 148, ' ', 8);
  unsigned sum = 0;
  for (int i = 0; i < TAR_BLOCK; i++)
    sum += (unsigned char)block[i];
  snprintf(block + 148, 8, "%06o", sum);
  return put(walk, block, TAR_BLOCK);
}

static void
take_reply(int status, struct nfs_context *nfs, void *data, void *private)
{
  Slot *slot = private;
  (void)nfs;
  slot->got = status;
  slot->waiting = false;
  if (status > 0)
    memcpy(slot->bytes, data, (size_t)status);
}

/* Serves the connection until SLOT has its answer. */
static bool
wait_for(Walk *walk, const Slot *slot)
{
  while (slot->waiting) {
    struct pollfd pfd = {.fd = nfs_get_fd(walk->nfs), .events = (short)nfs_which_events(walk->nfs)};
    if (poll(&pfd, 1, -1) < 0 && errno != EINTR)
      return false;
    if (nfs_service(walk->nfs, pfd.revents) < 0)
      return false;
  }
  return true;
}

/* Hands the bytes of a file of SIZE on in order, SLOTS requests in flight. Returns how many came:
 * fewer if the file has become shorter, or after an error, which is told. */
static uint64_t
read_ahead(Walk *walk, struct nfsfh *file, const char *path, uint64_t size)
{
  uint64_t asked = 0, done = 0;
  unsigned first = 0, in_flight = 0;
  bool more = true;
  while (in_flight > 0 || (more && asked < size)) {
    while (more && in_flight < SLOTS && asked < size) {
      Slot *next = &walk->slots[(first + in_flight) % SLOTS];
      uint64_t left = size - asked;
      next->wanted = left < walk->chunk_size ? (size_t)left : walk->chunk_size;
      next->waiting = true;
      if (nfs_pread_async(walk->nfs, file, asked, next->wanted, take_reply, next) != 0) {
        complain(walk, path, "read");
        next->waiting = more = false;
        break;
      }
      asked += next->wanted;
      in_flight++;
    }
    if (in_flight == 0)
      break;
    Slot *slot = &walk->slots[first];
    if (!wait_for(walk, slot)) {
      /* The connection is lost for good, and with it the other answers. */
      complain(walk, path, "read");
      stopped = 1;
      return done;
    }
    first = (first + 1) % SLOTS;
    in_flight--;
    if (slot->got < 0 && more)
      complain(walk, path, "read");
    if (slot->got > 0 && more) {
      done += (uint64_t)slot->got;
      walk->bytes += (uint64_t)slot->got;
      more = walk->mode != TAR || put(walk, slot->bytes, (size_t)slot->got);
    }
    more = more && slot->got == (int)slot->wanted && !is_over(walk);
  }
  return done;
}

static void
read_file(Walk *walk, const char *path, const struct nfs_stat_64 *st)
{
  struct nfsfh *file;
  if (nfs_open(walk->nfs, path, O_RDONLY, &file) != 0) {
    complain(walk, path, "open");
    return;
  }
  if (walk->mode != TAR || put_tar_header(walk, path, st)) {
    uint64_t done = read_ahead(walk, file, path, st->nfs_size);
    static const char zeros[TAR_BLOCK];
    /* The header has promised a size. */
    for (uint64_t end = (st->nfs_size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
         walk->mode == TAR && !stopped && done < end;) {
      size_t n = end - done < TAR_BLOCK ? (size_t)(end - done) : TAR_BLOCK;
      put(walk, zeros, n);
      done += n;
    }
    walk->files++;
  }
  nfs_close(walk->nfs, file);
}

static void
visit_file(Walk *walk, const char *path, uint64_t size)
{
  struct nfs_stat_64 st = {.nfs_size = size};
  if (walk->mode != READ && nfs_lstat64(walk->nfs, path, &st) != 0) {
    complain(walk, path, "stat");
    return;
  }
  if (walk->mode == STAT)
    walk->files++;
  else
    read_file(walk, path, &st);
}

static void
visit_folder(Walk *walk, const char *path, int depth)
{
  struct nfsdir *folder;
  if (depth > DEPTH_MAX) {
    fprintf(stderr, "nfs-walk: %s: deeper than %d folders\n", path, DEPTH_MAX);
    walk->failed = true;
    return;
  }
  if (nfs_opendir(walk->nfs, path, &folder) != 0) {
    complain(walk, path, "list");
    return;
  }
  const struct nfsdirent *entry;
  while (!is_over(walk) && (entry = nfs_readdir(walk->nfs, folder)) != NULL) {
    char *inner;
    if (strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0)
      continue;
    if (asprintf(&inner, "%s/%s", strcmp(path, "/") == 0 ? "" : path, entry->name) < 0)
      abort();
    if (S_ISDIR(entry->mode))
      visit_folder(walk, inner, depth + 1);
    else if (S_ISREG(entry->mode))
      visit_file(walk, inner, entry->size);
    free(inner);
  }
  nfs_closedir(walk->nfs, folder);
}

static void
print_figures(const Walk *walk)
{
  fprintf(walk->mode == TAR ? stderr : stdout, "bytes %" PRIu64 " files %" PRIu64 " seconds %.3f\n",
          walk->bytes, walk->files, now() - walk->started);
}

/* libnfs names an NFSv4 client by its process number and the second it began: on machines that
 * count alike, the same. */
static void
set_client_name(struct nfs_context *nfs)
{
  unsigned char noise[8];
  char host[64] = "", name[128];
  if (getentropy(noise, sizeof noise) != 0 || gethostname(host, sizeof host - 1) != 0)
    return;
  snprintf(name, sizeof name, "nfs-walk %s %ld", host, (long)getpid());
  nfs4_set_client_name(nfs, name);
  nfs4_set_verifier(nfs, (const char *)noise);
}

static int
walk_url(Walk *walk, const char *text)
{
  walk->nfs = nfs_init_context();
  if (walk->nfs)
    set_client_name(walk->nfs);
  struct nfs_url *url = walk->nfs ? nfs_parse_url_dir(walk->nfs, text) : NULL;
  if (url == NULL) {
    fprintf(stderr, "nfs-walk: %s: %s\n", text,
            walk->nfs ? nfs_get_error(walk->nfs) : strerror(ENOMEM));
    nfs_destroy_context(walk->nfs);
    return 2;
  }
  if (nfs_mount(walk->nfs, url->server, url->path) != 0) {
    complain(walk, text, "mount");
  } else {
    uint64_t most = nfs_get_readmax(walk->nfs);
    walk->chunk_size = most > 0 && most < CHUNK_MAX ? (size_t)most : CHUNK_MAX;
    for (int i = 0; i < SLOTS; i++)
      if ((walk->slots[i].bytes = malloc(walk->chunk_size)) == NULL)
        abort();
    do
      visit_folder(walk, "/", 0);
    while (walk->until > 0 && !is_over(walk) && !walk->failed);
    static const char end[2 * TAR_BLOCK];
    if (walk->mode == TAR && !stopped)
      put(walk, end, sizeof end);
    for (int i = 0; i < SLOTS; i++)
      free(walk->slots[i].bytes);
  }
  print_figures(walk);
  nfs_destroy_url(url);
  nfs_destroy_context(walk->nfs);
  return walk->failed || fflush(stdout) != 0 ? 1 : 0;
}

static int
usage(void)
{
  fputs("usage: nfs-walk [--stat | --tar] [--for SECONDS] nfs://SERVER/EXPORT[?version=4]\n",
        stderr);
  return 2;
}

int
main(int argc, char **argv)
{
  static const struct option options[] = {{"stat", no_argument, NULL, 's'},
                                          {"tar", no_argument, NULL, 't'},
                                          {"for", required_argument, NULL, 'f'},
                                          {NULL, 0, NULL, 0}};
  Walk walk = {.started = now()};
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    char *end = NULL;
    if (option == 's')
      walk.mode = STAT;
    else if (option == 't')
      walk.mode = TAR;
    else if (option == 'f')
      walk.until = walk.started + strtod(optarg, &end);
    if (option == '?' || (end && (*end != '\0' || !(walk.until > walk.started))))
      return usage();
  }
  if (optind != argc - 1)
    return usage();
  struct sigaction action = {.sa_handler = stop};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  return walk_url(&walk, argv[optind]);
}
