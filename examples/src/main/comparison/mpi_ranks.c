/*
 * Measures an operation of MPI as CollectivesBenchmark does. Arguments: operation, seconds for each count, counts. Rank 0 prints a
 * line for each count: the count, the median time, and the processor time of each rank and operation, in microseconds.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FEWEST_ITERATIONS = 5, MOST_ITERATIONS = 1 << 21, LONGEST_BLOCK = 1 << 16 };

static int64_t times[MOST_ITERATIONS + LONGEST_BLOCK];

static int64_t nanos(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int64_t now(void) {
  return nanos(CLOCK_MONOTONIC);
}

static void run(const char *name, int count, float *one, float *each, float *other) {
  if (!strcmp(name, "all-reduce")) {
    MPI_Allreduce(MPI_IN_PLACE, one, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  } else if (!strcmp(name, "broadcast")) {
    MPI_Bcast(one, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
  } else if (!strcmp(name, "all-gather")) {
    MPI_Allgather(one, count, MPI_FLOAT, each, count, MPI_FLOAT, MPI_COMM_WORLD);
  } else if (!strcmp(name, "reduce-scatter")) {
    MPI_Reduce_scatter_block(each, one, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  } else if (!strcmp(name, "all-to-all")) {
    MPI_Alltoall(each, count, MPI_FLOAT, other, count, MPI_FLOAT, MPI_COMM_WORLD);
  } else if (!strcmp(name, "barrier")) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    fprintf(stderr, "no operation %s\n", name);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
}

/* Fills times with those of the slowest rank, and says how many there are. */
static int run_for(double seconds, const char *name, int count, float *one, float *each, float *other) {
  int done = 0, block = 1;
  int64_t elapsed = 0;
  while (done < FEWEST_ITERATIONS || (elapsed < seconds * 1e9 && done < MOST_ITERATIONS)) {
    int64_t last = now();
    for (int i = 0; i < block; i++) {
      run(name, count, one, each, other);
      int64_t end = now();
      times[done + i] = end - last;
      last = end;
    }
    MPI_Allreduce(MPI_IN_PLACE, times + done, block, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < block; i++) {
      elapsed += times[done + i];
    }
    done += block;
    block = 2 * block < LONGEST_BLOCK ? 2 * block : LONGEST_BLOCK;
  }
  return done;
}

static int ascending(const void *one, const void *other) {
  int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
  return (a > b) - (a < b);
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int arg = 3; arg < argc; arg++) {
    int count = atoi(argv[arg]);
    size_t elements = (size_t)count + 1;
    float *one = calloc(elements, sizeof(float));
    float *each = calloc(elements * size, sizeof(float));
    float *other = calloc(elements * size, sizeof(float));
    if (!one || !each || !other) {
      fprintf(stderr, "no memory for %d elements\n", count);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    /* Zeros that were never written would all be one page. */
    memset(one, 0, elements * sizeof(float));
    memset(each, 0, elements * size * sizeof(float));
    memset(other, 0, elements * size * sizeof(float));
    double seconds = atof(argv[2]);
    run_for(seconds / 5, argv[1], count, one, each, other);
    int64_t used = nanos(CLOCK_PROCESS_CPUTIME_ID);
    int iterations = run_for(seconds, argv[1], count, one, each, other);
    used = nanos(CLOCK_PROCESS_CPUTIME_ID) - used;
    MPI_Allreduce(MPI_IN_PLACE, &used, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    qsort(times, iterations, sizeof(int64_t), ascending);
    if (rank == 0) {
      double median = (times[(iterations - 1) / 2] + times[iterations / 2]) / 2e3;
      printf("%d %.3f %.3f\n", count, median, used / 1e3 / size / iterations);
      fflush(stdout);
    }
    free(one);
    free(each);
    free(other);
  }
  MPI_Finalize();
  return 0;
}
