import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.BiConsumer;

/** Writes the log of the cluster, and makes watchers of its API server. */
final class Events {

  private Events() {}

  /** Writes a line to the log of the cluster, which the tests read. */
  static void say(String text) {
    System.out.println(Instant.now().truncatedTo(ChronoUnit.MILLIS) + " " + text);
  }

  static <T> Watcher<T> watcher(BiConsumer<Watcher.Action, T> handler) {
    return new Watcher<>() {
      @Override
      public void eventReceived(Action action, T resource) {
        handler.accept(action, resource);
      }

      @Override
      public void onClose(WatcherException cause) {
        say("a watch ended: " + cause);
      }
    };
  }
}
