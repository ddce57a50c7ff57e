package org.sparkcollectives.spark.internal.executor;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.Eventually;

class PerEnvironmentTest {

  private final PerEnvironment<Object, Object> values = new PerEnvironment<>();

  @Test
  void eachEnvironmentHasAValueOfItsOwn() {
    Object first = new Object();
    Object second = new Object();
    assertThat(values.newest()).isNull();
    Object ofFirst = values.get(first, Object::new);
    assertThat(values.get(first, Object::new)).isSameAs(ofFirst).isSameAs(values.newest());
    Object ofSecond = values.get(second, Object::new);
    assertThat(ofSecond).isNotSameAs(ofFirst).isSameAs(values.newest());
  }

  @Test
  void aTaskOfAnEarlierApplicationFindsItsValueAndLeavesTheNewest() {
    Object first = new Object();
    Object second = new Object();
    Object ofFirst = values.get(first, Object::new);
    Object ofSecond = values.get(second, Object::new);
    assertThat(values.get(first, Object::new)).isSameAs(ofFirst);
    assertThat(values.newest()).isSameAs(ofSecond);
    assertThat(values.get(second, Object::new)).isSameAs(ofSecond);
  }

  @Test
  void anEnvironmentThatIsOverIsNotKept() {
    WeakReference<Object> environment = used();
    Eventually.holdsAfterCollection(
        () -> environment.get() == null, () -> "the environment is kept");
    assertThat(values.newest()).isNotNull();
  }

  private WeakReference<Object> used() {
    Object environment = new Object();
    values.get(environment, Object::new);
    return new WeakReference<>(environment);
  }
}
