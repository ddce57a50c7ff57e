package org.sparkcollectives.gpu.testing;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A call that creates communicators from one, which each of its ranks has to join. */
final class FakeNcclSplit {

  private final List<Request> requests = new ArrayList<>();

  /** The request of a rank. */
  record Request(FakeCommunicator parent, int color, int key, ByteBuffer slot) {}

  /** Adds the request of a rank. Returns all requests if it is the last, else none. */
  synchronized List<Request> add(Request request, int expected) {
    requests.add(request);
    return requests.size() == expected ? List.copyOf(requests) : List.of();
  }

  /** Removes a rank whose communicator was aborted: it no longer takes part. */
  synchronized void withdraw(Request request) {
    requests.remove(request);
  }

  /** Returns the ranks of a color, in their new order. */
  synchronized List<Integer> ranksOf(int color) {
    return requests.stream()
        .filter(each -> each.color() == color)
        .sorted(
            Comparator.comparingInt(Request::key)
                .thenComparingInt((Request each) -> each.parent().rank))
        .map(each -> each.parent().rank)
        .toList();
  }
}
