package org.sparkcollectives.spark.internal.python;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * The segments that one request uses. None of them is unmapped until this use has ended. Used by
 * one thread, and ended by any.
 */
final class SegmentUse {

  private final List<Segment> used = new ArrayList<>(2);

  /**
   * Adds the request as a user of each of its segments.
   *
   * @throws IllegalArgumentException if there is no such segment; then it uses none
   */
  SegmentUse(Segments segments, Request request) {
    boolean all = false;
    try {
      acquire(segments, request.outputs());
      acquire(segments, request.inputs());
      all = true;
    } finally {
      if (!all) {
        end(true);
      }
    }
  }

  private void acquire(Segments segments, List<Request.TensorPlace> places) {
    for (Request.TensorPlace each : places) {
      if (find(each.segment()) == null) {
        Segment segment = segments.get(each.segment());
        if (!segment.acquire()) {
          throw Segments.missing(each.segment());
        }
        used.add(segment);
      }
    }
  }

  private Segment find(int id) {
    for (Segment each : used) {
      if (each.id() == id) {
        return each;
      }
    }
    return null;
  }

  /** Returns a tensor of one dimension. */
  Tensor tensor(Request.TensorPlace place) {
    return find(place.segment()).tensor(place);
  }

  /** Returns a tensor in the shape that it has in the worker. */
  Tensor shaped(Request.TensorPlace place) {
    Tensor flat = tensor(place);
    return place.shape().size() == 1
        ? flat
        : flat.reshape(place.shape().stream().mapToLong(Long::longValue).toArray());
  }

  List<Tensor> shaped(List<Request.TensorPlace> places) {
    List<Tensor> tensors = new ArrayList<>(places.size());
    for (Request.TensorPlace each : places) {
      tensors.add(shaped(each));
    }
    return tensors;
  }

  /** Returns tensors of one dimension each. */
  List<Tensor> tensors(List<Request.TensorPlace> places) {
    List<Tensor> tensors = new ArrayList<>(places.size());
    for (Request.TensorPlace each : places) {
      tensors.add(tensor(each));
    }
    return tensors;
  }

  /** Ends the use, once. See {@link Segment#end} for {@code well}. */
  void end(boolean well) {
    used.forEach(each -> each.end(well));
  }

  /** Ends the use when all {@code works} have ended. */
  void endWith(List<Work> works) {
    CompletableFuture<?>[] results =
        works.stream().map(Work::result).toArray(CompletableFuture<?>[]::new);
    CompletableFuture.allOf(results)
        .whenComplete((ended, error) -> end(works.stream().allMatch(Work::isSuccess)));
  }
}
