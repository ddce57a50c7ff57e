/* The memory that the ranks of a communicator share: who is there, and a ring of bytes from each to
 * each. It is an anonymous file of the process that made the id, found through /proc. */
#define _GNU_SOURCE
#include "nccl.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  atomic_int process;  /* 0: has not joined yet */
  atomic_int aborted, left;
  uint64_t host_hash;
  int physical_device;
} RankState;

typedef struct {
  _Atomic uint64_t written, read;
  char bytes[];
} Ring;

typedef struct {
  atomic_int size;
  atomic_int joined;
  RankState ranks[MAX_RANKS];
} Header;

struct Region {
  Header *header;
  char *rings;
  int size;
  uint64_t mapped;
};

typedef struct {
  char magic[8];
  int32_t process, file;
  uint64_t nonce;
} Id;

/* Precedes the bytes of a transfer in a ring. */
typedef struct { uint64_t bytes, tag; } Announcement;

static uint64_t ring_bytes(int size) { return size <= 16 ? 65536 : 4096; }
static uint64_t header_bytes(void) { return (sizeof(Header) + 4095) & ~(uint64_t)4095; }
static uint64_t region_bytes(int size) {
  return header_bytes() + ring_bytes(size) * (uint64_t)size * (uint64_t)size * PLANES;
}

ncclResult_t create_region_id(ncclUniqueId *id) {
  int file = memfd_create("fake-nccl", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)header_bytes()) != 0) return ncclSystemError;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  Id content = {.magic = "FAKENCC", .process = getpid(), .file = file,
      .nonce = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec};
  memset(id, 0x5a, sizeof *id);  /* every byte must arrive */
  memcpy(id, &content, sizeof content);
  return ncclSuccess;
}

Region *open_region(const ncclUniqueId *id, int size) {
  Id content;
  memcpy(&content, id, sizeof content);
  for (size_t i = sizeof content; i < sizeof *id; i++) {
    if (id->internal[i] != 0x5a) return NULL;
  }
  if (memcmp(content.magic, "FAKENCC", 8) != 0) return NULL;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", content.process, content.file);
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return NULL;
  uint64_t bytes = region_bytes(size);
  void *memory = MAP_FAILED;
  if (ftruncate(file, (off_t)bytes) == 0) {
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  }
  close(file);
  if (memory == MAP_FAILED) return NULL;
  Region *region = malloc(sizeof *region);
  *region = (Region){.header = memory, .rings = (char *)memory + header_bytes(), .size = size, .mapped = bytes};
  int expected = 0;
  if (!atomic_compare_exchange_strong(&region->header->size, &expected, size) && expected != size) {
    close_region(region);
    return NULL;
  }
  return region;
}

void close_region(Region *region) {
  if (region == NULL) return;
  munmap(region->header, region->mapped);
  free(region);
}

bool claim_rank(Region *region, int rank, uint64_t host_hash, int physical_device) {
  RankState *state = &region->header->ranks[rank];
  int expected = 0;
  if (!atomic_compare_exchange_strong(&state->process, &expected, getpid())) return false;
  state->host_hash = host_hash;
  state->physical_device = physical_device;
  atomic_fetch_add(&region->header->joined, 1);
  return true;
}

int ranks_joined(Region *region) { return atomic_load(&region->header->joined); }

bool find_duplicate(Region *region, int *first, int *second) {
  for (int a = 0; a < region->size; a++) {
    for (int b = a + 1; b < region->size; b++) {
      RankState *x = &region->header->ranks[a], *y = &region->header->ranks[b];
      if (x->host_hash == y->host_hash && x->physical_device == y->physical_device) {
        *first = a;
        *second = b;
        return true;
      }
    }
  }
  return false;
}

void mark_aborted(Region *region, int rank) { atomic_store(&region->header->ranks[rank].aborted, 1); }
void mark_left(Region *region, int rank) { atomic_store(&region->header->ranks[rank].left, 1); }

/* A process that ended but was not collected by its parent is dead too. */
static bool process_lives(int process) {
  char path[64], text[256];
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  FILE *file = fopen(path, "r");
  if (file == NULL) return false;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = 0;
  const char *state = strrchr(text, ')');
  return state != NULL && state[1] == ' ' && state[2] != 'Z' && state[2] != 'X';
}

static bool is_gone(Region *region, int rank, Plane plane) {
  RankState *state = &region->header->ranks[rank];
  int process = atomic_load(&state->process);
  return atomic_load(&state->left) || (plane == OPERATIONS && atomic_load(&state->aborted)) ||
      (process != 0 && !process_lives(process));
}

static Ring *ring(Region *region, Plane plane, int from, int to) {
  uint64_t index = ((uint64_t)plane * (uint64_t)region->size + (uint64_t)from) * (uint64_t)region->size + (uint64_t)to;
  return (Ring *)(region->rings + index * ring_bytes(region->size));
}

static void ring_copy(Ring *ring, uint64_t capacity, uint64_t at, void *data, uint64_t bytes, bool in) {
  uint64_t offset = at % capacity;
  uint64_t first = bytes < capacity - offset ? bytes : capacity - offset;
  if (in) {
    memcpy(ring->bytes + offset, data, first);
    memcpy(ring->bytes, (char *)data + first, bytes - first);
  } else {
    memcpy(data, ring->bytes + offset, first);
    memcpy((char *)data + first, ring->bytes, bytes - first);
  }
}

/* True if something moved. */
static bool advance(Region *region, int rank, Plane plane, Transfer *t) {
  uint64_t capacity = ring_bytes(region->size) - sizeof(Ring);
  Ring *found = t->send ? ring(region, plane, rank, t->peer) : ring(region, plane, t->peer, rank);
  uint64_t written = atomic_load_explicit(&found->written, memory_order_acquire);
  uint64_t read = atomic_load_explicit(&found->read, memory_order_acquire);
  uint64_t available = t->send ? capacity - (written - read) : written - read;
  uint64_t at = t->send ? written : read;
  uint64_t moved = 0;
  if (t->stuck) return false;
  if (!t->announced) {
    Announcement announcement = {t->bytes, t->tag};
    if (available < sizeof announcement) return false;
    ring_copy(found, capacity, at, &announcement, sizeof announcement, t->send);
    if (!t->send && (announcement.bytes != t->bytes || announcement.tag != t->tag)) {
      t->stuck = true;
      return false;
    }
    t->announced = true;
    moved = sizeof announcement;
  }
  uint64_t bytes = t->bytes - t->moved < available - moved ? t->bytes - t->moved : available - moved;
  ring_copy(found, capacity, at + moved, (char *)t->data + t->moved, bytes, t->send);
  t->moved += bytes;
  moved += bytes;
  atomic_store_explicit(t->send ? &found->written : &found->read, at + moved, memory_order_release);
  return moved > 0;
}

static bool finished(const Transfer *t) { return t->announced && t->moved == t->bytes; }

/* True while an earlier transfer of the same direction and peer is still under way. */
static bool must_wait(const Transfer *transfers, int index) {
  for (int i = 0; i < index; i++) {
    if (transfers[i].send == transfers[index].send && transfers[i].peer == transfers[index].peer &&
        !finished(&transfers[i])) {
      return true;
    }
  }
  return false;
}

Exchange exchange(Region *region, int rank, Plane plane, Transfer *transfers, int count,
    const atomic_int *stop, atomic_int *error) {
  for (long idle = 0;;) {
    bool all = true, moved = false;
    for (int i = 0; i < count; i++) {
      if (finished(&transfers[i])) continue;
      if (!must_wait(transfers, i)) moved = advance(region, rank, plane, &transfers[i]) || moved;
      all = all && finished(&transfers[i]);
    }
    if (all) return EXCHANGED;
    if (atomic_load(stop)) return STOPPED;
    idle = moved ? 0 : idle + 1;
    if (idle > 200) usleep(100);
    else if (idle > 0) sched_yield();
    if (idle > 200 && idle % 100 == 0 && atomic_load(error) == 0) {
      for (int i = 0; i < count; i++) {
        if (!finished(&transfers[i]) && is_gone(region, transfers[i].peer, plane)) atomic_store(error, ncclRemoteError);
      }
    }
  }
}
