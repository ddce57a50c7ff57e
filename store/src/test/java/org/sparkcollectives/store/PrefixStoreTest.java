package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that a prefix over a store with other keys is a store like any other. */
class PrefixStoreTest extends StoreContractTest {

  private HashStore base;

  @Override
  protected Store create() {
    base = new HashStore();
    base.set("k", new byte[] {1});
    base.set("prefix", new byte[] {2});
    base.set("prefixes/k", new byte[] {3});
    return createOther();
  }

  @Override
  protected Store createOther() {
    return PrefixStore.of("prefix", base);
  }

  @Override
  protected StoreTable table() {
    return base.table();
  }

  @Override
  protected void closeOwner() {
    base.close();
  }

  @Override
  protected void destroy() {}

  @Test
  void aViewOfAStoreThatCannotWatchCannotEither() {
    try (HashStore hash = new HashStore()) {
      Store plain =
          (Store)
              Proxy.newProxyInstance(
                  Store.class.getClassLoader(),
                  new Class<?>[] {Store.class},
                  (proxy, method, arguments) -> method.invoke(hash, arguments));
      Store view = PrefixStore.of("a", plain);
      assertThat(view).isNotInstanceOf(WatchableStore.class);
      assertThat(PrefixStore.of("a", hash)).isInstanceOf(WatchableStore.class);
      plain.set("ab/x", new byte[0]);
      view.set("x", new byte[0]);
      view.withPrefix("b").set("y", new byte[0]);
      assertThat(view.numKeys()).isEqualTo(2);
      assertThat(view.listKeys()).containsExactlyInAnyOrder("x", "b/y");
      assertThat(view.withPrefix("b").listKeys()).isEqualTo(List.of("y"));
    }
  }
}
