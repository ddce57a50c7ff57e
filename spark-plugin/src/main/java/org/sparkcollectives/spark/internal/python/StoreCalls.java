package org.sparkcollectives.spark.internal.python;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.store.Store;

/** Calls of a group's store. */
final class StoreCalls {

  private StoreCalls() {}

  /**
   * Runs the call. Calls that wait do so for the request's timeout, or else the store's.
   *
   * @param apart has the values that are too large for a frame
   */
  static void answer(Store whole, Request request, LargeBytes apart, Reply reply) {
    Store store = request.timeout() == null ? whole : whole.withTimeout(request.timeout());
    switch (request.call()) {
      case CallCode.STORE_SET ->
          done(reply, () -> store.set(request.nextText(), request.nextBytes(apart)));
      case CallCode.STORE_GET -> bytes(reply, apart, store.get(request.nextText()));
      case CallCode.STORE_COMPARE_SET ->
          bytes(
              reply,
              apart,
              store.compareSet(
                  request.nextText(), request.nextBytes(apart), request.nextBytes(apart)));
      case CallCode.STORE_ADD -> number(reply, store.add(request.nextText(), request.nextLong()));
      case CallCode.STORE_APPEND ->
          done(reply, () -> store.append(request.nextText(), request.nextBytes(apart)));
      case CallCode.STORE_WAIT ->
          done(reply, () -> store.waitFor(request.nextTexts(), store.timeout()));
      case CallCode.STORE_CHECK -> truth(reply, store.check(request.nextTexts()));
      case CallCode.STORE_DELETE -> truth(reply, store.deleteKey(request.nextText()));
      case CallCode.STORE_NUM_KEYS -> number(reply, store.numKeys());
      case CallCode.STORE_MULTI_GET -> {
        List<byte[]> values = store.multiGet(request.nextTexts());
        reply.begin(Reply.DONE).put(values.size());
        values.forEach(each -> apart.put(each, reply));
      }
      case CallCode.STORE_MULTI_SET -> {
        List<String> keys = request.nextTexts();
        List<byte[]> values = new ArrayList<>(keys.size());
        for (int i = 0; i < keys.size(); i++) {
          values.add(request.nextBytes(apart));
        }
        done(reply, () -> store.multiSet(keys, values));
      }
      case CallCode.STORE_LIST_KEYS -> reply.begin(Reply.DONE).putTexts(store.listKeys());
      case CallCode.STORE_QUEUE_PUSH ->
          done(reply, () -> store.queuePush(request.nextText(), request.nextBytes(apart)));
      case CallCode.STORE_QUEUE_POP ->
          bytes(reply, apart, store.queuePop(request.nextText(), request.isChosen()));
      case CallCode.STORE_QUEUE_LENGTH -> number(reply, store.queueLength(request.nextText()));
      case CallCode.STORE_BARRIER ->
          done(reply, () -> store.barrier(request.nextText(), request.nextInt(), store.timeout()));
      default -> throw new IllegalArgumentException("There is no call " + request.call());
    }
  }

  private static void done(Reply reply, Runnable call) {
    call.run();
    reply.begin(Reply.DONE);
  }

  private static void bytes(Reply reply, LargeBytes apart, byte[] value) {
    apart.put(value, reply.begin(Reply.DONE));
  }

  private static void number(Reply reply, long value) {
    reply.begin(Reply.DONE).put(value);
  }

  private static void truth(Reply reply, boolean value) {
    reply.begin(Reply.DONE).put(value);
  }
}
