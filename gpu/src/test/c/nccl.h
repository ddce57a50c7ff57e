/* What the files of the fake NCCL share: see README.md. */
#pragma once

#include "fake.h"

#include <stdatomic.h>

#ifndef NCCL_FAKE_VERSION
#define NCCL_FAKE_VERSION 22809
#endif

typedef enum {
  ncclSuccess, ncclUnhandledCudaError, ncclSystemError, ncclInternalError, ncclInvalidArgument,
  ncclInvalidUsage, ncclRemoteError, ncclInProgress
} ncclResult_t;

typedef struct { char internal[128]; } ncclUniqueId;

enum { MAX_RANKS = 512, MAX_SCALED_SUMS = 32, FIRST_CUSTOM_OP = 5 };

/* ---- Shared memory of the ranks (nccl_region.c) --------------------------------------------------- */

/* Two planes between each two ranks: one for the operations on streams, one for the creation of communicators. */
typedef enum { OPERATIONS, CONTROL, PLANES } Plane;

typedef struct Region Region;

ncclResult_t create_region_id(ncclUniqueId *id);
/* Maps the region of an id for so many ranks; NULL if its process is gone or the number is another. */
Region *open_region(const ncclUniqueId *id, int size);
void close_region(Region *region);
/* False if the rank is taken. */
bool claim_rank(Region *region, int rank, uint64_t host_hash, int physical_device);
int ranks_joined(Region *region);
/* The lowest two ranks on one device of one host; false if there are none. */
bool find_duplicate(Region *region, int *first, int *second);
void mark_aborted(Region *region, int rank);
void mark_left(Region *region, int rank);

typedef struct {
  bool send;
  int peer;
  void *data;
  uint64_t bytes;
  uint64_t tag;     /* both sides must give the same */
  uint64_t moved;
  bool announced;   /* the header has passed */
  bool stuck;       /* the sides differ: never ends */
} Transfer;

typedef enum { EXCHANGED, STOPPED } Exchange;

/* Carries out transfers, those of one direction and peer in order. Ends early only when *stop; sets
 * *error to ncclRemoteError when a peer that it needs is gone, and goes on waiting. */
Exchange exchange(Region *region, int rank, Plane plane, Transfer *transfers, int count,
    const atomic_int *stop, atomic_int *error);

/* ---- Configuration (nccl_config.c) ---------------------------------------------------------------- */

/* ncclConfig_t as nccl.h of each version has it: it has grown at its end only. */
typedef struct {
  size_t size;
  unsigned magic, version;
  int blocking, cgaClusterSize, minCTAs, maxCTAs;
  const char *netName;
  int splitShare;
#if NCCL_FAKE_VERSION >= 22602
  int trafficClass;
#endif
#if NCCL_FAKE_VERSION >= 22700
  const char *commName;
  int collnetEnable, CTAPolicy, shrinkShare, nvlsCTAs;
#endif
#if NCCL_FAKE_VERSION >= 22800
  int nChannelsPerNetPeer, nvlinkCentricSched;
#endif
#if NCCL_FAKE_VERSION >= 22900
  int graphUsageMode, numRmaCtx;
#endif
#if NCCL_FAKE_VERSION >= 23003
  int maxP2pPeers;
#endif
#if NCCL_FAKE_VERSION >= 23005
  int graphStreamOrdering;
#endif
} Config;

/* What is not given, or given as INT_MIN or NULL, is so in the result. False where NCCL refuses it. */
bool read_config(const Config *given, Config *config);

/* ---- Communicators (nccl_comm.c) ------------------------------------------------------------------ */
typedef struct {
  bool used;
  Type type;
  double factor;
  uint64_t address;  /* of the factor on the device, or 0 */
} ScaledSum;

struct Comm {
  Region *region;
  int rank, size;
  Context *context;
  bool blocking;
  atomic_int stop;        /* operations end, undone */
  atomic_int dead;        /* making of communicators ends, too */
  atomic_int error;       /* the asynchronous one */
  atomic_int starting;    /* threads that make communicators from this one, or it */
  bool unseen;            /* a call has returned ncclInProgress and nobody has asked since */
  uint64_t submitted, completed;
  int references;
  long calls;
  ScaledSum scaled[MAX_SCALED_SUMS];
  char last_error[256];
  Comm *next;
};

/* NULL if the handle is none. */
Comm *comm_of(void *handle);
void retain_comm(Comm *comm);
void release_comm(Comm *comm);
/* ncclSuccess, or why the communicator cannot be used now. */
ncclResult_t ensure_ready(Comm *comm);
ncclResult_t refuse(Comm *comm, ncclResult_t code, const char *format, ...);
/* What a call returns that has begun something. */
ncclResult_t begun(Comm *comm);

/* ---- Groups (nccl_group.c) ------------------------------------------------------------------------ */
typedef enum { ALL_REDUCE, REDUCE, BROADCAST, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, GATHER, SCATTER, SEND, RECV } Kind;

typedef struct {
  Kind kind;
  Comm *comm;
  uint64_t send, receive;
  size_t count;
  Type type;
  int op, peer;      /* peer or root */
  ScaledSum scaled;  /* of a custom operation, as it was when the call was made */
  void *stream;
} Call;

/* At the end of the group, or at once outside of one. */
ncclResult_t enqueue(Call call);
/* Runs body(argument) on a thread; those of a group run together and are awaited at its end. */
ncclResult_t start_making(Comm *comm, void *(*body)(void *), void *argument);

/* ---- Collectives (nccl_collective.c) ---------------------------------------------------------------- */
typedef struct {
  Comm *comm;
  uint64_t index;
  int count;
  Call calls[];
} Job;

void run_job(void *job);
ncclResult_t check_call(const Call *call);
