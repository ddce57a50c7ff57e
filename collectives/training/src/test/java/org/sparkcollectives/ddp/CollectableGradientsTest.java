package org.sparkcollectives.ddp;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.sparkcollectives.CollectableTensorsContract;

/** Tests that no reducer leaves a gradient in its group. */
class CollectableGradientsTest extends CollectableTensorsContract {

  @Override
  protected Map<String, Operation> operations() {
    return Map.of(
        "gradients",
        (group, made) -> {
          List<Parameter> parameters =
              IntStream.range(0, 2).mapToObj(i -> Parameter.of("p" + i, made.one())).toList();
          try (GradientReducer reducer =
              GradientReducer.create(group, parameters, ReducerOptions.defaults())) {
            reducer.beginForward();
            reducer.beginBackward();
            for (int i = 1; i >= 0; i--) {
              made.remembered(reducer.gradient(i));
              reducer.markReady(i);
            }
            reducer.finish();
          }
        });
  }
}
