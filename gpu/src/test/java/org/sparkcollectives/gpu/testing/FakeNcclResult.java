package org.sparkcollectives.gpu.testing;

/** The results of NCCL's calls that the fake returns: {@code ncclResult_t}. */
final class FakeNcclResult {

  static final int SUCCESS = 0;
  static final int UNHANDLED_CUDA_ERROR = 1;
  static final int INTERNAL_ERROR = 3;
  static final int INVALID_ARGUMENT = 4;
  static final int INVALID_USAGE = 5;
  static final int REMOTE_ERROR = 6;
  static final int IN_PROGRESS = 7;

  private FakeNcclResult() {}

  /** Returns the meaning of a result. */
  static String text(int result) {
    return result == REMOTE_ERROR ? "remote process exited or there was a network error" : "error";
  }
}
