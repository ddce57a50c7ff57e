import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** The nodes, each with room for some pods, and a boot id in a file of its name. */
final class Nodes {

  private final Path folder;
  private final Map<String, Integer> rooms = new ConcurrentHashMap<>();

  Nodes(Path folder) {
    this.folder = folder;
  }

  void add(int room) throws IOException {
    String name = "node-" + (rooms.size() + 1);
    Files.writeString(bootId(name), UUID.randomUUID() + "\n");
    rooms.put(name, room);
  }

  Path bootId(String node) {
    return folder.resolve(node);
  }

  /** Returns the node with the fewest pods that has room, as Kubernetes spreads pods. */
  Optional<String> withRoom(Collection<RunningPod> pods) {
    return rooms.keySet().stream()
        .filter(node -> used(node, pods) < rooms.get(node))
        .min(
            Comparator.<String>comparingLong(node -> used(node, pods))
                .thenComparing(Comparator.naturalOrder()));
  }

  private static long used(String node, Collection<RunningPod> pods) {
    return pods.stream().filter(each -> each.node.equals(node) && each.takesRoom()).count();
  }
}
