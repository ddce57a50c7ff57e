package org.sparkcollectives.spark.internal.python;

/** The codes of calls that are not operations of a group. */
final class CallCode {

  static final int GOODBYE = 64;
  static final int JOIN = 65;
  static final int NEW_GROUP = 66;
  static final int SPLIT = 67;
  static final int SHRINK = 68;
  static final int CLOSE_GROUP = 69;
  static final int ABORT_GROUP = 70;
  static final int EXTEND_TIMEOUT = 71;
  static final int MONITORED_BARRIER = 72;
  static final int CHECKPOINT = 73;
  static final int RESTORE = 74;
  static final int PROGRESS = 75;
  static final int NEW_LOCAL_GROUP = 76;

  /** Asks on which hosts the ranks of a group are. */
  static final int WHERE = 77;

  static final int DUMP = 78;
  static final int DUMP_ALL_RANKS = 79;

  static final int ALLOCATE = 80;
  static final int WRITE = 81;
  static final int READ = 82;
  static final int CHECK_NUMBERS = 83;

  static final int AWAIT_WORK = 90;

  /** Asks whether a work has ended, and for its end; with the choice, only whether it has. */
  static final int TEST_WORK = 91;

  /** Allocates memory that the workers of the group's other ranks may map, too. */
  static final int ALLOCATE_FOR_RANKS = 92;

  /** Asks whether the group has failed; the reply is then the error of a collective. */
  static final int CHECK_GROUP = 93;

  /** Makes a group whose members are chosen later, and may change. */
  static final int RECONFIGURABLE = 94;

  /**
   * Makes a new group of some members in place of the present one; with the choice, in no order.
   */
  static final int RECONFIGURE = 95;

  /** Begins the replica of a task of an elastic stage. */
  static final int REPLICA = 96;

  /** Begins a step, or asks for the state that the beginning needs. */
  static final int START_QUORUM = 97;

  /**
   * Gives what the beginning of a step has asked for, and goes on with it; with the choice, cannot
   * give it, because the group has failed.
   */
  static final int RESUME_QUORUM = 98;

  /** Ends a step; with the choice, because of an error. */
  static final int SHOULD_COMMIT = 99;

  static final int REPORT = 100;

  /** Brings a piece of a byte string of the next request. */
  static final int BRING = 110;

  /** Asks for the next piece of a byte string of the last reply. */
  static final int FETCH = 111;

  static final int STORE_SET = 128;
  static final int STORE_GET = 129;
  static final int STORE_COMPARE_SET = 130;
  static final int STORE_ADD = 131;
  static final int STORE_APPEND = 132;
  static final int STORE_WAIT = 133;
  static final int STORE_CHECK = 134;
  static final int STORE_DELETE = 135;
  static final int STORE_NUM_KEYS = 136;
  static final int STORE_MULTI_GET = 137;
  static final int STORE_MULTI_SET = 138;
  static final int STORE_LIST_KEYS = 139;
  static final int STORE_QUEUE_PUSH = 140;
  static final int STORE_QUEUE_POP = 141;
  static final int STORE_QUEUE_LENGTH = 142;
  static final int STORE_BARRIER = 143;

  private CallCode() {}
}
