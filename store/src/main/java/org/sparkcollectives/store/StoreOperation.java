package org.sparkcollectives.store;

/** The operation of a {@link StoreRequest}, and its code on the wire. */
enum StoreOperation {
  /** Stores each value under the key at the same place, in one step. */
  SET(0, "set"),
  /**
   * Waits until all keys exist. Answers with the first of their values, and with how many are to
   * follow.
   */
  GET(1, "get"),
  /**
   * Takes two values, the expected and the desired one. Answers with one of the three numbers of
   * {@link StoreReply}.
   */
  COMPARE_SET(2, "compareSet"),
  /** Adds the number to the key; answers with the sum. */
  ADD(3, "add"),
  APPEND(4, "append"),
  /** Waits until all keys exist. */
  WAIT(5, "waitFor"),
  /** Answers 1 if all keys exist, else 0. */
  CHECK(6, "check"),
  /** Removes the keys in one step. Answers with the number of those that existed. */
  DELETE(7, "deleteKey"),
  /** Takes a prefix as the key. Answers with the number of keys that start with it. */
  COUNT(8, "numKeys"),
  /**
   * Takes a prefix as the key. Answers with the first of the keys that start with it, including the
   * prefix, and with the number of keys that are to follow.
   */
  LIST(9, "listKeys"),
  QUEUE_PUSH(10, "queuePush"),
  /** Takes a value from a queue; waits for one. */
  QUEUE_POP(11, "queuePop"),
  /** Takes a value from a queue if there is one. */
  QUEUE_POLL(12, "queuePop"),
  /** Answers with the number of values. */
  QUEUE_LENGTH(13, "queueLength"),
  /** Takes the world size as the number. Waits until that many callers have arrived. */
  BARRIER(14, "barrier"),
  /**
   * Takes the id of an earlier request as the number: its time is over. Does nothing if the id is
   * unknown.
   */
  EXPIRE(15, "expire"),
  /**
   * Takes the reference to a value that was taken from a queue as the value: the client has
   * received it.
   */
  RELEASE(16, "release"),
  /** Takes the id of an earlier GET or LIST as the number. Answers with the next part of it. */
  NEXT(17, "get"),
  /** Takes the id of an earlier GET or LIST as the number: nobody waits for its next part. */
  FORGET(18, "get");

  private static final StoreOperation[] ALL = values();

  private final int code;
  private final String method;

  StoreOperation(int code, String method) {
    this.code = code;
    this.method = method;
  }

  /** Returns the operation with {@code code}, or null. */
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

  /** Returns the name of the {@link Store} method that it serves, for messages. */
  String method() {
    return method;
  }

  /** Returns whether the values of its reply leave the table with that reply. */
  boolean takes() {
    return this == QUEUE_POP || this == QUEUE_POLL;
  }

  /** Returns whether its reply comes in as many parts as it needs, all of one moment. */
  boolean answersInParts() {
    return this == GET || this == LIST;
  }

  boolean waits() {
    return this == GET || this == WAIT || this == QUEUE_POP || this == BARRIER;
  }

  /** Throws unless a request of this kind may have so many keys and values. */
  void checkShape(int keys, int values) {
    boolean fits =
        switch (this) {
          case SET -> values == keys;
          case GET, WAIT, CHECK, DELETE -> values == 0;
          case COMPARE_SET -> keys == 1 && values == 2;
          case APPEND, QUEUE_PUSH -> keys == 1 && values == 1;
          case ADD, COUNT, LIST, QUEUE_POP, QUEUE_POLL, QUEUE_LENGTH, BARRIER ->
              keys == 1 && values == 0;
          case EXPIRE, NEXT, FORGET -> keys == 0 && values == 0;
          case RELEASE -> keys == 0 && values == 1;
        };
    if (!fits) {
      throw new StoreException(method + " request has " + keys + " keys and " + values + " values");
    }
  }
}
