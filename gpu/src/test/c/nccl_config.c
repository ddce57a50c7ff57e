/* ncclConfig_t, read as NCCL reads it. */
#include "nccl.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

static const unsigned MAGIC = 0xcafebeef;

/* What a Java program writes by these offsets. */
_Static_assert(offsetof(Config, magic) == 8 && offsetof(Config, version) == 12, "layout");
_Static_assert(offsetof(Config, blocking) == 16 && offsetof(Config, netName) == 32, "layout");
_Static_assert(offsetof(Config, splitShare) == 40, "layout");
#if NCCL_FAKE_VERSION >= 22700
_Static_assert(offsetof(Config, commName) == 48 && offsetof(Config, collnetEnable) == 56, "layout");
#endif
#if NCCL_FAKE_VERSION >= 22800 && NCCL_FAKE_VERSION < 22900
_Static_assert(offsetof(Config, nvlinkCentricSched) == 76 && sizeof(Config) == 80, "layout");
#endif

static Config undefined(void) {
  Config config;
  memset(&config, 0, sizeof config);
  for (size_t at = offsetof(Config, blocking); at + sizeof(int) <= sizeof config; at += sizeof(int)) {
    int value = INT_MIN;
    memcpy((char *)&config + at, &value, sizeof value);
  }
  config.netName = NULL;
#if NCCL_FAKE_VERSION >= 22700
  config.commName = NULL;
#endif
  return config;
}

static bool is(int value, int least, int most) { return value == INT_MIN || (value >= least && value <= most); }

/* Of a larger one of a newer program it takes the part that it knows; what a smaller one of an
 * older program lacks is undefined. */
bool read_config(const Config *given, Config *config) {
  *config = undefined();
  if (given == NULL) return true;
  size_t size;
  memcpy(&size, given, sizeof size);
  memcpy(config, given, size < sizeof *config ? size : sizeof *config);
  if (config->magic != MAGIC || config->version < 21400) return false;
  if (!is(config->blocking, 0, 1) || !is(config->cgaClusterSize, 0, INT_MAX) || !is(config->splitShare, 0, 1)) return false;
  if (!is(config->minCTAs, 1, INT_MAX) || !is(config->maxCTAs, 1, INT_MAX) || config->minCTAs > config->maxCTAs) return false;
  if (config->netName != NULL && memchr(config->netName, 0, 64) == NULL) return false;
#if NCCL_FAKE_VERSION >= 22700
  if (config->commName != NULL && memchr(config->commName, 0, 64) == NULL) return false;
  if (!is(config->collnetEnable, 0, 1) || !is(config->CTAPolicy, 0, 2)) return false;
  if (!is(config->shrinkShare, 0, 1) || !is(config->nvlsCTAs, 1, INT_MAX)) return false;
#endif
#if NCCL_FAKE_VERSION >= 22800
  if (!is(config->nChannelsPerNetPeer, 1, 64) || !is(config->nvlinkCentricSched, 0, 1)) return false;
#endif
  return true;
}
