/* What the files of the fake share: see README.md. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Results of the driver -------------------------------------------------------------------- */
enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
  CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
  CUDA_ERROR_NOT_SUPPORTED = 801,
};

enum { LIVE_DEVICE, LIVE_PINNED, LIVE_STREAMS, LIVE_EVENTS, LIVE_MODULES, LIVE_COMMS, LIVE_CONTEXTS, LIVE_KINDS };

enum { MAX_DEVICES = 16 };

typedef struct Stream Stream;
typedef struct Comm Comm;

/* The primary context of a device; there are no others. */
typedef struct {
  int ordinal;         /* among the visible devices */
  int physical;        /* among those of the machine */
  int retained;
  int failed;          /* the error that the context stays with, or 0 */
  uint64_t allocated;  /* bytes */
  Stream *null_stream;
} Context;

/* One lock and one condition for all state: slow, and easy to believe. */
extern pthread_mutex_t fake_lock;
extern pthread_cond_t fake_changed;
extern long fake_live[LIVE_KINDS];

long environment(const char *name, long otherwise);
/* The code that FAKE_CUDA_FAIL wants of this call of a function, or 0. */
int injected(const char *function);
/* A detached thread to which no signal of the process is delivered. */
void start_thread(void *(*body)(void *), void *argument);

/* What each function of the driver begins with. */
#define ENTER()                                \
  do {                                         \
    int injected_code = injected(__func__);    \
    if (injected_code != 0) return injected_code; \
    if (!driver_ready) return CUDA_ERROR_NOT_INITIALIZED; \
  } while (0)
#define ENTER_CONTEXT(context)                 \
  ENTER();                                     \
  Context *context = current_context();        \
  if (context == NULL) return CUDA_ERROR_INVALID_CONTEXT; \
  if (context->failed != 0) return context->failed

/* ---- Devices and contexts (device.c) ----------------------------------------------------------- */
extern bool driver_ready;
Context *current_context(void);
Context *context_of(int ordinal);
int visible_devices(void);
uint64_t device_bytes(void);

/* ---- Memory (memory.c) -------------------------------------------------------------------------- */
/* Where the host reaches bytes of a device or of pinned memory; NULL if they are not all within one
 * allocation. */
void *reach(uint64_t address, uint64_t bytes);
/* Like reach, but an address outside is the end of the context. */
void *reach_or_fail(Context *context, uint64_t address, uint64_t bytes);

/* ---- Streams (stream.c) ------------------------------------------------------------------------- */
typedef void (*Operation)(void *argument);

/* A point in a stream's queue that others wait for. Counted references, under the lock. */
typedef struct {
  int references;
  bool done;
  double seconds;
} Moment;

struct Stream {
  Context *context;
  unsigned flags;
  int priority;
  uint64_t id;
  struct Item *first, *last;
  uint64_t submitted, completed;
  bool closing;
  Stream *next;
};

/* The stream of a handle: 0, 1 and 2 are default streams. NULL if it is none. */
Stream *stream_of(Context *context, void *handle);
/* Appends an operation; the stream frees the argument after it. */
void submit(Stream *stream, Operation operation, void *argument);
Moment *submit_moment(Stream *stream);
void submit_wait(Stream *stream, Moment *moment);
void release_moment(Moment *moment);
void synchronize(Stream *stream);
void synchronize_context(Context *context);
bool is_idle(Stream *stream);

/* ---- Kernels (kernels.c) ------------------------------------------------------------------------ */
bool run_kernel(Context *context, const char *name, void **parameters);

/* ---- Elements (element.c): the arithmetic of kernels and of NCCL ---------------------------------- */
typedef enum { T_INT8, T_UINT8, T_INT32, T_UINT32, T_INT64, T_UINT64, T_FLOAT16, T_FLOAT32, T_FLOAT64,
  T_BFLOAT16, T_FLOAT8_E4M3, T_FLOAT8_E5M2, T_INT16, T_BOOL, T_COUNT } Type; /* the first 12 as in NCCL */
typedef enum { O_SUM, O_PRODUCT, O_MAX, O_MIN, O_AVG, O_AND, O_OR, O_XOR } Op; /* the first 5 as in NCCL */

size_t type_bytes(Type type);
bool type_is_float(Type type);
double get_float(Type type, const void *array, size_t index);
void set_float(Type type, void *array, size_t index, double value);
/* output[i] = inputs[0][i] op inputs[1][i] ..., avg divided by the divisor. */
void reduce_elements(Type type, Op op, void *output, const void *const *inputs, int input_count,
    size_t count, double divisor);
