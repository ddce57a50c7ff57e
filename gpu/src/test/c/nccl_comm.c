/* Communicators: making, splitting, shrinking, ending. */
#define _GNU_SOURCE
#include "nccl.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Comm *comms;
static __thread char thread_error[256];

Comm *comm_of(void *handle) {
  pthread_mutex_lock(&fake_lock);
  Comm *found = comms;
  while (found != NULL && found != handle) found = found->next;
  pthread_mutex_unlock(&fake_lock);
  return found;
}

void retain_comm(Comm *comm) {
  pthread_mutex_lock(&fake_lock);
  comm->references++;
  pthread_mutex_unlock(&fake_lock);
}

void release_comm(Comm *comm) {
  pthread_mutex_lock(&fake_lock);
  bool last = --comm->references == 0;
  pthread_mutex_unlock(&fake_lock);
  if (last) {
    close_region(comm->region);
    free(comm);
  }
}

ncclResult_t refuse(Comm *comm, ncclResult_t code, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(thread_error, sizeof thread_error, format, values);
  va_end(values);
  if (comm != NULL) memcpy(comm->last_error, thread_error, sizeof thread_error);
  return code;
}

const char *ncclGetLastError(void *handle) {
  Comm *comm = comm_of(handle);
  return comm != NULL && comm->last_error[0] != 0 ? comm->last_error : thread_error;
}

const char *ncclGetErrorString(int code) {
  static const char *texts[] = {"no error", "unhandled cuda error", "unhandled system error", "internal error",
      "invalid argument", "invalid usage", "remote process exited or there was a network error", "NCCL operation in progress"};
  return code >= 0 && code <= 7 ? texts[code] : "unknown result code";
}

int ncclGetVersion(int *version) {
  if (version == NULL) return ncclInvalidArgument;
  *version = NCCL_FAKE_VERSION;
  return ncclSuccess;
}

int ncclGetUniqueId(ncclUniqueId *id) { return id == NULL ? ncclInvalidArgument : create_region_id(id); }

ncclResult_t ensure_ready(Comm *comm) {
  if (comm == NULL) return refuse(NULL, ncclInvalidArgument, "not a communicator, or one that was destroyed");
  if (atomic_load(&comm->starting) > 0 || comm->unseen) {
    return refuse(comm, ncclInvalidArgument,
        "Attempt to use communicator before the previous operation returned ncclSuccess");
  }
  int error = atomic_load(&comm->error);
  if (error != 0) return refuse(comm, error, "the communicator has failed");
  return ncclSuccess;
}

ncclResult_t begun(Comm *comm) {
  if (comm->blocking) return ncclSuccess;
  comm->unseen = true;
  return ncclInProgress;
}

static void forget(Comm *comm) {
  pthread_mutex_lock(&fake_lock);
  Comm **link = &comms;
  while (*link != comm) link = &(*link)->next;
  *link = comm->next;
  fake_live[LIVE_COMMS]--;
  pthread_mutex_unlock(&fake_lock);
  release_comm(comm);
}

static uint64_t host_hash(void) {
  char name[256] = "";
  const char *id = getenv("NCCL_HOSTID");
  if (id != NULL) snprintf(name, sizeof name, "%s", id);
  else gethostname(name, sizeof name - 1);
  uint64_t hash = 5381;
  for (const char *c = name; *c != 0; c++) hash = hash * 33 + (unsigned char)*c;
  return hash;
}

/* With a reference for the user and one for the thread that makes it. */
static Comm *allocate_comm(int size, int rank, bool blocking, Context *context) {
  Comm *comm = calloc(1, sizeof *comm);
  comm->size = size;
  comm->rank = rank;
  comm->blocking = blocking;
  comm->context = context;
  comm->references = 2;
  atomic_store(&comm->starting, 1);
  pthread_mutex_lock(&fake_lock);
  comm->next = comms;
  comms = comm;
  fake_live[LIVE_COMMS]++;
  pthread_mutex_unlock(&fake_lock);
  return comm;
}

static bool given_up(Comm *comm, Comm *parent) {
  return atomic_load(&comm->dead) || (parent != NULL && atomic_load(&parent->dead));
}

/* Meets the other ranks; blocks until all are there or the communicator, or its parent, is aborted. */
static ncclResult_t join(Comm *comm, Comm *parent, const ncclUniqueId *id) {
  const char *absent = getenv("FAKE_NCCL_ABSENT");
  while (absent != NULL && (parent != NULL || strcmp(absent, "split") != 0)) {
    if (given_up(comm, parent)) return ncclInternalError;
    usleep(1000);
  }
  comm->region = open_region(id, comm->size);
  if (comm->region == NULL) {
    return refuse(comm, ncclSystemError, "the unique id is damaged, its process has ended, or ranks differ in their number");
  }
  if (!claim_rank(comm->region, comm->rank, host_hash(), comm->context->physical)) {
    return refuse(comm, ncclInvalidUsage, "rank %d has joined already", comm->rank);
  }
  while (ranks_joined(comm->region) < comm->size) {
    if (given_up(comm, parent)) return ncclInternalError;
    usleep(200);
  }
  int first, second;
  if (NCCL_FAKE_VERSION < 23003 && find_duplicate(comm->region, &first, &second)) {
    return refuse(comm, ncclInvalidUsage, "Duplicate GPU detected : rank %d and rank %d both on CUDA device %x", second,
        first, 0x1000 + (comm->context->physical << 12));
  }
  return ncclSuccess;
}

typedef struct {
  Comm *comm;
  ncclUniqueId id;
} Joining;

static void *run_joining(void *argument) {
  Joining *joining = argument;
  ncclResult_t result = join(joining->comm, NULL, &joining->id);
  if (result != ncclSuccess) atomic_store(&joining->comm->error, (int)result);
  atomic_fetch_sub(&joining->comm->starting, 1);
  release_comm(joining->comm);
  free(joining);
  return NULL;
}

static ncclResult_t init(void **out, int size, ncclUniqueId id, int rank, const Config *config) {
  if (out == NULL || size < 1 || size > MAX_RANKS || rank < 0 || rank >= size) {
    return refuse(NULL, ncclInvalidArgument, "rank %d of %d", rank, size);
  }
  Config own;
  if (!read_config(config, &own)) return refuse(NULL, ncclInvalidArgument, "ncclConfig_t is not initialized");
  if (!driver_ready) return refuse(NULL, ncclUnhandledCudaError, "Cuda failure 'initialization error'");
  Context *context = current_context() == NULL ? context_of(0) : current_context();
  bool blocking = own.blocking != 0;
  Comm *comm = allocate_comm(size, rank, blocking, context);
  Joining *joining = malloc(sizeof *joining);
  *joining = (Joining){comm, id};
  *out = comm;
  ncclResult_t result = start_making(comm, run_joining, joining);
  if (result != ncclSuccess && result != ncclInProgress) {
    memcpy(thread_error, comm->last_error, sizeof thread_error);
    *out = NULL;
    forget(comm);
  }
  return result;
}

int ncclCommInitRankConfig(void **out, int size, ncclUniqueId id, int rank, const Config *config) {
  return init(out, size, id, rank, config);
}

int ncclCommInitRank(void **out, int size, ncclUniqueId id, int rank) { return init(out, size, id, rank, NULL); }

#if NCCL_FAKE_VERSION >= 22300
int ncclCommInitRankScalable(void **out, int size, int rank, int ids, ncclUniqueId *id, const Config *config) {
  if (ids < 1 || id == NULL) return refuse(NULL, ncclInvalidArgument, "%d unique ids", ids);
  for (int i = 0; i < ids; i++) {
    if (memcmp(&id[i], "FAKENCC", 8) != 0) return refuse(NULL, ncclInvalidArgument, "unique id %d is none", i);
  }
  return init(out, size, id[0], rank, config);
}
#endif

/* ---- Communicators from communicators ----------------------------------------------------------- */
typedef struct {
  Comm *parent;
  void **out;
  bool shrink, blocking;
  int color, key;
  int excluded[MAX_RANKS], excluded_count;
} Making;

typedef struct { int color, key, rank; } Member;

static bool control(Comm *comm, Transfer *transfers, int count) {
  atomic_int unreachable = 0;
  return exchange(comm->region, comm->rank, CONTROL, transfers, count, &comm->dead, &unreachable) == EXCHANGED;
}

static int by_key(const void *a, const void *b) {
  const Member *x = a, *y = b;
  return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->rank - y->rank;
}

static bool all_gather_members(Comm *comm, Member mine, Member *members) {
  Transfer *transfers = calloc((size_t)comm->size * 2, sizeof *transfers);
  for (int peer = 0; peer < comm->size; peer++) {
    transfers[2 * peer] = (Transfer){.send = true, .peer = peer, .data = &mine, .bytes = sizeof mine, .tag = 1};
    transfers[2 * peer + 1] = (Transfer){.peer = peer, .data = &members[peer], .bytes = sizeof mine, .tag = 1};
  }
  bool done = control(comm, transfers, 2 * comm->size);
  free(transfers);
  return done;
}

/* Those who go with this rank, in their new order; 0 if it goes with none. */
static int choose_members(Making *making, Member *chosen) {
  Comm *parent = making->parent;
  int count = 0;
  if (making->shrink) {
    for (int rank = 0; rank < parent->size; rank++) {
      bool excluded = false;
      for (int i = 0; i < making->excluded_count; i++) excluded = excluded || making->excluded[i] == rank;
      if (!excluded) chosen[count++] = (Member){0, rank, rank};
    }
    return count;
  }
  Member *all = calloc((size_t)parent->size, sizeof *all);
  if (all_gather_members(parent, (Member){making->color, making->key, parent->rank}, all)) {
    for (int rank = 0; rank < parent->size; rank++) {
      if (all[rank].color == making->color && making->color >= 0) chosen[count++] = all[rank];
    }
    qsort(chosen, (size_t)count, sizeof *chosen, by_key);
  }
  free(all);
  return count;
}

/* The first of the members makes the id and sends it to the others. */
static bool agree_on_id(Comm *parent, const Member *members, int count, ncclUniqueId *id) {
  if (members[0].rank != parent->rank) {
    Transfer receive = {.peer = members[0].rank, .data = id, .bytes = sizeof *id, .tag = 2};
    return control(parent, &receive, 1);
  }
  if (create_region_id(id) != ncclSuccess) return false;
  Transfer *transfers = calloc((size_t)count, sizeof *transfers);
  for (int i = 1; i < count; i++) {
    transfers[i - 1] = (Transfer){.send = true, .peer = members[i].rank, .data = id, .bytes = sizeof *id, .tag = 2};
  }
  bool done = control(parent, transfers, count - 1);
  free(transfers);
  return done;
}

static void *run_making(void *argument) {
  Making *making = argument;
  Comm *parent = making->parent;
  Member *members = calloc((size_t)parent->size, sizeof *members);
  int count = choose_members(making, members);
  ncclResult_t result = atomic_load(&parent->dead) ? ncclInternalError : ncclSuccess;
  ncclUniqueId id;
  Comm *made = NULL;
  if (count > 0 && agree_on_id(parent, members, count, &id)) {
    int rank = 0;
    while (members[rank].rank != parent->rank) rank++;
    made = allocate_comm(count, rank, making->blocking, parent->context);
    result = join(made, parent, &id);
    if (result != ncclSuccess) atomic_store(&made->error, (int)result);
    atomic_fetch_sub(&made->starting, 1);
    release_comm(made);
  }
  /* Only now, also where it failed or there is none. */
  *making->out = made;
  if (result != ncclSuccess) atomic_store(&parent->error, (int)result);
  atomic_fetch_sub(&parent->starting, 1);
  release_comm(parent);
  free(members);
  free(making);
  return NULL;
}

static ncclResult_t make(Comm *parent, Making content, const Config *config) {
  Config own;
  if (!read_config(config, &own)) return refuse(parent, ncclInvalidArgument, "ncclConfig_t is not initialized");
  *content.out = NULL;
  content.parent = parent;
  content.blocking = own.blocking == INT_MIN ? parent->blocking : own.blocking != 0;
  Making *making = malloc(sizeof *making);
  *making = content;
  retain_comm(parent);
  atomic_fetch_add(&parent->starting, 1);
  return start_making(parent, run_making, making);
}

int ncclCommSplit(void *handle, int color, int key, void **out, const Config *config) {
  Comm *comm = comm_of(handle);
  ncclResult_t ready = ensure_ready(comm);
  if (ready != ncclSuccess) return ready;
  if (color < -1 || out == NULL) return refuse(comm, ncclInvalidArgument, "color %d", color);
  return make(comm, (Making){.out = out, .color = color, .key = key}, config);
}

#if NCCL_FAKE_VERSION >= 22700
/* flags 1: what is under way ends, undone; the parent may have failed. */
int ncclCommShrink(void *handle, int *excluded, int count, void **out, const Config *config, int flags) {
  Comm *comm = comm_of(handle);
  if (comm == NULL || (flags & 1) == 0) {
    ncclResult_t ready = ensure_ready(comm);
    if (ready != ncclSuccess) return ready;
  }
  if (out == NULL || count < 1 || count >= comm->size) return refuse(comm, ncclInvalidArgument, "%d excluded ranks", count);
  Making making = {.out = out, .shrink = true, .excluded_count = count};
  for (int i = 0; i < count; i++) {
    if (excluded[i] < 0 || excluded[i] >= comm->size || excluded[i] == comm->rank) {
      return refuse(comm, ncclInvalidArgument, "rank %d cannot be excluded by rank %d", excluded[i], comm->rank);
    }
    making.excluded[i] = excluded[i];
  }
  if ((flags & 1) != 0) atomic_store(&comm->stop, 1);
  return make(comm, making, config);
}

int ncclCommWindowRegister(void *handle, void *buffer, size_t bytes, void **window, int flags) {
  Comm *comm = comm_of(handle);
  (void)flags;
  if (comm == NULL || window == NULL || reach((uint64_t)(uintptr_t)buffer, bytes) == NULL) return ncclInvalidArgument;
  *window = buffer;
  return ncclSuccess;
}

int ncclCommWindowDeregister(void *handle, void *window) {
  return comm_of(handle) == NULL || window == NULL ? ncclInvalidArgument : ncclSuccess;
}
#endif

#if NCCL_FAKE_VERSION >= 22807
int ncclCommRevoke(void *handle, int flags) {
  Comm *comm = comm_of(handle);
  if (comm == NULL || flags != 0) return ncclInvalidArgument;
  atomic_store(&comm->stop, 1);
  return ncclSuccess;
}
#endif

/* ---- The end ----------------------------------------------------------------------------------------- */
static void await_operations(Comm *comm) {
  pthread_mutex_lock(&fake_lock);
  while (comm->completed < comm->submitted && !atomic_load(&comm->stop)) pthread_cond_wait(&fake_changed, &fake_lock);
  pthread_mutex_unlock(&fake_lock);
}

int ncclCommFinalize(void *handle) {
  Comm *comm = comm_of(handle);
  ncclResult_t ready = ensure_ready(comm);
  if (ready != ncclSuccess) return ready;
  await_operations(comm);
  return begun(comm);
}

int ncclCommDestroy(void *handle) {
  if (handle == NULL) return ncclSuccess;
  Comm *comm = comm_of(handle);
  if (comm == NULL) return ncclInvalidArgument;
  while (atomic_load(&comm->starting) > 0) usleep(200);
  await_operations(comm);
  if (comm->region != NULL) mark_left(comm->region, comm->rank);
  forget(comm);
  return ncclSuccess;
}

int ncclCommAbort(void *handle) {
  if (handle == NULL) return ncclSuccess;
  Comm *comm = comm_of(handle);
  if (comm == NULL) return ncclInvalidArgument;
  pthread_mutex_lock(&fake_lock);
  atomic_store(&comm->stop, 1);
  atomic_store(&comm->dead, 1);
  pthread_cond_broadcast(&fake_changed);
  pthread_mutex_unlock(&fake_lock);
  while (atomic_load(&comm->starting) > 0) usleep(200);
  if (comm->region != NULL) {
    mark_aborted(comm->region, comm->rank);
    mark_left(comm->region, comm->rank);
  }
  forget(comm);
  return ncclSuccess;
}

int ncclCommGetAsyncError(void *handle, int *error) {
  Comm *comm = comm_of(handle);
  if (comm == NULL || error == NULL) return ncclInvalidArgument;
  *error = atomic_load(&comm->error);
  if (*error == 0 && (atomic_load(&comm->starting) > 0 || comm->unseen)) *error = ncclInProgress;
  if (atomic_load(&comm->starting) == 0) comm->unseen = false;
  return ncclSuccess;
}

static ncclResult_t query(void *handle, int *out, bool device, bool size) {
  Comm *comm = comm_of(handle);
  if (out == NULL) return ncclInvalidArgument;
  ncclResult_t ready = ensure_ready(comm);
  if (ready != ncclSuccess) return ready;
  *out = device ? comm->context->ordinal : size ? comm->size : comm->rank;
  return ncclSuccess;
}

int ncclCommCount(void *handle, int *count) { return query(handle, count, false, true); }
int ncclCommCuDevice(void *handle, int *device) { return query(handle, device, true, false); }
int ncclCommUserRank(void *handle, int *rank) { return query(handle, rank, false, false); }

/* ---- Memory and operations of a communicator ----------------------------------------------------------- */
int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemFree_v2(uint64_t address);

int ncclMemAlloc(void **memory, size_t bytes) {
  uint64_t address;
  if (cuMemAlloc_v2(&address, bytes) != CUDA_SUCCESS) return ncclUnhandledCudaError;
  *memory = (void *)(uintptr_t)address;
  return ncclSuccess;
}

int ncclMemFree(void *memory) {
  return cuMemFree_v2((uint64_t)(uintptr_t)memory) == CUDA_SUCCESS ? ncclSuccess : ncclUnhandledCudaError;
}

int ncclCommRegister(void *handle, void *buffer, size_t bytes, void **registration) {
  Comm *comm = comm_of(handle);
  ncclResult_t ready = ensure_ready(comm);
  if (ready != ncclSuccess) return ready;
  if (registration == NULL || reach((uint64_t)(uintptr_t)buffer, bytes) == NULL) {
    return refuse(comm, ncclInvalidArgument, "the buffer is in no allocation");
  }
  *registration = buffer;
  return ncclSuccess;
}

int ncclCommDeregister(void *handle, void *registration) {
  return comm_of(handle) == NULL || registration == NULL ? ncclInvalidArgument : ncclSuccess;
}

/* residence 0: the factor lies on the device and is read when an operation runs; 1: it is read now. */
int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence, void *handle) {
  Comm *comm = comm_of(handle);
  ncclResult_t ready = ensure_ready(comm);
  if (ready != ncclSuccess) return ready;
  if (type < T_FLOAT16 || type > T_BFLOAT16 || residence < 0 || residence > 1 || scalar == NULL) {
    return refuse(comm, ncclInvalidArgument, "a factor of type %d", type);
  }
  for (int i = 0; i < MAX_SCALED_SUMS; i++) {
    if (comm->scaled[i].used) continue;
    comm->scaled[i] = (ScaledSum){.used = true, .type = (Type)type};
    if (residence == 0) comm->scaled[i].address = (uint64_t)(uintptr_t)scalar;
    else comm->scaled[i].factor = get_float((Type)type, scalar, 0);
    *op = FIRST_CUSTOM_OP + i;
    return ncclSuccess;
  }
  return ncclInternalError;
}

/* What is enqueued keeps its factor. */
int ncclRedOpDestroy(int op, void *handle) {
  Comm *comm = comm_of(handle);
  int index = op - FIRST_CUSTOM_OP;
  if (comm == NULL || index < 0 || index >= MAX_SCALED_SUMS || !comm->scaled[index].used) return ncclInvalidArgument;
  comm->scaled[index].used = false;
  return ncclSuccess;
}
