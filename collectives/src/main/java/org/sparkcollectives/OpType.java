package org.sparkcollectives;

import java.util.Locale;

/** The operations of a group, with the codes of c10d's {@code OpType}. */
public enum OpType {
  /** One rank's tensor to all. */
  BROADCAST(0),
  /** The reduction of all ranks' tensors, to all. */
  ALL_REDUCE(1, "all-reduce"),
  /** Several all-reduces as one. */
  ALL_REDUCE_COALESCED(2, "all-reduce-coalesced"),
  /** The reduction of all ranks' tensors, to one. */
  REDUCE(3),
  /** All ranks' tensors to all, into a list. */
  ALL_GATHER(4, "all-gather"),
  /** All ranks' tensors to all, into one tensor. */
  ALL_GATHER_INTO(5, "all-gather"),
  /** Several all-gathers as one. */
  ALL_GATHER_COALESCED(6, "all-gather-coalesced"),
  /** All ranks' tensors to one. */
  GATHER(7),
  /** One rank's tensors, one to each. */
  SCATTER(8),
  /** The reduction of all ranks' lists, one tensor of it to each. */
  REDUCE_SCATTER(9, "reduce-scatter"),
  /** Each rank's parts, one to each, in one tensor. */
  ALL_TO_ALL_INTO(10, "all-to-all"),
  /** Each rank's tensors, one to each. */
  ALL_TO_ALL(11, "all-to-all"),
  /** A tensor to one peer. */
  SEND(12),
  /** A tensor from one peer. */
  RECV(13),
  /** A tensor from whichever peer sends first. */
  RECV_ANY(14, "recv-any"),
  /** A barrier: nobody leaves before all have come. */
  BARRIER(15),
  /** The reduction of all ranks' tensors, an equal part to each. */
  REDUCE_SCATTER_INTO(16, "reduce-scatter"),
  /** Several operations issued as one. */
  COALESCED(17),
  /** The sum of all ranks' sparse tensors, to all. */
  ALL_REDUCE_SPARSE(18, "all-reduce-sparse"),
  /** Several reduce-scatters as one. */
  REDUCE_SCATTER_COALESCED(19, "reduce-scatter-coalesced"),
  /** The comparison of the ranks' calls at {@link DebugLevel#DETAIL}; not in c10d. */
  FINGERPRINT(99),
  /** None of these. */
  UNKNOWN(100);

  private final int code;
  private final String label;

  OpType(int code) {
    this.code = code;
    this.label = name().toLowerCase(Locale.ROOT);
  }

  OpType(int code, String label) {
    this.code = code;
    this.label = label;
  }

  /** Returns the number that stands for this operation on the wire and in dumps. */
  public int code() {
    return code;
  }

  /** Returns the name that messages use, such as {@code all-reduce}. */
  public String label() {
    return label;
  }

  /** Returns whether this is a message between two ranks. */
  public boolean isPointToPoint() {
    return this == SEND || this == RECV || this == RECV_ANY;
  }

  /** Returns the operation with this code, or {@link #UNKNOWN}. */
  public static OpType ofCode(int code) {
    for (OpType type : values()) {
      if (type.code == code) {
        return type;
      }
    }
    return UNKNOWN;
  }
}
