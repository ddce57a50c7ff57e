package org.sparkcollectives.gpu.testing;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A call that makes communicators out of one, which each of its ranks has to join. */
final class FakeNcclSplit {

  private final List<Request> requests = new ArrayList<>();

  /** What a rank asks for. */
  record Request(FakeNccl.Member parent, int color, int key, ByteBuffer slot) {}

  /** A rank joins: all that have, if it is the last. */
  synchronized List<Request> add(Request request, int expected) {
    requests.add(request);
    return requests.size() == expected ? List.copyOf(requests) : List.of();
  }

  /** A rank whose communicator was aborted takes no part any more. */
  synchronized void withdraw(Request request) {
    requests.remove(request);
  }

  /** The ranks of a colour, in their new order. */
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
