/* Devices, their primary contexts, which one a thread has, and what all other files use. */
#define _GNU_SOURCE
#include "fake.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fake_changed = PTHREAD_COND_INITIALIZER;
long fake_live[LIVE_KINDS];
bool driver_ready;

static Context contexts[MAX_DEVICES];
static int device_count;
static __thread Context *current;
static __thread int capture_mode;

long fakeLive(int what) {
  pthread_mutex_lock(&fake_lock);
  long value = what >= 0 && what < LIVE_KINDS ? fake_live[what] : -1;
  pthread_mutex_unlock(&fake_lock);
  return value;
}

long environment(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text == NULL || *text == 0 ? otherwise : strtol(text, NULL, 10);
}

int injected(const char *function) {
  static struct { char name[64]; int calls; } seen[16];
  const char *text = getenv("FAKE_CUDA_FAIL");
  if (text == NULL) return 0;
  size_t length = strlen(function);
  const char *at = text;
  while (at != NULL && !(strncmp(at, function, length) == 0 && at[length] == '=')) {
    at = strchr(at, ',');
    if (at != NULL) at++;
  }
  if (at == NULL) return 0;
  char *rest;
  int code = (int)strtol(at + length + 1, &rest, 10);
  int from = *rest == '@' ? atoi(rest + 1) : 1;
  int calls = 0;
  pthread_mutex_lock(&fake_lock);
  for (int i = 0; i < 16; i++) {
    if (seen[i].name[0] == 0) snprintf(seen[i].name, sizeof seen[i].name, "%s", function);
    if (strcmp(seen[i].name, function) == 0) {
      calls = ++seen[i].calls;
      break;
    }
  }
  pthread_mutex_unlock(&fake_lock);
  return calls >= from ? code : 0;
}

void start_thread(void *(*body)(void *), void *argument) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, body, argument) != 0) {
    fprintf(stderr, "fake CUDA: no thread to be had\n");
    abort();
  }
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

Context *current_context(void) { return current; }
Context *context_of(int ordinal) {
  return ordinal >= 0 && ordinal < device_count ? &contexts[ordinal] : NULL;
}
int visible_devices(void) { return device_count; }
uint64_t device_bytes(void) { return (uint64_t)environment("FAKE_CUDA_MEMORY", 1L << 30); }

static void uuid_of(int physical, unsigned char *uuid) {
  memset(uuid, 0, 16);
  memcpy(uuid, "FAKE-GPU", 8);
  uuid[15] = (unsigned char)physical;
}

static void uuid_text(int physical, char *text) {
  unsigned char u[16];
  uuid_of(physical, u);
  sprintf(text, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
      u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

static void add_device(int physical) {
  contexts[device_count].ordinal = device_count;
  contexts[device_count].physical = physical;
  device_count++;
}

/* As CUDA does: the list ends at the first entry that names no device. */
static void find_devices(void) {
  int machine = (int)environment("FAKE_CUDA_DEVICES", 1);
  if (machine > MAX_DEVICES) machine = MAX_DEVICES;
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  if (visible == NULL) {
    for (int i = 0; i < machine; i++) add_device(i);
    return;
  }
  char list[1024];
  snprintf(list, sizeof list, "%s", visible);
  char *rest;
  for (char *name = strtok_r(list, ",", &rest); name != NULL && device_count < MAX_DEVICES;
       name = strtok_r(NULL, ",", &rest)) {
    int physical = -1;
    for (int i = 0; i < machine; i++) {
      char text[64];
      uuid_text(i, text);
      char number[16];
      sprintf(number, "%d", i);
      if (strcmp(name, number) == 0 || (strncmp(name, "GPU-", 4) == 0 && strncmp(text, name, strlen(name)) == 0)) {
        physical = i;
      }
    }
    if (physical < 0) return;
    add_device(physical);
  }
}

int cuInit(unsigned flags) {
  int code = injected(__func__);
  if (code != 0) return code;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&fake_lock);
  if (!driver_ready) {
    find_devices();
    driver_ready = device_count > 0;
  }
  pthread_mutex_unlock(&fake_lock);
  return driver_ready ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

int cuDriverGetVersion(int *version) {
  *version = 12060;
  return CUDA_SUCCESS;
}

int cuDeviceGetCount(int *count) {
  ENTER();
  *count = device_count;
  return CUDA_SUCCESS;
}

int cuDeviceGet(int *device, int ordinal) {
  ENTER();
  if (context_of(ordinal) == NULL) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

int cuDeviceGetName(char *name, int length, int device) {
  ENTER();
  if (context_of(device) == NULL) return CUDA_ERROR_INVALID_DEVICE;
  snprintf(name, (size_t)length, "Fake GPU %d", contexts[device].physical);
  return CUDA_SUCCESS;
}

int cuDeviceGetUuid(unsigned char *uuid, int device) {
  ENTER();
  if (context_of(device) == NULL) return CUDA_ERROR_INVALID_DEVICE;
  uuid_of(contexts[device].physical, uuid);
  return CUDA_SUCCESS;
}

int cuDeviceGetUuid_v2(unsigned char *uuid, int device) { return cuDeviceGetUuid(uuid, device); }

int cuDeviceGetPCIBusId(char *id, int length, int device) {
  ENTER();
  if (context_of(device) == NULL) return CUDA_ERROR_INVALID_DEVICE;
  snprintf(id, (size_t)length, "0000:%02X:00.0", 0x10 + contexts[device].physical);
  return CUDA_SUCCESS;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  ENTER();
  if (context_of(device) == NULL) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = device_bytes();
  return CUDA_SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  ENTER();
  if (context_of(device) == NULL) return CUDA_ERROR_INVALID_DEVICE;
  switch (attribute) {
    case 1: *value = 1024; break;                         /* threads of a block */
    case 10: *value = 32; break;                          /* threads of a warp */
    case 16: *value = 4; break;                           /* multiprocessors */
    case 36: *value = 1000000; break;                     /* memory clock, kHz */
    case 37: *value = 256; break;                         /* memory bus, bits */
    case 33: *value = 0x10 + contexts[device].physical; break; /* PCI bus */
    case 19: case 40: case 41: case 78: *value = 1; break; /* maps host memory, copy engines, unified addresses, priorities */
    case 39: *value = 2048; break;                        /* threads of a multiprocessor */
    case 75: *value = 9; break;                           /* compute capability */
    default: *value = 0;
  }
  return CUDA_SUCCESS;
}

int cuDeviceCanAccessPeer(int *can, int device, int peer) {
  ENTER();
  if (context_of(device) == NULL || context_of(peer) == NULL) return CUDA_ERROR_INVALID_DEVICE;
  *can = device != peer;
  return CUDA_SUCCESS;
}

int cuCtxEnablePeerAccess(void *peer, unsigned flags) {
  ENTER();
  return peer == NULL || flags != 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  ENTER();
  if (context_of(device) == NULL) return CUDA_ERROR_INVALID_DEVICE;
  pthread_mutex_lock(&fake_lock);
  if (contexts[device].retained++ == 0) fake_live[LIVE_CONTEXTS]++;
  pthread_mutex_unlock(&fake_lock);
  *context = &contexts[device];
  return CUDA_SUCCESS;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  ENTER();
  if (context_of(device) == NULL) return CUDA_ERROR_INVALID_DEVICE;
  pthread_mutex_lock(&fake_lock);
  int before = contexts[device].retained;
  if (before > 0 && --contexts[device].retained == 0) {
    fake_live[LIVE_CONTEXTS]--;
    contexts[device].failed = 0;
  }
  pthread_mutex_unlock(&fake_lock);
  return before > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
  ENTER();
  if (context_of(device) == NULL) return CUDA_ERROR_INVALID_DEVICE;
  *flags = 0;
  *active = contexts[device].retained > 0;
  return CUDA_SUCCESS;
}

int cuCtxSetCurrent(void *context) {
  ENTER();
  if (context != NULL && (context < (void *)contexts || context >= (void *)(contexts + device_count))) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (context != NULL && ((Context *)context)->retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  current = context;
  return CUDA_SUCCESS;
}

int cuCtxGetCurrent(void **context) {
  ENTER();
  *context = current;
  return CUDA_SUCCESS;
}

int cuCtxGetDevice(int *device) {
  ENTER_CONTEXT(context);
  *device = context->ordinal;
  return CUDA_SUCCESS;
}

int cuCtxSynchronize(void) {
  ENTER_CONTEXT(context);
  synchronize_context(context);
  return context->failed;
}

int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  ENTER_CONTEXT(context);
  if (least != NULL) *least = 0;
  if (greatest != NULL) *greatest = -5;
  return CUDA_SUCCESS;
}

int cuThreadExchangeStreamCaptureMode(int *mode) {
  ENTER();
  if (*mode < 0 || *mode > 2) return CUDA_ERROR_INVALID_VALUE;
  int before = capture_mode;
  capture_mode = *mode;
  *mode = before;
  return CUDA_SUCCESS;
}

static const struct { int code; const char *name, *text; } errors[] = {
  {0, "CUDA_SUCCESS", "no error"},
  {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
  {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
  {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
  {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
  {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
  {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
  {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
  {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
  {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
  {600, "CUDA_ERROR_NOT_READY", "device not ready"},
  {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
  {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "part or all of the requested memory range is already mapped"},
  {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "pointer does not correspond to a registered memory region"},
  {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

static int describe(int code, const char **text, bool name) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    if (errors[i].code == code) {
      *text = name ? errors[i].name : errors[i].text;
      return CUDA_SUCCESS;
    }
  }
  *text = NULL;
  return CUDA_ERROR_INVALID_VALUE;
}

int cuGetErrorName(int code, const char **text) { return describe(code, text, true); }
int cuGetErrorString(int code, const char **text) { return describe(code, text, false); }
