package org.sparkcollectives.store;

/** What a {@link StoreRequest} asks for, and its code on the wire. */
enum StoreOperation {
  /** Each value under the key at the same place, in one step. */
  SET(0, "set"),
  /**
   * The values of the keys; waits until all exist. Answers with the first of them, and with how
   * many are to follow.
   */
  GET(1, "get"),
  /**
   * Values are the expected and the desired one; answers with one of the three numbers of {@link
   * StoreReply}.
   */
  COMPARE_SET(2, "compareSet"),
  /** Adds the number to the key; answers with the sum. */
  ADD(3, "add"),
  APPEND(4, "append"),
  /** Waits until all keys exist. */
  WAIT(5, "waitFor"),
  /** Answers 1 if all keys exist, else 0. */
  CHECK(6, "check"),
  /** Answers 1 if the key existed, else 0. */
  DELETE(7, "deleteKey"),
  /** The key is a prefix; answers with the number of keys that start with it. */
  COUNT(8, "numKeys"),
  /** The key is a prefix; answers with the keys that start with it, whole. */
  LIST(9, "listKeys"),
  QUEUE_PUSH(10, "queuePush"),
  /** Takes one value; waits for it. */
  QUEUE_POP(11, "queuePop"),
  /** Takes one value if there is one. */
  QUEUE_POLL(12, "queuePop"),
  /** Answers with the number of values. */
  QUEUE_LENGTH(13, "queueLength"),
  /** The number is the world size; waits until that many callers have arrived. */
  BARRIER(14, "barrier"),
  /** The number is the id of an earlier request: its time is over. Nothing if it is unknown. */
  EXPIRE(15, "expire"),
  /** The value is the reference to one that was taken from a queue: its client has it now. */
  RELEASE(16, "release"),
  /** The number is the id of an earlier GET: answers with its next values, as that does. */
  NEXT(17, "get"),
  /** The number is the id of an earlier GET: nobody waits for its next values. */
  FORGET(18, "get");

  private static final StoreOperation[] ALL = values();

  private final int code;
  private final String method;

  StoreOperation(int code, String method) {
    this.code = code;
    this.method = method;
  }

  /** The operation with {@code code}, or null. */
  static StoreOperation of(int code) {
    for (StoreOperation operation : ALL) {
      if (operation.code == code) {
        return operation;
      }
    }
    return null;
  }

  int code() {
    return code;
  }

  /** The method of {@link Store} that it serves, for messages. */
  String method() {
    return method;
  }

  /** Whether the values of its reply have left the table with it. */
  boolean takes() {
    return this == QUEUE_POP || this == QUEUE_POLL;
  }

  boolean waits() {
    return this == GET || this == WAIT || this == QUEUE_POP || this == BARRIER;
  }

  /** Throws unless a request of this kind may have so many keys and values. */
  void checkShape(int keys, int values) {
    boolean fits =
        switch (this) {
          case SET -> values == keys;
          case GET, WAIT, CHECK -> values == 0;
          case COMPARE_SET -> keys == 1 && values == 2;
          case APPEND, QUEUE_PUSH -> keys == 1 && values == 1;
          case ADD, DELETE, COUNT, LIST, QUEUE_POP, QUEUE_POLL, QUEUE_LENGTH, BARRIER ->
              keys == 1 && values == 0;
          case EXPIRE, NEXT, FORGET -> keys == 0 && values == 0;
          case RELEASE -> keys == 0 && values == 1;
        };
    if (!fits) {
      throw new StoreException(method + " request has " + keys + " keys and " + values + " values");
    }
  }
}
