/* Groups of calls, and how calls come onto streams. */
#include "nccl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  Comm *comm;
  void *(*body)(void *);
  void *argument;
} Start;

static __thread int depth;
static __thread Call *calls;
static __thread int call_count;
static __thread Start *starts;
static __thread int start_count;
static __thread ncclResult_t first_error;

static ncclResult_t await_start(Comm *comm) {
  if (!comm->blocking) return ncclInProgress;
  while (atomic_load(&comm->starting) > 0) usleep(200);
  return atomic_load(&comm->error);
}

ncclResult_t start_making(Comm *comm, void *(*body)(void *), void *argument) {
  if (depth > 0) {
    starts = realloc(starts, sizeof *starts * (size_t)(start_count + 1));
    starts[start_count++] = (Start){comm, body, argument};
    return ncclSuccess;
  }
  start_thread(body, argument);
  return await_start(comm);
}

/* Everything before on another stream of the same group comes first, and what comes after there waits. */
static void submit_job(Context *context, Job *job) {
  Stream *main = stream_of(context, job->calls[0].stream);
  for (int i = 1; i < job->count; i++) {
    Stream *other = stream_of(context, job->calls[i].stream);
    if (other == main) continue;
    Moment *before = submit_moment(other);
    submit_wait(main, before);
    pthread_mutex_lock(&fake_lock);
    release_moment(before);
    pthread_mutex_unlock(&fake_lock);
  }
  pthread_mutex_lock(&fake_lock);
  job->index = job->comm->submitted++;
  job->comm->references++;
  pthread_mutex_unlock(&fake_lock);
  Stream *others[64];
  int other_count = 0;
  for (int i = 1; i < job->count && other_count < 64; i++) {
    Stream *other = stream_of(context, job->calls[i].stream);
    if (other != main) others[other_count++] = other;
  }
  submit(main, run_job, job);
  if (other_count == 0) return;
  Moment *after = submit_moment(main);
  for (int i = 0; i < other_count; i++) submit_wait(others[i], after);
  pthread_mutex_lock(&fake_lock);
  release_moment(after);
  pthread_mutex_unlock(&fake_lock);
}

static ncclResult_t submit_calls(const Call *all, int count) {
  ncclResult_t result = ncclSuccess;
  for (int first = 0; first < count; first++) {
    Comm *comm = all[first].comm;
    bool seen = false;
    for (int i = 0; i < first; i++) seen = seen || all[i].comm == comm;
    if (seen) continue;
    Job *job = malloc(sizeof *job + sizeof(Call) * (size_t)(count - first));
    *job = (Job){.comm = comm};
    for (int i = first; i < count; i++) {
      if (all[i].comm == comm) job->calls[job->count++] = all[i];
    }
    submit_job(comm->context, job);
    ncclResult_t code = begun(comm);
    if (code != ncclSuccess) result = code;
  }
  return result;
}

ncclResult_t enqueue(Call call) {
  ncclResult_t code = ensure_ready(call.comm);
  if (code == ncclSuccess) code = check_call(&call);
  if (code != ncclSuccess) {
    if (depth > 0 && first_error == ncclSuccess) first_error = code;
    return code;
  }
  if (call.count == 0 && call.kind != SEND && call.kind != RECV) return ncclSuccess;
  if (depth == 0) return submit_calls(&call, 1);
  calls = realloc(calls, sizeof *calls * (size_t)(call_count + 1));
  calls[call_count++] = call;
  return ncclSuccess;
}

int ncclGroupStart(void) {
  depth++;
  return ncclSuccess;
}

int ncclGroupEnd(void) {
  if (depth == 0) return ncclInvalidUsage;
  if (--depth > 0) return ncclSuccess;
  ncclResult_t result = first_error;
  if (result == ncclSuccess) {
    for (int i = 0; i < start_count; i++) start_thread(starts[i].body, starts[i].argument);
    for (int i = 0; i < start_count; i++) {
      ncclResult_t code = await_start(starts[i].comm);
      if (code != ncclSuccess) result = code;
    }
    if (call_count > 0) result = submit_calls(calls, call_count);
  }
  free(calls);
  free(starts);
  calls = NULL;
  starts = NULL;
  call_count = 0;
  start_count = 0;
  first_error = ncclSuccess;
  return result;
}
