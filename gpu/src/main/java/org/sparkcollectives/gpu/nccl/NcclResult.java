package org.sparkcollectives.gpu.nccl;

/** The results of NCCL's calls: {@code ncclResult_t}. */
final class NcclResult {

  static final int SUCCESS = 0;
  static final int UNHANDLED_CUDA_ERROR = 1;
  static final int SYSTEM_ERROR = 2;
  static final int INTERNAL_ERROR = 3;
  static final int INVALID_ARGUMENT = 4;
  static final int INVALID_USAGE = 5;

  /** A peer, or the connection to it, has failed. */
  static final int REMOTE_ERROR = 6;

  /** The call is not done yet. */
  static final int IN_PROGRESS = 7;

  private NcclResult() {}
}
