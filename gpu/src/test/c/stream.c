/* Streams, each with a thread that works off its queue, and events. */
#define _GNU_SOURCE
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct Item {
  Operation operation;
  void *argument;
  Moment *reached;  /* of a record */
  Moment *awaited;  /* of a wait */
  struct Item *next;
} Item;

enum { NON_BLOCKING = 1, DISABLE_TIMING = 2 };

static Stream *streams;
static uint64_t next_id = 1;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void release_moment(Moment *moment) {
  if (moment != NULL && --moment->references == 0) free(moment);
}

static void *work_off(void *argument) {
  Stream *stream = argument;
  long delay = environment("FAKE_CUDA_DELAY_MICROS", 0);
  pthread_mutex_lock(&fake_lock);
  while (true) {
    Item *item = stream->first;
    if (item == NULL) {
      if (stream->closing) break;
      pthread_cond_wait(&fake_changed, &fake_lock);
      continue;
    }
    if (item->awaited != NULL) {
      while (!item->awaited->done) pthread_cond_wait(&fake_changed, &fake_lock);
    }
    pthread_mutex_unlock(&fake_lock);
    if (item->operation != NULL) {
      if (delay > 0) usleep((useconds_t)delay);
      /* Nothing runs any more in a context that failed. */
      if (stream->context->failed == 0) item->operation(item->argument);
      free(item->argument);
    }
    pthread_mutex_lock(&fake_lock);
    if (item->reached != NULL) {
      item->reached->done = true;
      item->reached->seconds = now();
      release_moment(item->reached);
    }
    release_moment(item->awaited);
    stream->first = item->next;
    if (stream->first == NULL) stream->last = NULL;
    stream->completed++;
    free(item);
    pthread_cond_broadcast(&fake_changed);
  }
  Stream **link = &streams;
  while (*link != stream) link = &(*link)->next;
  *link = stream->next;
  pthread_mutex_unlock(&fake_lock);
  free(stream);
  return NULL;
}

/* Under the lock. */
static Stream *create(Context *context, unsigned flags, int priority) {
  Stream *stream = calloc(1, sizeof *stream);
  *stream = (Stream){.context = context, .flags = flags, .priority = priority, .id = next_id++, .next = streams};
  streams = stream;
  start_thread(work_off, stream);
  return stream;
}

Stream *stream_of(Context *context, void *handle) {
  pthread_mutex_lock(&fake_lock);
  Stream *found = NULL;
  if ((uintptr_t)handle <= 2) {
    if (context->null_stream == NULL) context->null_stream = create(context, 0, 0);
    found = context->null_stream;
  } else {
    for (Stream *each = streams; each != NULL; each = each->next) {
      if (each == handle && !each->closing) found = each;
    }
  }
  pthread_mutex_unlock(&fake_lock);
  return found;
}

static void append(Stream *stream, Item content) {
  Item *item = malloc(sizeof *item);
  *item = content;
  if (stream->last == NULL) stream->first = item;
  else stream->last->next = item;
  stream->last = item;
  stream->submitted++;
  pthread_cond_broadcast(&fake_changed);
}

static void append_wait_for(Stream *stream, Stream *other) {
  if (other->submitted == other->completed) return;
  Moment *moment = calloc(1, sizeof *moment);
  moment->references = 2;
  append(other, (Item){.reached = moment});
  append(stream, (Item){.awaited = moment});
}

/* The default stream and the blocking ones wait for each other. */
static void append_in_order(Stream *stream, Item content) {
  Context *context = stream->context;
  if (stream == context->null_stream) {
    for (Stream *each = streams; each != NULL; each = each->next) {
      if (each != stream && each->context == context && (each->flags & NON_BLOCKING) == 0 && !each->closing) {
        append_wait_for(stream, each);
      }
    }
  } else if ((stream->flags & NON_BLOCKING) == 0 && context->null_stream != NULL) {
    append_wait_for(stream, context->null_stream);
  }
  append(stream, content);
}

void submit(Stream *stream, Operation operation, void *argument) {
  pthread_mutex_lock(&fake_lock);
  append_in_order(stream, (Item){.operation = operation, .argument = argument});
  pthread_mutex_unlock(&fake_lock);
}

/* With two references: the caller's and the queue's. */
Moment *submit_moment(Stream *stream) {
  Moment *moment = calloc(1, sizeof *moment);
  moment->references = 2;
  pthread_mutex_lock(&fake_lock);
  append_in_order(stream, (Item){.reached = moment});
  pthread_mutex_unlock(&fake_lock);
  return moment;
}

void submit_wait(Stream *stream, Moment *moment) {
  pthread_mutex_lock(&fake_lock);
  moment->references++;
  append_in_order(stream, (Item){.awaited = moment});
  pthread_mutex_unlock(&fake_lock);
}

/* Of what was submitted until now; the stream must not be destroyed meanwhile. */
static void synchronize_locked(Stream *stream) {
  uint64_t until = stream->submitted;
  while (stream->completed < until) pthread_cond_wait(&fake_changed, &fake_lock);
}

void synchronize(Stream *stream) {
  pthread_mutex_lock(&fake_lock);
  synchronize_locked(stream);
  pthread_mutex_unlock(&fake_lock);
}

void synchronize_context(Context *context) {
  pthread_mutex_lock(&fake_lock);
  bool idle;
  do {
    idle = true;
    for (Stream *each = streams; each != NULL && idle; each = each->next) {
      idle = each->context != context || each->submitted == each->completed;
    }
    if (!idle) pthread_cond_wait(&fake_changed, &fake_lock);
  } while (!idle);
  pthread_mutex_unlock(&fake_lock);
}

bool is_idle(Stream *stream) {
  pthread_mutex_lock(&fake_lock);
  bool idle = stream->submitted == stream->completed;
  pthread_mutex_unlock(&fake_lock);
  return idle;
}

int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
  ENTER_CONTEXT(context);
  if (flags > NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&fake_lock);
  *stream = create(context, flags, priority > 0 ? 0 : priority < -5 ? -5 : priority);
  fake_live[LIVE_STREAMS]++;
  pthread_mutex_unlock(&fake_lock);
  return CUDA_SUCCESS;
}

int cuStreamCreate(void **stream, unsigned flags) { return cuStreamCreateWithPriority(stream, flags, 0); }

#define STREAM(stream, handle)                       \
  ENTER_CONTEXT(context);                            \
  Stream *stream = stream_of(context, handle);       \
  if (stream == NULL) return CUDA_ERROR_INVALID_HANDLE

int cuStreamDestroy_v2(void *handle) {
  STREAM(stream, handle);
  if (stream == stream->context->null_stream) return CUDA_ERROR_INVALID_HANDLE;
  pthread_mutex_lock(&fake_lock);
  stream->closing = true;
  fake_live[LIVE_STREAMS]--;
  pthread_cond_broadcast(&fake_changed);
  pthread_mutex_unlock(&fake_lock);
  return CUDA_SUCCESS;
}

int cuStreamSynchronize(void *handle) {
  STREAM(stream, handle);
  synchronize(stream);
  return context->failed;
}

int cuStreamQuery(void *handle) {
  STREAM(stream, handle);
  return is_idle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

int cuStreamGetPriority(void *handle, int *priority) {
  STREAM(stream, handle);
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

int cuStreamGetFlags(void *handle, unsigned *flags) {
  STREAM(stream, handle);
  *flags = stream->flags;
  return CUDA_SUCCESS;
}

int cuStreamGetId(void *handle, unsigned long long *id) {
  STREAM(stream, handle);
  *id = stream->id;
  return CUDA_SUCCESS;
}

int cuStreamGetCtx(void *handle, void **owner) {
  STREAM(stream, handle);
  *owner = stream->context;
  return CUDA_SUCCESS;
}

/* Graphs are not captured here. */
int cuStreamIsCapturing(void *handle, int *status) {
  STREAM(stream, handle);
  *status = 0;
  return stream == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

typedef struct {
  void (*function)(void *);
  void *data;
} HostCall;

static void call_host(void *argument) {
  HostCall *call = argument;
  call->function(call->data);
}

int cuLaunchHostFunc(void *handle, void (*function)(void *), void *data) {
  STREAM(stream, handle);
  if (function == NULL) return CUDA_ERROR_INVALID_VALUE;
  HostCall *call = malloc(sizeof *call);
  *call = (HostCall){function, data};
  submit(stream, call_host, call);
  return CUDA_SUCCESS;
}

/* ---- Events -------------------------------------------------------------------------------------- */
typedef struct Event {
  Context *context;
  unsigned flags;
  Moment *recorded;  /* NULL: never, which counts as done */
  struct Event *next;
} Event;

static Event *events;

int cuEventCreate(void **event, unsigned flags) {
  ENTER_CONTEXT(context);
  if (flags > 7) return CUDA_ERROR_INVALID_VALUE;
  Event *created = calloc(1, sizeof *created);
  pthread_mutex_lock(&fake_lock);
  *created = (Event){.context = context, .flags = flags, .next = events};
  events = created;
  fake_live[LIVE_EVENTS]++;
  pthread_mutex_unlock(&fake_lock);
  *event = created;
  return CUDA_SUCCESS;
}

/* The link to an event, under the lock; NULL if it is none. */
static Event **link_to(void *event) {
  for (Event **link = &events; *link != NULL; link = &(*link)->next) {
    if (*link == event) return link;
  }
  return NULL;
}

static bool exists(void *event) {
  pthread_mutex_lock(&fake_lock);
  bool found = link_to(event) != NULL;
  pthread_mutex_unlock(&fake_lock);
  return found;
}

/* What an event has recorded, with a reference for the caller. */
static Moment *recorded(Event *event) {
  pthread_mutex_lock(&fake_lock);
  Moment *moment = event->recorded;
  if (moment != NULL) moment->references++;
  pthread_mutex_unlock(&fake_lock);
  return moment;
}

static void give_back(Moment *moment) {
  pthread_mutex_lock(&fake_lock);
  release_moment(moment);
  pthread_mutex_unlock(&fake_lock);
}

#define EVENT(event, handle)                                  \
  ENTER_CONTEXT(context);                                     \
  if (!exists(handle)) return CUDA_ERROR_INVALID_HANDLE;      \
  Event *event = handle

int cuEventDestroy_v2(void *handle) {
  EVENT(event, handle);
  pthread_mutex_lock(&fake_lock);
  *link_to(event) = event->next;
  release_moment(event->recorded);
  fake_live[LIVE_EVENTS]--;
  pthread_mutex_unlock(&fake_lock);
  free(event);
  return CUDA_SUCCESS;
}

int cuEventRecord(void *handle, void *stream_handle) {
  EVENT(event, handle);
  Stream *stream = stream_of(context, stream_handle);
  if (stream == NULL || stream->context != event->context) return CUDA_ERROR_INVALID_HANDLE;
  Moment *moment = submit_moment(stream);
  pthread_mutex_lock(&fake_lock);
  release_moment(event->recorded);
  event->recorded = moment;
  pthread_mutex_unlock(&fake_lock);
  return CUDA_SUCCESS;
}

int cuEventQuery(void *handle) {
  EVENT(event, handle);
  Moment *moment = recorded(event);
  bool done = moment == NULL || moment->done;
  give_back(moment);
  return done ? context->failed : CUDA_ERROR_NOT_READY;
}

int cuEventSynchronize(void *handle) {
  EVENT(event, handle);
  Moment *moment = recorded(event);
  pthread_mutex_lock(&fake_lock);
  while (moment != NULL && !moment->done) pthread_cond_wait(&fake_changed, &fake_lock);
  release_moment(moment);
  pthread_mutex_unlock(&fake_lock);
  return context->failed;
}

int cuStreamWaitEvent(void *stream_handle, void *handle, unsigned flags) {
  EVENT(event, handle);
  Stream *stream = stream_of(context, stream_handle);
  if (stream == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Moment *moment = recorded(event);
  if (moment != NULL) submit_wait(stream, moment);
  give_back(moment);
  return CUDA_SUCCESS;
}

int cuEventElapsedTime(float *millis, void *start_handle, void *end_handle) {
  EVENT(start, start_handle);
  if (!exists(end_handle)) return CUDA_ERROR_INVALID_HANDLE;
  Event *end = end_handle;
  if (((start->flags | end->flags) & DISABLE_TIMING) != 0) return CUDA_ERROR_INVALID_HANDLE;
  Moment *from = recorded(start), *until = recorded(end);
  int code = CUDA_SUCCESS;
  if (from == NULL || until == NULL) code = CUDA_ERROR_INVALID_HANDLE;
  else if (!from->done || !until->done) code = CUDA_ERROR_NOT_READY;
  else *millis = (float)((until->seconds - from->seconds) * 1e3);
  give_back(from);
  give_back(until);
  return code;
}
