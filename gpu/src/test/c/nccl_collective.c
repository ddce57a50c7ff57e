/* The collectives: every rank sends to those that need its bytes, and reduces in the order of the
 * ranks, so that all have the same bits. */
#include "nccl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 1 << 16 };  /* elements of a reduction at a time */

static bool reduces(Kind kind) { return kind == ALL_REDUCE || kind == REDUCE || kind == REDUCE_SCATTER; }
static bool has_peer(Kind kind) {
  return kind == REDUCE || kind == BROADCAST || kind == GATHER || kind == SCATTER || kind == SEND || kind == RECV;
}

/* Bytes that a call reads and writes on its rank. */
static uint64_t send_bytes(const Call *c) {
  uint64_t bytes = c->count * type_bytes(c->type), all = bytes * (uint64_t)c->comm->size;
  bool root = c->comm->rank == c->peer;
  switch (c->kind) {
    case RECV: return 0;
    case BROADCAST: return root ? bytes : 0;
    case SCATTER: return root ? all : 0;
    case REDUCE_SCATTER: case ALL_TO_ALL: return all;
    default: return bytes;
  }
}

static uint64_t receive_bytes(const Call *c) {
  uint64_t bytes = c->count * type_bytes(c->type), all = bytes * (uint64_t)c->comm->size;
  bool root = c->comm->rank == c->peer;
  switch (c->kind) {
    case SEND: return 0;
    case REDUCE: return root ? bytes : 0;
    case GATHER: return root ? all : 0;
    case ALL_GATHER: case ALL_TO_ALL: return all;
    default: return bytes;
  }
}

ncclResult_t check_call(const Call *c) {
  if ((int)c->type < 0 || c->type > T_FLOAT8_E5M2) return refuse(c->comm, ncclInvalidArgument, "data type %d", (int)c->type);
  if (has_peer(c->kind) && (c->peer < 0 || c->peer >= c->comm->size)) {
    return refuse(c->comm, ncclInvalidArgument, "peer or root %d of %d ranks", c->peer, c->comm->size);
  }
  if (reduces(c->kind) && (c->op < 0 || (c->op >= FIRST_CUSTOM_OP && !c->scaled.used) ||
          (c->op >= FIRST_CUSTOM_OP && c->scaled.type != c->type))) {
    return refuse(c->comm, ncclInvalidArgument, "operation %d", c->op);
  }
  if ((send_bytes(c) > 0 && reach(c->send, send_bytes(c)) == NULL) ||
      (receive_bytes(c) > 0 && reach(c->receive, receive_bytes(c)) == NULL)) {
    return refuse(c->comm, ncclInvalidArgument, "a buffer is not all in memory of a device");
  }
  if (stream_of(c->comm->context, c->stream) == NULL) return refuse(c->comm, ncclInvalidArgument, "not a stream of the device");
  return ncclSuccess;
}

/* ---- On the stream's thread ------------------------------------------------------------------------- */
static void hang(Comm *comm) {
  while (!atomic_load(&comm->stop)) usleep(500);
}

static bool carry(Comm *comm, Transfer *transfers, int count) {
  return exchange(comm->region, comm->rank, OPERATIONS, transfers, count, &comm->stop, &comm->error) == EXCHANGED;
}

static uint64_t tag(const Call *c) { return (uint64_t)c->kind << 32 | (uint64_t)(has_peer(c->kind) && c->kind < SEND ? c->peer : 0); }

static Transfer sending(const Call *c, int peer, const char *data, uint64_t bytes) {
  return (Transfer){.send = true, .peer = peer, .data = (void *)(uintptr_t)data, .bytes = bytes, .tag = tag(c)};
}

static Transfer receiving(const Call *c, int peer, char *data, uint64_t bytes) {
  return (Transfer){.peer = peer, .data = data, .bytes = bytes, .tag = tag(c)};
}

/* A copy of elements, each times this rank's factor if the operation has one. */
static void scaled_copy(const Call *c, char *target, const char *source, size_t count) {
  memcpy(target, source, count * type_bytes(c->type));
  if (c->op < FIRST_CUSTOM_OP) return;
  double factor = c->scaled.factor;
  if (c->scaled.address != 0) {
    const void *scalar = reach_or_fail(c->comm->context, c->scaled.address, type_bytes(c->type));
    if (scalar == NULL) return;
    factor = get_float(c->type, scalar, 0);
  }
  for (size_t i = 0; i < count; i++) set_float(c->type, target, i, get_float(c->type, target, i) * factor);
}

/* Reduces the elements from ... from + count of what each rank gets. */
static bool reduce_chunk(const Call *c, const char *send, char *receive, size_t from, size_t count) {
  Comm *comm = c->comm;
  size_t width = type_bytes(c->type), bytes = count * width;
  int size = comm->size;
  bool scattered = c->kind == REDUCE_SCATTER;
  bool wanted = c->kind != REDUCE || comm->rank == c->peer;
  char *mine = malloc(bytes * (size_t)(scattered ? size : 1)), *theirs = malloc(bytes * (size_t)size);
  Transfer *transfers = malloc(sizeof *transfers * (size_t)size * 2);
  int transfer_count = 0;
  if (!scattered) scaled_copy(c, mine, send + from * width, count);
  for (int peer = 0; peer < size; peer++) {
    if (scattered) scaled_copy(c, mine + (size_t)peer * bytes, send + ((size_t)peer * c->count + from) * width, count);
    const char *part = scattered ? mine + (size_t)peer * bytes : mine;
    if (c->kind != REDUCE || peer == c->peer) transfers[transfer_count++] = sending(c, peer, part, bytes);
    if (wanted) transfers[transfer_count++] = receiving(c, peer, theirs + (size_t)peer * bytes, bytes);
  }
  bool done = carry(comm, transfers, transfer_count);
  if (done && wanted) {
    const void *inputs[MAX_RANKS];
    for (int peer = 0; peer < size; peer++) inputs[peer] = theirs + (size_t)peer * bytes;
    reduce_elements(c->type, c->op < FIRST_CUSTOM_OP ? (Op)c->op : O_SUM, receive + from * width, inputs, size, count, size);
  }
  free(transfers);
  free(theirs);
  free(mine);
  return done;
}

static bool run_moves(const Call *c, const char *send, char *receive) {
  Comm *comm = c->comm;
  uint64_t bytes = c->count * type_bytes(c->type);
  bool root = comm->rank == c->peer;
  Transfer *transfers = malloc(sizeof *transfers * (size_t)comm->size * 2);
  int count = 0;
  for (int peer = 0; peer < comm->size; peer++) {
    uint64_t offset = (uint64_t)peer * bytes;
    bool from_peer = peer == c->peer;
    switch (c->kind) {
      case BROADCAST:
        if (root) transfers[count++] = sending(c, peer, send, bytes);
        if (from_peer) transfers[count++] = receiving(c, peer, receive, bytes);
        break;
      case SCATTER:
        if (root) transfers[count++] = sending(c, peer, send + offset, bytes);
        if (from_peer) transfers[count++] = receiving(c, peer, receive, bytes);
        break;
      case GATHER:
        if (from_peer) transfers[count++] = sending(c, peer, send, bytes);
        if (root) transfers[count++] = receiving(c, peer, receive + offset, bytes);
        break;
      case ALL_GATHER:
        transfers[count++] = sending(c, peer, send, bytes);
        transfers[count++] = receiving(c, peer, receive + offset, bytes);
        break;
      default:  /* ALL_TO_ALL */
        transfers[count++] = sending(c, peer, send + offset, bytes);
        transfers[count++] = receiving(c, peer, receive + offset, bytes);
    }
  }
  bool done = carry(comm, transfers, count);
  free(transfers);
  return done;
}

static bool reachable(const Call *c, char **send, char **receive) {
  Context *context = c->comm->context;
  *send = send_bytes(c) == 0 ? (char *)c : reach_or_fail(context, c->send, send_bytes(c));
  *receive = receive_bytes(c) == 0 ? (char *)c : reach_or_fail(context, c->receive, receive_bytes(c));
  return *send != NULL && *receive != NULL;
}

static bool run_collective(const Call *c) {
  char *send, *receive;
  if (!reachable(c, &send, &receive)) return false;
  if (!reduces(c->kind)) return run_moves(c, send, receive);
  for (size_t from = 0; from < c->count; from += CHUNK) {
    size_t count = c->count - from < CHUNK ? c->count - from : CHUNK;
    if (!reduce_chunk(c, send, receive, from, count)) return false;
  }
  return true;
}

/* All of a group go on together: their order does not matter but between the same two ranks. */
static bool run_messages(const Job *job) {
  Transfer *transfers = malloc(sizeof *transfers * (size_t)job->count);
  int count = 0;
  bool done = true;
  for (int i = 0; i < job->count && done; i++) {
    const Call *c = &job->calls[i];
    if (c->kind != SEND && c->kind != RECV) continue;
    char *send, *receive;
    done = reachable(c, &send, &receive);
    uint64_t bytes = c->count * type_bytes(c->type);
    Transfer transfer = c->kind == SEND ? sending(c, c->peer, send, bytes) : receiving(c, c->peer, receive, bytes);
    transfer.tag = (uint64_t)SEND << 32;
    transfers[count++] = transfer;
  }
  done = done && (count == 0 || carry(job->comm, transfers, count));
  free(transfers);
  return done;
}

/* FAKE_NCCL_HANG_AFTER and FAKE_NCCL_ERROR_AFTER: whether the job's operations may run. */
static bool may_run(Comm *comm, int operations) {
  long before = comm->calls;
  comm->calls += operations;
  const char *error = getenv("FAKE_NCCL_ERROR_AFTER");
  if (error != NULL && before >= strtol(error, NULL, 10)) {
    const char *code = strchr(error, '=');
    atomic_store(&comm->error, code == NULL ? ncclSystemError : atoi(code + 1));
    return false;
  }
  long hang_after = environment("FAKE_NCCL_HANG_AFTER", -1);
  return hang_after < 0 || before < hang_after;
}

/* The operations of a communicator run in the order in which they were enqueued, on whatever streams. */
void run_job(void *argument) {
  Job *job = argument;
  Comm *comm = job->comm;
  pthread_mutex_lock(&fake_lock);
  while (comm->completed < job->index && !atomic_load(&comm->stop)) pthread_cond_wait(&fake_changed, &fake_lock);
  pthread_mutex_unlock(&fake_lock);
  if (!atomic_load(&comm->stop)) {
    if (may_run(comm, job->count)) {
      bool done = true;
      for (int i = 0; i < job->count && done; i++) {
        if (job->calls[i].kind != SEND && job->calls[i].kind != RECV) done = run_collective(&job->calls[i]);
      }
      if (done) run_messages(job);
    } else {
      hang(comm);
    }
  }
  pthread_mutex_lock(&fake_lock);
  comm->completed++;
  pthread_cond_broadcast(&fake_changed);
  pthread_mutex_unlock(&fake_lock);
  release_comm(comm);
}

/* ---- The functions of NCCL ---------------------------------------------------------------------------- */
static ncclResult_t call(Kind kind, const void *send, void *receive, size_t count, int type, int op, int peer,
    void *handle, void *stream) {
  Call c = {.kind = kind, .comm = comm_of(handle), .send = (uint64_t)(uintptr_t)send, .receive = (uint64_t)(uintptr_t)receive,
      .count = count, .type = (Type)type, .op = op, .peer = peer, .stream = stream};
  if (c.comm != NULL && op >= FIRST_CUSTOM_OP && op < FIRST_CUSTOM_OP + MAX_SCALED_SUMS) {
    c.scaled = c.comm->scaled[op - FIRST_CUSTOM_OP];
  }
  return enqueue(c);
}

int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, void *comm, void *stream) {
  return call(ALL_REDUCE, send, receive, count, type, op, 0, comm, stream);
}
int ncclReduce(const void *send, void *receive, size_t count, int type, int op, int root, void *comm, void *stream) {
  return call(REDUCE, send, receive, count, type, op, root, comm, stream);
}
int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, void *comm, void *stream) {
  return call(BROADCAST, send, receive, count, type, 0, root, comm, stream);
}
int ncclBcast(void *buffer, size_t count, int type, int root, void *comm, void *stream) {
  return call(BROADCAST, buffer, buffer, count, type, 0, root, comm, stream);
}
int ncclAllGather(const void *send, void *receive, size_t count, int type, void *comm, void *stream) {
  return call(ALL_GATHER, send, receive, count, type, 0, 0, comm, stream);
}
int ncclReduceScatter(const void *send, void *receive, size_t count, int type, int op, void *comm, void *stream) {
  return call(REDUCE_SCATTER, send, receive, count, type, op, 0, comm, stream);
}
int ncclSend(const void *send, size_t count, int type, int peer, void *comm, void *stream) {
  return call(SEND, send, NULL, count, type, 0, peer, comm, stream);
}
int ncclRecv(void *receive, size_t count, int type, int peer, void *comm, void *stream) {
  return call(RECV, NULL, receive, count, type, 0, peer, comm, stream);
}
#if NCCL_FAKE_VERSION >= 22803
int ncclAlltoAll(const void *send, void *receive, size_t count, int type, void *comm, void *stream) {
  return call(ALL_TO_ALL, send, receive, count, type, 0, 0, comm, stream);
}
int ncclGather(const void *send, void *receive, size_t count, int type, int root, void *comm, void *stream) {
  return call(GATHER, send, receive, count, type, 0, root, comm, stream);
}
int ncclScatter(const void *send, void *receive, size_t count, int type, int root, void *comm, void *stream) {
  return call(SCATTER, send, receive, count, type, 0, root, comm, stream);
}
#endif
